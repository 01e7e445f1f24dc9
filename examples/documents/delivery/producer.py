"""Sends the numbers from 0 on, with the settings that the documents give for each promise of a producer.

Each number is a request of its own; pairs of them are on their way at the same time, so that one can overtake another.
"""

from typing import Any

from examples.documents import program
from fencepost.client import Producer
from fencepost.client.exceptions import ClientError
from fencepost.client.serializers import serialize_integer

TOPIC = "delivery"
SETTINGS: dict[str, dict[str, Any]] = {
    "at-most-once": {"enable_idempotence": False, "acks": "0", "retries": 0},
    "at-least-once": {"enable_idempotence": False, "acks": "all", "max_in_flight_requests_per_connection": 5},
    "exactly-once": {"enable_idempotence": True, "acks": "all"},
}


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--semantics", choices=list(SETTINGS), required=True)
    parser.add_argument("--count", type=int, default=20)
    arguments = program.start(parser)
    with Producer(
        arguments.bootstrap_servers,
        value_serializer=serialize_integer,
        batch_size=0,
        linger_ms=0,
        **SETTINGS[arguments.semantics],
    ) as producer:
        for number in range(0, arguments.count, 2):
            pair = [producer.send(TOPIC, value=number + one, partition=0) for one in (0, 1)]
            for sent in pair:
                try:
                    sent.result()
                except ClientError as problem:
                    program.say(f"Not delivered: {problem}")


if __name__ == "__main__":
    main()
