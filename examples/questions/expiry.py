"""How long can a transaction that nobody ends hold readers back: which of the expiry times is it?

Leaves a transaction open and waits for the coordinator to end it; asks for a timeout above the broker's limit; prints
the times themselves.
"""

import time

from examples.documents.stage import story_arguments
from examples.documents.waiting import wait_for
from examples.questions.asking import create_topic, ends, fresh, open_cluster, print_rows
from fencepost.client import Admin, Producer, TopicPartition
from fencepost.client.exceptions import ClientError, InvalidTransactionTimeout
from fencepost.client.settings import ProducerSettings
from fencepost.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)

BROKER = 4
TIMEOUT_MS = 1500
LIMITS = ("transaction.max.timeout.ms", "transactional.id.expiration.ms", "producer.id.expiration.ms")


def broker_settings(admin: Admin) -> dict[str, str | None]:
    node = min(admin.cluster.refresh().brokers)
    asked = DescribeConfigsResource(BROKER, str(node), list(LIMITS))
    answer = admin.cluster.call(
        admin.cluster.metadata.brokers[node], DescribeConfigsRequest([asked]), DescribeConfigsResponse
    )
    return {row.name: row.value for row in answer.results[0].configs}


def abandon(servers: str, admin: Admin) -> str:
    """What becomes of a transaction that its producer leaves open."""
    where, transactional_id = TopicPartition(create_topic(admin, "expiry"), 0), fresh("expiry")
    with Producer(servers, transactional_id=transactional_id, transaction_timeout_ms=TIMEOUT_MS) as producer:
        producer.init_transactions()
        started = time.monotonic()
        producer.begin_transaction()
        producer.send(where.topic, b"left open").result()
        wait_for("readers go on", lambda: ends(admin, where)[1] > 0)
        has_waited = time.monotonic() - started >= TIMEOUT_MS / 1000
        description = admin.describe_transaction(transactional_id)
        try:
            producer.commit_transaction()
        except ClientError as problem:
            told = type(problem).__name__
        else:
            told = "committed"
    state = "forgotten" if description is None else description.state
    return f"{state}, {'after' if has_waited else 'before'} its timeout; its commit: {told}"


def ask_for_more(servers: str, limit_ms: int) -> str:
    with Producer(servers, transactional_id=fresh("expiry"), transaction_timeout_ms=limit_ms + 1) as producer:
        try:
            producer.init_transactions()
        except InvalidTransactionTimeout as problem:
            return type(problem).__name__
    return "granted"


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        settings = broker_settings(admin)
        limit_ms = int(settings["transaction.max.timeout.ms"] or 0)
        rows = [
            ["producer: transaction.timeout.ms", f"{ProducerSettings().transaction_timeout_ms} ms"],
            *([f"broker: {name}", f"{settings[name]} ms"] for name in LIMITS),
            [f"left open with a timeout of {TIMEOUT_MS} ms", abandon(servers, admin)],
            ["a timeout above transaction.max.timeout.ms", ask_for_more(servers, limit_ms)],
        ]
        print_rows(["", "answer"], rows)


if __name__ == "__main__":
    main()
