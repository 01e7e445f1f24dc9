"""Does `enable.auto.commit=true` with a short interval mean at most once?

A consumer is given a record and does not come back for more: it is still busy with it, or it has crashed. Has the
offset behind that record been committed, long after the interval?
"""

import time

from examples.documents.stage import story_arguments
from examples.documents.waiting import wait_for
from examples.questions.asking import create_topic, fresh, open_cluster, print_rows
from fencepost.client import Admin, Consumer, Producer, TopicPartition

INTERVAL_MS = 10
MANY_INTERVALS_S = 0.5


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        where, group_id = TopicPartition(create_topic(admin, "auto-commit"), 0), fresh("group")
        with Producer(servers) as producer:
            producer.send(where.topic, b"one").result()

        def is_committed() -> bool:
            found = admin.group_offsets(group_id).get(where)
            return found is not None and found.offset > 0

        with Consumer(
            servers,
            topics=[where.topic],
            group_id=group_id,
            auto_offset_reset="earliest",
            enable_auto_commit=True,
            auto_commit_interval_ms=INTERVAL_MS,
        ) as consumer:
            wait_for("the record", lambda: consumer.poll(0.1))
            time.sleep(MANY_INTERVALS_S)
            rows = [["while the record is being handled", "yes" if is_committed() else "no"]]

            def is_committed_by_poll() -> bool:
                consumer.poll(0.05)
                return is_committed()

            wait_for("a commit", is_committed_by_poll)
            rows.append(["when poll() was called again", "yes"])
    print_rows(["the record is committed", ""], rows)


if __name__ == "__main__":
    main()
