"""Which requests does each call of a transaction send, and what do they carry?

The producer is connected through a network that notes what passes. A broker is started twice, for the classic flow,
which the documents describe, and for the newer one (KIP-890); a cluster that is named is taken to have the newer.
"""

import dataclasses
from itertools import groupby

from examples.documents.network import Fault, LossyNetwork
from examples.documents.stage import story_arguments
from examples.questions.asking import FLOWS, create_topic, flows, fresh, open_cluster, print_rows
from fencepost.client import Admin, Producer
from fencepost.lab.recording import TRANSACTION_APIS
from fencepost.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost.wire.messages.txn_offset_commit import TxnOffsetCommitRequest


class ListeningNetwork(LossyNetwork):
    """Loses nothing, and notes every request about transactions."""

    def __init__(self, bootstrap_servers: str) -> None:
        super().__init__(bootstrap_servers)
        self._passed: list[str] = []

    def next_fault(self, api_name: str) -> Fault | None:
        if api_name in TRANSACTION_APIS:
            self._passed.append(api_name)
        return super().next_fault(api_name)

    def take(self) -> str:
        """What has passed since the last call; a request that had to be asked again counts once."""
        passed, self._passed = self._passed, []
        return ", ".join(name for name, _ in groupby(passed)) or "nothing"


def transaction(servers: str) -> list[list[str]]:
    with Admin(servers) as admin:
        topic, read = create_topic(admin, "requests"), create_topic(admin, "requests")
    with (
        ListeningNetwork(servers) as network,
        Producer(network.bootstrap_servers, transactional_id=fresh("requests")) as producer,
    ):
        producer.init_transactions()
        rows = [["initTransactions()", network.take()]]
        producer.begin_transaction()
        rows += [["beginTransaction()", network.take()]]
        producer.send(topic, b"one").result()
        rows += [["send(), first of a partition", network.take()]]
        producer.send(topic, b"two").result()
        rows += [["send(), the same partition", network.take()]]
        producer.send_offsets_to_transaction({(read, 0): 1}, fresh("group"))
        rows += [["sendOffsetsToTransaction()", network.take()]]
        producer.commit_transaction()
        rows += [["commitTransaction()", network.take()]]
    return rows


def main() -> None:
    arguments = story_arguments(__doc__)
    for level in flows(arguments.bootstrap_servers):
        with open_cluster(arguments.bootstrap_servers, {"transaction.version": level}) as servers:
            print_rows([FLOWS[level], "requests"], transaction(servers))
            print()
    print_rows(
        ["request", "carries"],
        [
            [message.__name__.removesuffix("Request"), ", ".join(field.name for field in dataclasses.fields(message))]
            for message in (AddOffsetsToTxnRequest, TxnOffsetCommitRequest)
        ],
    )


if __name__ == "__main__":
    main()
