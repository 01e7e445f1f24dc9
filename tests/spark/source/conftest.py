from collections.abc import Iterator

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.spark.source.broker_use import QUICK
from tests.spark.source.query import close_all


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(settings=QUICK) as broker:
        yield broker
        close_all()
