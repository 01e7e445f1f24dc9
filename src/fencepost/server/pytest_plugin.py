"""A broker for tests: `def test_my_service(fencepost_broker): ... fencepost_broker.bootstrap_servers`.

Loaded by pytest wherever fencepost is installed. Each test gets a broker of its own, with an empty temporary folder.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fencepost.server.embedded import EmbeddedBroker


@pytest.fixture
def fencepost_broker() -> Iterator["EmbeddedBroker"]:
    """A running broker on a free loopback port."""
    from fencepost.server.embedded import EmbeddedBroker

    with EmbeddedBroker() as broker:
        yield broker
