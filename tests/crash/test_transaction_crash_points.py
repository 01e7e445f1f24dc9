"""A transactional broker cut after every disk operation: what clients were told holds, the rest is all or nothing."""

from random import Random

from fencepost.broker.catalogue import INTERNAL_TOPICS
from fencepost.broker.core import BrokerCore, replay
from fencepost.broker.state import dump_checkpoint
from fencepost.journal.journal import Journal, JournalConfig
from fencepost.lab.simulated_disk import CrashModel, SimulatedDisk
from fencepost.partition.visibility import IsolationLevel, aborted_transactions, fetch_limit, last_stable_offset
from fencepost.records.control import read_marker
from fencepost.records.header import read_header
from fencepost.records.reader import read_records
from fencepost.types import OffsetRange
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.crash.explorer import Restarts, crash_seeds
from tests.crash.transaction_workload import (
    INPUT_TOPIC,
    PARTITIONS_PER_TOPIC,
    SEGMENT_BYTES,
    SETTINGS,
    TOPICS,
    Client,
    Outcome,
    Told,
    TransactionWorkload,
    commit,
    open_core,
)
from tests.crash.watched_disk import WatchedDisk

CRASH_POINTS_MIN = 2_000
RESTART_MS = 1_800_000_000_000
ALL_BYTES = 2**40
SEED_COUNTS = {CrashModel.KILLED: 1, CrashModel.POWER_LOST: 2, CrashModel.TORN: 1}
WORKLOAD_SEED = 1
TRANSACTION_COUNT = 37


def test_no_crash_breaks_a_promise_about_a_transaction(crash_points: dict[str, int]) -> None:
    workload = TransactionWorkload(WORKLOAD_SEED, transaction_count=TRANSACTION_COUNT)
    restarts = Restarts()

    def crash(disk: SimulatedDisk, operation_count: int) -> None:
        moment = repr(workload.told)
        for model, seed_count in SEED_COUNTS.items():
            for seed in crash_seeds(operation_count, seed_count):
                found = disk.after_crash(model, seed)
                place = f"after operation {operation_count}, {model}, seed {seed}"
                restarts.check(found, lambda disk: check_restart(disk, workload.told), moment=moment, place=place)

    WatchedDisk(crash).run(workload.run)
    crash_points["transactions"] = restarts.count
    assert restarts.count >= CRASH_POINTS_MIN


def check_restart(disk: SimulatedDisk, told: Told) -> None:
    core = open_core(disk, wall_ms=RESTART_MS)
    commit(core)  # what recovery rolled forward shows when it is synced
    check_offsets_in_order(core)
    committed = {key: read_committed(core, *key) for key in partitions() if core.log(*key) is not None}
    check_transactions(core, told, committed)
    check_plain(told, committed)
    check_identities(core, told)
    check_replay_again(disk, core)


def partitions() -> list[tuple[str, int]]:
    return [(topic, partition) for topic in TOPICS for partition in range(PARTITIONS_PER_TOPIC)]


def read_all(core: BrokerCore, topic: str, partition: int) -> list[bytes]:
    log = core.log(topic, partition)
    assert log is not None
    end_offset = log.state.end_offset
    return core.journal.read(log.partition_ref, 0, end_offset=end_offset, max_bytes=ALL_BYTES)


def check_offsets_in_order(core: BrokerCore) -> None:
    """Every partition is gap-free, and its last stable offset is within bounds."""
    for log in core.state.logs.values():
        expected = 0
        for batch in core.journal.read(log.partition_ref, 0, end_offset=log.state.high_watermark, max_bytes=ALL_BYTES):
            header = read_header(batch)
            assert header.base_offset == expected, f"{log.topic_partition}: offset {expected} is missing"
            expected = header.last_offset + 1
        assert last_stable_offset(log.state) <= log.state.high_watermark <= log.state.end_offset


