"""`fencepost txn blockers` and `fencepost txn abort`: who holds readers back, and how to end it.

A partition whose last stable offset is below its end has a transaction open. The partition knows the producer; the
coordinator knows the id behind it, since when and until when. One that only the partition knows is *hanging*: no
timeout will end it.
"""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import click

from fencepost.cli.arguments import (
    TOPIC_PARTITION,
    complete_topics,
    complete_transactional_ids,
    format_duration,
    format_moment,
    iso_moment,
    now_ms,
)
from fencepost.cli.failures import FOUND, Failure
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.cli.output import (
    confirm,
    counted,
    fitted,
    json_option,
    print_json,
    print_table,
    say,
    yes_option,
)
from fencepost.cli.txn_describe import existing, last_client, read_history
from fencepost.client.admin.admin import Admin
from fencepost.client.admin.inspecting import Outcome, inspect_batches
from fencepost.client.admin.transactions import TransactionDescription
from fencepost.client.exceptions import Authorization, UnstableOffsetCommit
from fencepost.client.time_limits import Deadline
from fencepost.client.values import ProducerIdentity
from fencepost.java_hash import partition_for
from fencepost.types import OffsetRange, TopicPartition

OFFSETS_TOPIC = "__consumer_offsets"
PATIENCE_S = 60.0
ENDED = ("Empty", "CompleteCommit", "CompleteAbort", "Dead")


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    topic_partition: TopicPartition
    first_offset: int
    last_stable_offset: int
    end_offset: int
    identity: ProducerIdentity
    coordinator_epoch: int
    last_timestamp_ms: int
    described: TransactionDescription | None
    client: str | None

    @property
    def is_hanging(self) -> bool:
        return self.described is None or self.described.state in ENDED

    @property
    def since_ms(self) -> int:
        if self.described is not None and not self.is_hanging and self.described.start_time_ms >= 0:
            return self.described.start_time_ms
        return self.last_timestamp_ms

    @property
    def until_ms(self) -> int | None:
        """When the coordinator aborts it; None: never."""
        if self.described is None or self.is_hanging or self.described.timeout_ms == 2**31 - 1:
            return None
        return self.since_ms + self.described.timeout_ms


def find_open_transactions(admin: Admin, partitions: Iterable[TopicPartition]) -> list[OpenTransaction]:
    """All of the given partitions, those that readers meet first before the others of each partition."""
    wanted = sorted(partitions)
    stable = admin.latest_offsets(wanted, read_committed=True)
    ends = admin.latest_offsets(wanted)
    found = []
    owner_of = functools.cache(functools.partial(find_owner, admin))
    for topic_partition in wanted:
        if stable[topic_partition] >= ends[topic_partition]:
            continue
        producers = [row for row in admin.describe_producers(topic_partition) if row.current_txn_start_offset >= 0]
        for row in sorted(producers, key=lambda row: row.current_txn_start_offset):
            described, client = owner_of(row.producer_id)
            found.append(
                OpenTransaction(
                    topic_partition=topic_partition,
                    first_offset=row.current_txn_start_offset,
                    last_stable_offset=stable[topic_partition],
                    end_offset=ends[topic_partition],
                    identity=ProducerIdentity(row.producer_id, row.producer_epoch),
                    coordinator_epoch=row.coordinator_epoch,
                    last_timestamp_ms=row.last_timestamp,
                    described=described,
                    client=client,
                )
            )
    return found


def find_owner(admin: Admin, producer_id: int) -> tuple[TransactionDescription | None, str | None]:
    """The transactional id behind a producer id, and its client."""
    listed = admin.list_transactions(producer_ids=[producer_id])
    if not listed:
        return None, None
    transactional_id = listed[0].transactional_id
    described = admin.describe_transaction(transactional_id)
    try:
        client = last_client(read_history(admin, transactional_id, deadline=Deadline(PATIENCE_S)))
    except Authorization:
        client = None
    return described, client


def waiting_groups(admin: Admin, found: Iterable[OpenTransaction]) -> dict[TopicPartition, dict[str, bool]]:
    """Groups with an offset on each blocked partition, and whether they have read all that they may. On a partition of
    the offsets themselves: groups whose offsets are pending, which wait when they start."""
    stable = {each.topic_partition: each.last_stable_offset for each in found}
    groups: dict[TopicPartition, dict[str, bool]] = {each: {} for each in stable}
    # Kafka makes this topic for the first group; without it there are none to list.
    offsets_topic = admin.describe_topics().get(OFFSETS_TOPIC) if stable else None
    if offsets_topic is None:
        return groups
    for group in admin.list_groups():
        for topic_partition, committed in admin.group_offsets(group.group_id).items():
            if topic_partition in stable:
                groups[topic_partition][group.group_id] = committed.offset >= stable[topic_partition]
        home = TopicPartition(OFFSETS_TOPIC, partition_for(group.group_id, offsets_topic.partition_count))
        if home in groups and has_pending_offsets(admin, group.group_id):
            groups[home][group.group_id] = True
    return groups


