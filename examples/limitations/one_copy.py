"""No replication: this broker keeps one copy on one disk, whatever replication factor a topic asks for.

Committed records survive kill -9 of the broker, because they were on disk when they were acknowledged. They do not
survive the loss of the disk. On a cluster that is named nothing is killed: the table says how many copies it keeps.
"""

import shutil
from collections.abc import Callable

from examples.documents.accounts import Account, balance, print_table
from examples.documents.served_broker import ServedBroker
from examples.documents.stage import story_arguments
from examples.questions.asking import fresh, read_all
from fencepost.client import Admin, Producer, TopicPartition
from fencepost.client.exceptions import ClientError
from fencepost.errors import ErrorCode

COUNT = 100
WANTED_COPIES = 3


class LosableBroker(ServedBroker):
    def lose_disk(self) -> None:
        self.kill()
        shutil.rmtree(self._folder / "data")


def create_topic(servers: str) -> tuple[str, int]:
    """A topic for which three copies are asked, and how many there are; one if three are refused."""
    topic = fresh("copies")
    with Admin(servers) as admin:
        try:
            admin.create_topic(topic, 1, WANTED_COPIES)
        except ClientError as problem:
            if problem.error_code != ErrorCode.INVALID_REPLICATION_FACTOR:
                raise
            admin.create_topic(topic, 1, 1)
        return topic, len(admin.topic_replicas(topic)[0].replica_ids)


def play(servers: str, strike: Callable[[], object]) -> tuple[Account, dict[str, object]]:
    topic, copies = create_topic(servers)
    written = [f"record-{number}" for number in range(COUNT)]
    with Producer(servers, transactional_id=fresh("copies")) as producer:
        producer.init_transactions()
        with producer.transaction() as transaction:
            for name in written:
                transaction.send(topic, name.encode())
    with Admin(servers) as admin:
        admin.await_transaction_end(producer.settings.transactional_id)
    strike()
    with Admin(servers) as admin:
        is_there = topic in admin.describe_topics()
    read = read_all(servers, [TopicPartition(topic, 0)]) if is_there else []
    account = balance(written, {"record": [record.value.decode() for record in read]})
    return account, {"copies": copies}


def main() -> None:
    arguments = story_arguments(__doc__)
    if arguments.bootstrap_servers is not None:
        played = {"nothing happens": play(arguments.bootstrap_servers, lambda: None)}
    else:
        with LosableBroker() as broker:

            def kill() -> None:
                broker.kill()
                broker.start()

            def lose_disk() -> None:
                broker.lose_disk()
                broker.start()

            servers = broker.bootstrap_servers
            played = {"kill -9 of the broker": play(servers, kill), "its disk is lost": play(servers, lose_disk)}
    print_table(
        {name: account for name, (account, _) in played.items()},
        more={name: more for name, (_, more) in played.items()},
    )


if __name__ == "__main__":
    main()
