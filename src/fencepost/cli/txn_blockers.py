"""`fencepost txn blockers`: which partitions are held back, by whom, since when, until when, and who waits."""

from collections.abc import Mapping

import click

from fencepost.cli.connection import Connection, connection_options
from fencepost.cli.failures import FOUND
from fencepost.cli.moments import format_duration, format_moment, iso_moment, now_ms
from fencepost.cli.names import complete_topics
from fencepost.cli.open_transactions import OFFSETS_TOPIC, OpenTransaction, find_open_transactions, waiting_groups
from fencepost.cli.output import counted, fitted, json_option, print_json
from fencepost.client.admin import Admin
from fencepost.types import TopicPartition

NOT_FOR_READERS = "__transaction_state"
HANGING = len("  held by  ")


@click.command("blockers")
@click.option("--topic", "topics", multiple=True, shell_complete=complete_topics, help="Only these; may be repeated.")
@click.option("--check", is_flag=True, help="Exit with 4 if anything is held back.")
@json_option
@connection_options
@click.pass_context
def command(ctx: click.Context, topics: tuple[str, ...], check: bool, as_json: bool, connection: Connection) -> None:
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
    where = each.topic_partition
    if where.topic == OFFSETS_TOPIC:
        return f"{where}: offsets of groups are pending since offset {each.first_offset}"
    if not is_first:
        return f"{where}: and next at offset {each.first_offset}"
    hidden = counted(each.end_offset - each.last_stable_offset, "offset")
    return f"{where}: readers wait at offset {each.last_stable_offset}; {hidden} hidden behind it"


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
    words = []
    if waiting:
        words.append(f"{', '.join(waiting)} {'waits' if len(waiting) == 1 else 'wait'}")
    if before:
        words.append(f"{', '.join(before)} {'is' if len(before) == 1 else 'are'} still before it")
    return "; ".join(words) or "none has committed an offset here"


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