def has_pending_offsets(admin: Admin, group_id: str) -> bool:
    """Whether an open transaction carries offsets of this group."""
    try:
        admin.group_offsets(group_id, require_stable=True)
    except UnstableOffsetCommit:
        return True
    return False


NOT_FOR_READERS = "__transaction_state"
HANGING = len("  held by  ")


@click.command("blockers")
@click.option("--topic", "topics", multiple=True, shell_complete=complete_topics, help="Only these; may be repeated.")
@click.option("--check", is_flag=True, help="Exit with 4 if anything is held back.")
@json_option
@connection_options
@click.pass_context
def blockers(
    ctx: click.Context, topics: tuple[str, ...], check: bool, as_json: bool, connection: ClusterAccess
) -> None:
    """Say who holds readers back: an open transaction hides everything behind its first record, others' records too.

    A transaction that the coordinator does not know is hanging: no timeout ends it, `fencepost txn abort` does. The
    client's name comes from the transaction log of a Fencepost broker; Kafka's does not have it.

    \b
    Examples:
      fencepost txn blockers
      fencepost txn blockers --topic purchases --json
    """
    with connection.admin() as admin:
        found = find_open_transactions(admin, partitions_to_look_at(admin, topics))
        groups = waiting_groups(admin, found)
    if as_json:
        print_json([as_document(each, groups[each.topic_partition]) for each in found])
    elif not found:
        click.echo("Nobody is held back: no partition has an open transaction.")
    for each in found if not as_json else ():
        click.echo("\n".join(in_words(each, groups[each.topic_partition], now_ms())) + "\n")
    if check and found:
        ctx.exit(FOUND)


def partitions_to_look_at(admin: Admin, topics: tuple[str, ...]) -> list[TopicPartition]:
    described = admin.describe_topics(topics or None)
    return [
        TopicPartition(topic.name, index)
        for topic in described.values()
        if topic.name != NOT_FOR_READERS
        for index in topic.available_partitions
    ]


def in_words(each: OpenTransaction, groups: Mapping[str, bool], at_ms: int) -> list[str]:
    is_first = each.first_offset <= each.last_stable_offset
    lines = [
        title(each, is_first=is_first),
        f"  held by  {holder(each)}",
        f"  client   {each.client or 'not known'}",
        f"  since    {format_moment(each.since_ms)} ({format_duration(max(0, at_ms - each.since_ms))} ago)",
        f"  until    {end_in_words(each, at_ms)}",
    ]
    if is_first:
        lines.append(f"  groups   {groups_in_words(groups)}")
    # A command is to be copied: it stays one line.
    return [*(fitted(line, indent=HANGING) for line in lines), f"  end it   {how_to_end(each)}"]


def title(each: OpenTransaction, *, is_first: bool) -> str:
    if each.topic_partition.topic == OFFSETS_TOPIC:
        return f"{each.topic_partition}: offsets of groups are pending since offset {each.first_offset}"
    if not is_first:
        return f"{each.topic_partition}: and next at offset {each.first_offset}"
    hidden = counted(each.end_offset - each.last_stable_offset, "offset")
    return f"{each.topic_partition}: readers wait at offset {each.last_stable_offset}; {hidden} hidden behind it"


def holder(each: OpenTransaction) -> str:
    if each.described is None:
        return f"{each.identity}; no transactional id is known for it"
    return f"{each.described.transactional_id} ({each.identity}), {each.described.state}"


def end_in_words(each: OpenTransaction, at_ms: int) -> str:
    if each.is_hanging:
        return "for ever: it hangs, the coordinator has no such transaction"
    if each.until_ms is None:
        return "its owner ends it: it has no timeout (two-phase commit)"
    if each.until_ms <= at_ms:
        return f"any moment: its timeout was at {format_moment(each.until_ms)}"
    left = format_duration(each.until_ms - at_ms)
    return f"{format_moment(each.until_ms)} (in {left}), when the coordinator aborts it"


def groups_in_words(groups: Mapping[str, bool]) -> str:
    waiting = [name for name, waits in sorted(groups.items()) if waits]
    before = [name for name, waits in sorted(groups.items()) if not waits]
    parts = []
    if waiting:
        parts.append(f"{', '.join(waiting)} {'waits' if len(waiting) == 1 else 'wait'}")
    if before:
        parts.append(f"{', '.join(before)} {'is' if len(before) == 1 else 'are'} still before it")
    return "; ".join(parts) or "none has committed an offset here"


def how_to_end(each: OpenTransaction) -> str:
    if each.described is not None and not each.is_hanging:
        return f"fencepost txn abort {each.described.transactional_id}"
    return f"fencepost txn abort --partition {each.topic_partition} --producer-id {each.identity.producer_id}"


