import pytest

from tests.unit.groups.coordinator import Coordinator


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()
