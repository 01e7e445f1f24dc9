"""Are concurrent transactions seen as if one had come after the other? And a committed one all at once?

A and B write to two partitions, in one order on the first and in the other order on the second. B commits, later A.
The table is what a reader of committed records gets at each moment.
"""

from examples.documents.stage import story_arguments
from examples.questions.asking import create_topic, fresh, open_cluster, print_rows, read_all
from fencepost.client import Admin, Producer, TopicPartition


def seen(servers: str, where: TopicPartition) -> str:
    return " ".join(record.value.decode() for record in read_all(servers, [where])) or "-"


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        topic = create_topic(admin, "order", 2)
        left, right = TopicPartition(topic, 0), TopicPartition(topic, 1)

        def moment(name: str) -> list[str]:
            return [name, seen(servers, left), seen(servers, right)]

        def write(producer: Producer, value: bytes, where: TopicPartition) -> None:
            producer.send(topic, value, partition=where.partition).result()

        name_a, name_b = fresh("a"), fresh("b")
        with Producer(servers, transactional_id=name_a) as a, Producer(servers, transactional_id=name_b) as b:
            for producer in (a, b):
                producer.init_transactions()
                producer.begin_transaction()
            write(a, b"A", left)
            write(b, b"B", left)
            write(b, b"B", right)
            write(a, b"A", right)
            rows = [moment("A and B are open")]
            b.commit_transaction()
            admin.await_transaction_end(name_b)
            rows.append(moment("B is committed"))
            a.commit_transaction()
            admin.await_transaction_end(name_a)
            rows.append(moment("A is committed"))
    print_rows(["", "first partition", "second partition"], rows)


if __name__ == "__main__":
    main()
