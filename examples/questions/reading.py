"""How does a reader of committed records wait: does it buffer records until their marker, or is it not given them?

A transaction writes a record and stays open, another producer writes one behind it, then the transaction is aborted.
The table counts the batches that the broker sends to each kind of reader at each moment.
"""

from examples.documents.stage import story_arguments
from examples.documents.waiting import wait_for
from examples.questions.asking import create_topic, ends, fresh, open_cluster, partitions_of, print_rows, read_all
from fencepost.client import Admin, Producer, TopicPartition
from fencepost.client.admin.asking import fetch_partition
from fencepost.client.time_limits import Deadline
from fencepost.records.header import split_batches
from fencepost.wire.messages.fetch import PartitionData

TRANSACTION_LOG = "__transaction_state"
PAYLOAD = b"held back, then given up"
LEADER_EPOCH_END = 16
"""Up to here a header holds what the broker stamps: offset, length, leader epoch."""


def fetch(admin: Admin, where: TopicPartition, *, read_committed: bool) -> PartitionData:
    return fetch_partition(admin.cluster, where, 0, read_committed=read_committed, deadline=Deadline(30))


def batches_of(answer: PartitionData) -> list[bytes]:
    stored = answer.records[0] if answer.records else b""
    return [bytes(batch) for _, batch in split_batches(stored, drop_partial_tail=True)]


def moment(admin: Admin, where: TopicPartition, name: str) -> list[object]:
    committed = fetch(admin, where, read_committed=True)
    aborted = len(committed.aborted_transactions or ())
    uncommitted = fetch(admin, where, read_committed=False)
    return [name, *ends(admin, where), len(batches_of(committed)), aborted, len(batches_of(uncommitted))]


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        where = TopicPartition(create_topic(admin, "reading"), 0)
        with (
            Producer(servers, transactional_id=fresh("reading")) as holding,
            Producer(servers) as other,
        ):
            holding.init_transactions()
            holding.begin_transaction()
            holding.send(where.topic, PAYLOAD).result()
            other.send(where.topic, b"behind it").result()
            while_open = moment(admin, where, "while it is open")
            before = batches_of(fetch(admin, where, read_committed=False))[0]
            holding.abort_transaction()
            wait_for("the abort marker", lambda: ends(admin, where)[1] == ends(admin, where)[0])
            after_abort = moment(admin, where, "after its abort")
            after = batches_of(fetch(admin, where, read_committed=False))[0]
        header = ["", "end", "last stable", "to read_committed", "aborted named", "to read_uncommitted"]
        print_rows(header, [while_open, after_abort])
        print()
        is_same = before[LEADER_EPOCH_END:] == after[LEADER_EPOCH_END:]
        log = read_all(servers, partitions_of(admin, TRANSACTION_LOG))
        is_in_log = any(PAYLOAD in (record.value or b"") for record in log)
        print_rows(
            ["question", "answer"],
            [
                ["the aborted batch afterwards", "the same bytes" if is_same else "other bytes"],
                ["its payload in __transaction_state", "yes" if is_in_log else "no"],
            ],
        )


if __name__ == "__main__":
    main()
