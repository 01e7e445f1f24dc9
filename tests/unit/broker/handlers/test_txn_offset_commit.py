import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost.wire.messages.end_txn import EndTxnRequest
from fencepost.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from fencepost.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.unit.broker.builders import Broker, versions_of

CLASSIC_VERSIONS = [version for version in versions_of("TxnOffsetCommit") if version < 5]


@pytest.fixture
def shop(broker: Broker) -> tuple[int, int]:
    broker.create_topic("orders", 2)
    return broker.init_producer("shop")


def commit(  # type: ignore[no-untyped-def]
    broker: Broker,
    identity: tuple[int, int],
    *,
    version: int = 5,
    offset: int = 7,
    partition: int = 0,
    group_id: str = "billing",
    topic: str = "orders",
    **member,
) -> int:
    partitions = [TxnOffsetCommitRequestPartition(partition, offset, -1, "")]
    request = TxnOffsetCommitRequest(
        transactional_id="shop",
        group_id=group_id,
        producer_id=identity[0],
        producer_epoch=identity[1],
        topics=[TxnOffsetCommitRequestTopic(topic, partitions)],
        **member,
    )
    (answered,) = broker.ask(request, version).topics
    return int(answered.partitions[0].error_code)


def fetched(broker: Broker, *, require_stable: bool = True) -> tuple[int, int]:
    topics = [OffsetFetchRequestTopic("orders", [0])]
    request = OffsetFetchRequest(group_id="billing", topics=topics, require_stable=require_stable)
    (answer,) = broker.ask(request, 7).topics[0].partitions
    return answer.error_code, answer.committed_offset


def add_offsets(broker: Broker, identity: tuple[int, int], version: int = 4) -> int:
    return int(broker.ask(AddOffsetsToTxnRequest("shop", *identity, "billing"), version).error_code)


@pytest.mark.parametrize("version", versions_of("AddOffsetsToTxn"))
@pytest.mark.parametrize("commit_version", CLASSIC_VERSIONS)
def test_offsets_of_an_added_group_are_pending_until_the_end(
    broker: Broker, shop: tuple[int, int], version: int, commit_version: int
) -> None:
    assert add_offsets(broker, shop, version) == ErrorCode.NONE
    assert commit(broker, shop, version=commit_version) == ErrorCode.NONE
    assert fetched(broker) == (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)
    assert fetched(broker, require_stable=False) == (ErrorCode.NONE, -1)
    broker.ask(EndTxnRequest("shop", *shop, committed=True), 3)
    assert fetched(broker) == (ErrorCode.NONE, 7)


def test_from_v5_the_group_need_not_be_added(broker: Broker, shop: tuple[int, int]) -> None:
    assert commit(broker, shop) == ErrorCode.NONE
    broker.ask(EndTxnRequest("shop", *shop, committed=True), 5)
    assert fetched(broker) == fetched(broker.after_kill()) == (ErrorCode.NONE, 7)


def test_an_abort_drops_them(broker: Broker, shop: tuple[int, int]) -> None:
    commit(broker, shop)
    broker.ask(EndTxnRequest("shop", *shop, committed=False), 5)
    assert fetched(broker) == (ErrorCode.NONE, -1)


def test_pending_offsets_survive_a_kill_and_are_settled_by_the_commit(broker: Broker, shop: tuple[int, int]) -> None:
    commit(broker, shop)
    reopened = broker.after_kill()
    assert fetched(reopened) == (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)
    reopened.ask(EndTxnRequest("shop", *shop, committed=True), 5)
    assert fetched(reopened) == (ErrorCode.NONE, 7)


@pytest.mark.parametrize("version", CLASSIC_VERSIONS)
def test_a_group_that_was_not_added_is_refused_up_to_v4(broker: Broker, shop: tuple[int, int], version: int) -> None:
    expected = ErrorCode.INVALID_TXN_STATE if version <= 3 else ErrorCode.TRANSACTION_ABORTABLE
    assert commit(broker, shop, version=version) == expected


@pytest.mark.parametrize("version", versions_of("TxnOffsetCommit"))
def test_partitions_that_do_not_exist_are_refused_one_by_one(
    broker: Broker, shop: tuple[int, int], version: int
) -> None:
    assert commit(broker, shop, version=version, partition=9) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(broker, shop, version=version, topic="nowhere") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_an_empty_group_id_is_refused(broker: Broker, shop: tuple[int, int]) -> None:
    assert commit(broker, shop, group_id="") == ErrorCode.INVALID_GROUP_ID


def test_another_epoch_is_refused(broker: Broker, shop: tuple[int, int]) -> None:
    assert commit(broker, (shop[0], shop[1] + 3)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_member_that_the_group_does_not_have_is_refused(broker: Broker, shop: tuple[int, int]) -> None:
    assert commit(broker, shop, generation_id=3, member_id="ghost") == ErrorCode.ILLEGAL_GENERATION
    assert fetched(broker) == (ErrorCode.NONE, -1)


@pytest.mark.parametrize("version", versions_of("AddOffsetsToTxn"))
def test_adding_offsets_needs_a_known_owner(broker: Broker, shop: tuple[int, int], version: int) -> None:
    request = AddOffsetsToTxnRequest("nobody", *shop, "billing")
    assert broker.ask(request, version).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert add_offsets(broker, (shop[0], shop[1] + 1), version) == fenced
