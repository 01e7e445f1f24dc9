"""`fencepost txn abort`: end an open transaction, with what would be lost shown first.

By its transactional id: the coordinator is asked for the next identity of the id, which aborts what is open and fences
its owner. A hanging transaction has nobody to ask: its partition gets the marker directly.
"""

import click

from fencepost.cli.connection import Connection, connection_options
from fencepost.cli.failures import Failure
from fencepost.cli.names import complete_transactional_ids
from fencepost.cli.open_transactions import ENDED, OpenTransaction, find_open_transactions
from fencepost.cli.output import confirm, json_option, print_json, print_table, say
from fencepost.cli.places import TopicPartitionType
from fencepost.cli.txn_blockers import holder
from fencepost.cli.txn_describe import existing
from fencepost.client.admin import Admin
from fencepost.client.admin_inspecting import Outcome, inspect_batches
from fencepost.client.time_limits import Deadline
from fencepost.types import OffsetRange, TopicPartition

PATIENCE_S = 60.0


@click.command("abort")
@click.argument("transactional_id", required=False, shell_complete=complete_transactional_ids)
@click.option("--partition", "where", type=TopicPartitionType(), help="The partition of a hanging transaction.")
@click.option("--producer-id", type=click.IntRange(min=0), help="Whose it is.")
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask.")
@json_option
@connection_options
def command(
    transactional_id: str | None,
    where: TopicPartition | None,
    producer_id: int | None,
    is_sure: bool,
    as_json: bool,
    connection: Connection,
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
    if is_by_id != (where is None) or is_by_id != (producer_id is None):
        raise click.UsageError("give a TRANSACTIONAL_ID, or --partition and --producer-id for one that hangs")
    with connection.admin() as admin:
        if transactional_id is not None:
            found = of_id(admin, transactional_id)
        else:
            assert where is not None
            assert producer_id is not None
            found = hanging(admin, where, producer_id)
        lost = [(str(each.topic_partition), each.first_offset, count_lost(admin, each)) for each in found]
        if not as_json:
            print_table(["PARTITION", "SINCE OFFSET", "RECORDS LOST"], lost, empty="It has written nothing yet.")
        owner = holder(found[0]) if found else transactional_id
        is_done = confirm(f"Abort the transaction of {owner}?", is_sure=is_sure)
        if is_done:
            abort(admin, transactional_id, found)
    if as_json:
        names = ("partition", "first_offset", "records")
        rows = [dict(zip(names, row, strict=True)) for row in lost]
        print_json({"transactional_id": transactional_id, "is_done": is_done, "lost": rows})
    elif is_done:
        say(f"aborted the transaction of {owner}")


def of_id(admin: Admin, transactional_id: str) -> list[OpenTransaction]:
    described = existing(admin, transactional_id)
    if described.state in ENDED:
        raise Failure(f"'{transactional_id}' has no open transaction: it is {described.state}")
    found = find_open_transactions(admin, described.partitions)
    return [each for each in found if each.identity.producer_id == described.identity.producer_id]


def hanging(admin: Admin, where: TopicPartition, producer_id: int) -> list[OpenTransaction]:
    found = [each for each in find_open_transactions(admin, [where]) if each.identity.producer_id == producer_id]
    if not found:
        raise Failure(f"producer id {producer_id} has no open transaction on {where}")
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