def as_document(each: OpenTransaction, groups: Mapping[str, bool]) -> dict[str, object]:
    described = each.described
    return {
        "topic": each.topic_partition.topic,
        "partition": each.topic_partition.partition,
        "first_offset": each.first_offset,
        "last_stable_offset": each.last_stable_offset,
        "end_offset": each.end_offset,
        **each.identity._asdict(),
        "transactional_id": described and described.transactional_id,
        "state": described and described.state,
        "client": each.client,
        "is_hanging": each.is_hanging,
        "since_ms": each.since_ms,
        "since": iso_moment(each.since_ms),
        "until_ms": each.until_ms,
        "groups_waiting": sorted(name for name, waits in groups.items() if waits),
        "groups_before": sorted(name for name, waits in groups.items() if not waits),
    }


# `fencepost txn abort`: end an open transaction, with what would be lost shown first.
#
# By its transactional id: the coordinator is asked for the next identity of the id, which aborts what is open and
# fences its owner. A hanging transaction has no coordinator: its partition gets the marker directly.


LOST_COLUMNS = {"PARTITION": "partition", "SINCE OFFSET": "first_offset", "RECORDS LOST": "records"}


@click.command("abort")
@click.argument("transactional_id", required=False, shell_complete=complete_transactional_ids)
@click.option("--partition", "topic_partition", type=TOPIC_PARTITION, help="The partition of a hanging transaction.")
@click.option("--producer-id", type=click.IntRange(min=0), help="Whose it is.")
@yes_option
@json_option
@connection_options
def abort_command(
    transactional_id: str | None,
    topic_partition: TopicPartition | None,
    producer_id: int | None,
    is_sure: bool,
    as_json: bool,
    connection: ClusterAccess,
) -> None:
    """Abort the open transaction of an id, or one that hangs on a partition. Shows what would be lost, and asks.

    Its owner is fenced: the next call of that producer fails, and it must start anew. Records are not removed; readers
    with read_committed pass over them.

    \b
    Examples:
      fencepost txn abort shop-0
      fencepost txn abort shop-0 --yes
    """
    is_by_id = transactional_id is not None
    if is_by_id != (topic_partition is None) or is_by_id != (producer_id is None):
        raise click.UsageError("give a TRANSACTIONAL_ID, or --partition and --producer-id for one that hangs")
    with connection.admin() as admin:
        if transactional_id is not None:
            found = of_id(admin, transactional_id)
        else:
            assert topic_partition is not None
            assert producer_id is not None
            found = hanging(admin, topic_partition, producer_id)
        lost = [
            {
                "partition": str(each.topic_partition),
                "first_offset": each.first_offset,
                "records": count_lost(admin, each),
            }
            for each in found
        ]
        if not as_json:
            print_table(LOST_COLUMNS, lost, empty="It has written nothing yet.")
        owner = holder(found[0]) if found else transactional_id
        is_done = confirm(f"Abort the transaction of {owner}?", is_sure=is_sure)
        if is_done:
            abort(admin, transactional_id, found)
    if as_json:
        print_json({"transactional_id": transactional_id, "is_done": is_done, "lost": lost})
    elif is_done:
        say(f"aborted the transaction of {owner}")


def of_id(admin: Admin, transactional_id: str) -> list[OpenTransaction]:
    described = existing(admin, transactional_id)
    if described.state in ENDED:
        raise Failure(f"'{transactional_id}' has no open transaction: it is {described.state}")
    found = find_open_transactions(admin, described.partitions)
    return [each for each in found if each.identity.producer_id == described.identity.producer_id]


def hanging(admin: Admin, topic_partition: TopicPartition, producer_id: int) -> list[OpenTransaction]:
    is_open = find_open_transactions(admin, [topic_partition])
    found = [each for each in is_open if each.identity.producer_id == producer_id]
    if not found:
        raise Failure(f"producer id {producer_id} has no open transaction on {topic_partition}")
    if not found[0].is_hanging and found[0].described is not None:
        raise Failure(
            f"the coordinator knows this one: end all of it with `fencepost txn abort "
            f"{found[0].described.transactional_id}`; a marker on one partition would tear it"
        )
    return found


def abort(admin: Admin, transactional_id: str | None, found: list[OpenTransaction]) -> None:
    if transactional_id is not None:
        admin.abort_transaction(transactional_id, timeout_ms=existing(admin, transactional_id).timeout_ms)
        return
    for each in found:
        admin.abort_on_partition(each.topic_partition, each.identity, coordinator_epoch=each.coordinator_epoch)


def count_lost(admin: Admin, each: OpenTransaction) -> int:
    offsets = OffsetRange(each.first_offset, each.end_offset)
    batches = inspect_batches(admin.cluster, each.topic_partition, offsets, deadline=Deadline(PATIENCE_S))
    return sum(
        batch.header.record_count
        for batch in batches
        if batch.outcome is Outcome.OPEN and batch.header.producer_id == each.identity.producer_id
    )
