"""Small parts of the producer: serializers, futures, metadata, verdicts, versions."""

import math
import subprocess
import sys

import pytest

from fencepost.client.error_table import error_of
from fencepost.client.exceptions import ClientError, Timeout, UnsupportedVersion
from fencepost.client.net.connection import ApiVersions
from fencepost.client.net.metadata import ClusterMetadata
from fencepost.client.producer.delivery import Delivery, RecordFuture, TableFuture
from fencepost.client.producer.numbering import IdempotentNumbering, Numbering
from fencepost.client.producer.outbox import Outbox
from fencepost.client.producer.produce_request import BatchAnswer
from fencepost.client.producer.settlement import Settlement
from fencepost.client.serializers import (
    SerializationError,
    deserialize_integer,
    deserialize_long,
    deserialize_string,
    serialize_bytes,
    serialize_integer,
    serialize_long,
    serialize_string,
)
from fencepost.client.settings import ProducerSettings
from fencepost.client.time_limits import Deadline
from fencepost.client.values import OffsetAndMetadata, RecordMetadata, normalized_offsets
from fencepost.errors import ErrorCode
from fencepost.records.record import Record
from fencepost.types import TopicPartition
from fencepost.wire.messages.api_versions import ApiVersion, ApiVersionsResponse, FinalizedFeatureKey
from fencepost.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

WHERE = TopicPartition("t", 0)


def test_serializers_write_what_kafkas_own_write() -> None:
    assert serialize_string("ä") == b"\xc3\xa4"
    assert serialize_integer(-2) == b"\xff\xff\xff\xfe"
    assert serialize_long(1) == bytes(7) + b"\x01"
    assert serialize_bytes(memoryview(b"a")) == b"a"
    assert [write(None) for write in (serialize_string, serialize_integer, serialize_long, serialize_bytes)] == [
        None
    ] * 4


@pytest.mark.parametrize("number", [0, 1, -1, 2**31 - 1, -(2**31)])
def test_integers_come_back(number: int) -> None:
    assert deserialize_integer(serialize_integer(number)) == number
    assert deserialize_long(serialize_long(number)) == number


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: serialize_integer(2**31),
        lambda: serialize_integer("1"),  # type: ignore[arg-type]
        lambda: deserialize_integer(b"123"),
        lambda: deserialize_long(b"1234"),
        lambda: deserialize_string(b"\xff"),
        lambda: serialize_string(b"a"),  # type: ignore[arg-type]
        lambda: serialize_bytes("a"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_written_or_read_is_an_error(attempt: object) -> None:
    with pytest.raises(SerializationError):
        attempt()  # type: ignore[operator]


def test_futures_of_a_batch_know_their_own_offsets() -> None:
    delivery = Delivery(WHERE)
    future = RecordFuture(delivery, 2, 99)
    heard: list[RecordMetadata] = []
    future.add_done_callback(lambda done: heard.append(done.result()))
    assert not future.done()
    with pytest.raises(Timeout):
        future.result(0)
    delivery.succeed(40)
    future.add_done_callback(lambda done: heard.append(done.result()))
    assert heard == [RecordMetadata("t", 0, 42, 99)] * 2


def test_the_brokers_time_counts_where_it_stamps_records() -> None:
    delivery = Delivery(WHERE)
    delivery.succeed(0, 1234)
    assert RecordFuture(delivery, 0, 99).result().timestamp_ms == 1234


def test_a_table_has_failed_if_one_of_its_batches_has() -> None:
    good, bad = Delivery(WHERE), Delivery(WHERE)
    future = TableFuture([good, bad], 10)
    good.succeed(0)
    assert not future.done()
    bad.fail(ClientError("no"))
    with pytest.raises(ClientError, match="no"):
        future.result(0)


def answered(leader_id: int, leader_epoch: int) -> MetadataResponse:
    partition = MetadataResponsePartition(partition_index=0, leader_id=leader_id, leader_epoch=leader_epoch)
    brokers = [MetadataResponseBroker(node_id=node, host=f"h{node}", port=node) for node in (1, 2)]
    return MetadataResponse(brokers=brokers, topics=[MetadataResponseTopic(name="t", partitions=[partition])])


def test_a_broker_that_lags_behind_does_not_bring_a_deposed_leader_back() -> None:
    metadata = ClusterMetadata().updated(answered(2, leader_epoch=5), asked=["t"])
    metadata = metadata.updated(answered(1, leader_epoch=4), asked=["t"])
    leader = metadata.leader(WHERE)
    assert leader is not None
    assert leader.node_id == 2
    assert metadata.leader(TopicPartition("t", 9)) is None
    assert metadata.leader(TopicPartition("u", 0)) is None


def test_versions_are_the_highest_that_both_sides_speak() -> None:
    versions = ApiVersions(
        ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=0, min_version=3, max_version=99),
                ApiVersion(22, 0, 6),
                ApiVersion(3, 90, 99),
            ],
            finalized_features=[FinalizedFeatureKey("transaction.version", 2, 2)],
        ),
        "host:1",
    )
    assert versions.choose(0) == 13
    assert versions.choose(0, at_most=11) == 11
    assert versions.choose(22) == 5, "the sixth is not stable"
    assert versions.features == {"transaction.version": 2}
    for key, bounds in ((3, {}), (26, {}), (0, {"at_least": 14}), (0, {"at_most": 2})):
        with pytest.raises(UnsupportedVersion, match="host:1"):
            versions.choose(key, **bounds)