def read_committed(core: BrokerCore, topic: str, partition: int) -> list[bytes]:
    """What a read_committed consumer is left with: the client's side of the aborted list, as Kafka's clients do it."""
    log = core.log(topic, partition)
    assert log is not None
    limit = fetch_limit(log.state, IsolationLevel.READ_COMMITTED)
    batches = core.journal.read(log.partition_ref, 0, end_offset=limit, max_bytes=ALL_BYTES)
    waiting = sorted(aborted_transactions(log.state, OffsetRange(0, limit)), key=lambda each: each.first_offset)
    aborting: set[int] = set()
    values = []
    for batch in batches:
        header = read_header(batch)
        while waiting and waiting[0].first_offset <= header.last_offset:
            aborting.add(waiting.pop(0).producer_id)
        if header.is_control:
            marker = read_marker(batch)
            if marker is not None and not marker.is_commit:
                aborting.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborting):
            values += [record.value for record in read_records(batch)]
    return values


def check_transactions(core: BrokerCore, told: Told, committed: dict[tuple[str, int], list[bytes]]) -> None:
    newest_offset: dict[str, int] = {}
    for transaction in told.transactions:
        seen = {
            key: [value for value in committed.get(key, []) if value in values]
            for key, values in transaction.values.items()
        }
        is_whole = all(seen[key] == values for key, values in transaction.values.items())
        is_gone = not any(seen.values())
        name = f"transaction {transaction.number} of {transaction.transactional_id} ({transaction.outcome.value})"
        assert is_whole or is_gone, f"{name} is torn: {seen}"
        if transaction.outcome is Outcome.COMMITTED:
            assert is_whole, f"{name} is lost"
        elif transaction.outcome is not Outcome.COMMIT_ASKED:
            assert is_gone, f"{name} can be read"
        if is_whole and not is_gone:
            newest_offset[transaction.transactional_id] = transaction.input_offset
    client = Client(core, connection_id=9, now_ms=lambda: RESTART_MS)
    for transactional_id in told.epochs:
        expected = newest_offset.get(transactional_id, -1)
        found = committed_offset(client, f"group-of-{transactional_id}")
        assert found == expected, f"{transactional_id}: records say offset {expected}, the group says {found}"


def committed_offset(client: Client, group_id: str) -> int:
    group = OffsetFetchRequestGroup(
        group_id, topics=[OffsetFetchRequestTopics(name=INPUT_TOPIC, partition_indexes=[0])]
    )
    answer = client.ask("OffsetFetch", 9, OffsetFetchRequest(groups=[group], require_stable=False))
    return answer.groups[0].topics[0].partitions[0].committed_offset


def check_plain(told: Told, committed: dict[tuple[str, int], list[bytes]]) -> None:
    """Records outside transactions: those acknowledged are there or held back behind an open transaction, in order."""
    for key, values in told.plain_sent.items():
        seen = [value for value in committed.get(key, []) if value.startswith(b"plain:")]
        assert seen == values[: len(seen)], f"{key}: {seen} is not the beginning of {values}"


def check_identities(core: BrokerCore, told: Told) -> None:
    """Whoever takes an id over gets an identity above all that was given out, and nothing stays open behind it."""
    client = Client(core, connection_id=10, now_ms=lambda: RESTART_MS)
    for transactional_id, (producer_id, producer_epoch) in told.epochs.items():
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000)
        answer = client.ask("InitProducerId", 5, request)
        if answer.error_code:
            answer = client.ask("InitProducerId", 5, request)
        assert (answer.producer_id, answer.producer_epoch) > (producer_id, producer_epoch)
    if len(told.epochs) == 3:
        for log in core.state.logs.values():
            assert last_stable_offset(log.state) == log.state.high_watermark, f"{log.topic_partition} hangs"
        for key, values in told.plain.items():
            assert [value for value in read_committed(core, *key) if value.startswith(b"plain:")][
                : len(values)
            ] == values


def check_replay_again(disk: SimulatedDisk, core: BrokerCore) -> None:
    """Folding the journal from scratch gives the state that the broker has: recovery is the live path."""
    commit(core)
    salts = Random(1)
    journal = Journal.open(
        disk.snapshot(), JournalConfig(segment_bytes=SEGMENT_BYTES), salt=lambda: salts.getrandbits(64)
    )
    again = BrokerCore(journal, SETTINGS, random_bytes=salts.randbytes)
    replay(again)
    assert dump_checkpoint(again.state) == dump_checkpoint(core.state)
    assert set(again.state.catalogue.topics) >= INTERNAL_TOPICS
