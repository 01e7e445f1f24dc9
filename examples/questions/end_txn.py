"""When is EndTxn answered: when the outcome is decided (PREPARE), or when the markers are written as well?

Commits transactions over many partitions, and looks at each one right after its answer, from another connection.
"""

from examples.documents.stage import story_arguments
from examples.questions.asking import create_topic, fresh, open_cluster, print_rows
from fencepost.client import Admin, Producer, TopicPartition

PARTITIONS = 50
COMMITS = 20


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        topic, transactional_id = create_topic(admin, "end-txn", PARTITIONS), fresh("end-txn")
        partitions = [TopicPartition(topic, partition) for partition in range(PARTITIONS)]
        complete = visible = 0
        with Producer(servers, transactional_id=transactional_id) as producer:
            producer.init_transactions()
            for _ in range(COMMITS):
                producer.begin_transaction()
                for partition in range(PARTITIONS):
                    producer.send(topic, b"record", partition=partition)
                producer.commit_transaction()
                stable = admin.latest_offsets(partitions, read_committed=True)
                description = admin.describe_transaction(transactional_id)
                complete += description is not None and description.state == "CompleteCommit"
                visible += stable == admin.latest_offsets(partitions)
                admin.await_transaction_end(transactional_id)
    every = f"after every one of {COMMITS} answers"
    print_rows(
        ["question", "answer"],
        [
            ["the coordinator has come to", f"CompleteCommit, {every}" if complete == COMMITS else "PrepareCommit"],
            ["a reader finds the records", every if visible == COMMITS else "a moment later"],
        ],
    )


if __name__ == "__main__":
    main()
