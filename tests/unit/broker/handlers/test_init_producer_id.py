import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest
from tests.unit.broker.builders import Broker, versions_of


def init(
    broker: Broker, transactional_id: str | None = "shop", version: int = 5, timeout_ms: int = 60_000, **more: int
):  # type: ignore[no-untyped-def]
    return broker.ask(InitProducerIdRequest(transactional_id, timeout_ms, **more), version)


@pytest.mark.parametrize("version", versions_of("InitProducerId"))
def test_a_producer_without_a_transactional_id_gets_an_id_that_nobody_had(broker: Broker, version: int) -> None:
    first, second = init(broker, None, version), init(broker, None, version)
    assert (first.error_code, first.producer_epoch) == (ErrorCode.NONE, 0)
    assert first.producer_id != second.producer_id


@pytest.mark.parametrize("version", versions_of("InitProducerId"))
def test_the_same_transactional_id_gets_the_same_producer_id_and_the_next_epoch(broker: Broker, version: int) -> None:
    first, second = init(broker, "shop", version), init(broker, "shop", version)
    assert second.producer_id == first.producer_id
    assert (first.producer_epoch, second.producer_epoch) == (0, 1)


def test_producer_ids_are_never_given_again_after_a_crash(broker: Broker) -> None:
    given = {init(broker, None).producer_id for _ in range(3)}
    assert init(broker.after_kill(), None).producer_id not in given


@pytest.mark.parametrize(
    ("version", "error_code"), [(3, ErrorCode.INVALID_PRODUCER_EPOCH), (4, ErrorCode.PRODUCER_FENCED)]
)
def test_a_fenced_producer_cannot_come_back_with_its_old_identity(
    broker: Broker, version: int, error_code: ErrorCode
) -> None:
    old = init(broker)
    for _ in range(3):
        init(broker)
    reply = init(broker, version=version, producer_id=old.producer_id, producer_epoch=old.producer_epoch)
    assert reply.error_code == error_code