class Idempotent(Numbering):
    is_numbered = True
    can_restart = True


class Ended(Idempotent):
    may_retry = False


class Transactional(Idempotent):
    can_restart = False


def fate(code: ErrorCode, numbering: Numbering, *, created_at_s: float = math.inf, retries: int = 5) -> str:
    """What becomes of a batch that was sent once and is answered with this code; its memory is free once it is done."""
    settings = ProducerSettings(retries=retries, enable_idempotence=False)
    outbox = Outbox(settings, is_numbered=numbering.is_numbered)
    outbox.put(WHERE, Record(value=b"v", timestamp_ms=0), 100, Deadline(None), lambda: None)
    (batch,), queue = outbox.accumulator.incomplete, outbox.accumulator.queue(WHERE)
    batch.created_at_s = created_at_s
    queue.take(batch)
    Settlement(outbox, numbering, settings).settle([BatchAnswer(batch, code, None)])
    assert batch.delivery.is_done is (outbox.accumulator.used_bytes == 0)
    if batch.delivery.is_done:
        return "stored" if batch.delivery.error is None else "failed"
    return "renumbered" if batch.is_refused else "again"


def test_an_answer_decides_the_fate_of_its_batch() -> None:
    idempotent = Idempotent()
    assert fate(ErrorCode.NONE, idempotent) == "stored"
    assert fate(ErrorCode.DUPLICATE_SEQUENCE_NUMBER, idempotent) == "stored"
    assert fate(ErrorCode.NOT_LEADER_OR_FOLLOWER, idempotent) == "again"
    assert fate(ErrorCode.MESSAGE_TOO_LARGE, idempotent) == "failed"
    assert fate(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, idempotent) == "renumbered"
    assert fate(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, Transactional()) == "failed"
    assert fate(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, Numbering()) == "failed"
    for code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER):
        assert fate(code, Ended()) == "failed"
        assert fate(code, idempotent, created_at_s=-math.inf) == "failed", "its time is up"
        assert fate(code, idempotent, retries=0) == "failed"


def test_what_waits_is_given_up_for_a_problem_that_was_there_while_nothing_could_be_put_in() -> None:
    """Otherwise the transaction could end meanwhile, and a record of the next one be given up."""
    outbox = Outbox(ProducerSettings(), is_numbered=True)

    class InTrouble(Idempotent):
        @property
        def problem(self) -> ClientError | None:
            return ClientError("locked" if outbox.lock.locked() else "not locked")

    future = outbox.put(WHERE, Record(value=b"v", timestamp_ms=0), 100, Deadline(None), lambda: None)
    Settlement(outbox, InTrouble(), ProducerSettings()).drop_what_cannot_go(0.0)
    assert str(future.exception(0)) == "locked"


def test_offsets_may_be_given_in_any_shape() -> None:
    expected = {WHERE: OffsetAndMetadata(5)}
    assert normalized_offsets({("t", 0): 5}) == normalized_offsets({WHERE: OffsetAndMetadata(5)}) == expected


def test_the_producer_loads_nothing_heavy() -> None:
    script = "import sys; from fencepost.client import Admin, Producer; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert not {"pyarrow", "numpy", "numba", "fencepost.broker", "fencepost.server", "asyncio"} & set(loaded)


@pytest.mark.parametrize(("api_name", "is_final"), [("SaslAuthenticate", False), ("InitProducerId", True)])
def test_only_a_refused_producer_id_ends_an_idempotent_producer(api_name: str, is_final: bool) -> None:
    """A broker that does not know a new user yet refuses the connection; the next broker may take it."""
    problem = error_of(ErrorCode.SASL_AUTHENTICATION_FAILED, api_name)

    class Refusing:
        def call_any(self, *_: object) -> object:
            raise problem

    numbering = IdempotentNumbering(Refusing())  # type: ignore[arg-type]
    with pytest.raises(type(problem)):
        numbering.prepare([WHERE], 1)
    assert (numbering.problem is problem) is is_final
