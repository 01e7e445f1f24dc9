import pytest

from tests.unit.broker.builders import Broker


@pytest.fixture
def broker() -> Broker:
    """An empty broker whose groups do not wait for more members."""
    return Broker(group_initial_rebalance_delay_ms="0")
