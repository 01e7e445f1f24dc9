import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.unit.broker.builders import HOST, PORT, Broker, versions_of

GROUP, TRANSACTION, SHARE = 0, 1, 2


@pytest.mark.parametrize("version", [version for version in versions_of("FindCoordinator") if version < 4])
def test_this_broker_coordinates_every_key(broker: Broker, version: int) -> None:
    key_type = TRANSACTION if version else GROUP
    found = broker.ask(FindCoordinatorRequest(key="shop", key_type=key_type), version)
    assert (found.error_code, found.node_id, found.host, found.port) == (ErrorCode.NONE, 1, HOST, PORT)


@pytest.mark.parametrize("version", [version for version in versions_of("FindCoordinator") if version >= 4])
def test_several_keys_are_found_in_one_answer(broker: Broker, version: int) -> None:
    request = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=["shop", "bank"])
    found = broker.ask(request, version).coordinators
    assert [(each.key, each.error_code, each.node_id) for each in found] == [("shop", 0, 1), ("bank", 0, 1)]


@pytest.mark.parametrize("key_type", [SHARE, 9])
def test_a_key_type_that_is_not_served_is_refused(broker: Broker, key_type: int) -> None:
    (found,) = broker.ask(FindCoordinatorRequest(key_type=key_type, coordinator_keys=["x"]), 6).coordinators
    assert (found.error_code, found.node_id) == (ErrorCode.INVALID_REQUEST, -1)
    assert broker.ask(FindCoordinatorRequest(key="x", key_type=key_type), 3).error_code == ErrorCode.INVALID_REQUEST
