"""The input stage: whole numbers, one after the other, keyed by the moment at which they were made."""

import datetime
import time

from examples.documents import program
from fencepost.client import Producer
from fencepost.client.serializers import serialize_integer, serialize_string

TOPIC = "tx-input"


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--pause-ms", type=int, default=0)
    arguments = program.start(parser)
    with Producer(
        arguments.bootstrap_servers, key_serializer=serialize_string, value_serializer=serialize_integer
    ) as producer:
        for value in range(arguments.count):
            key = datetime.datetime.now(datetime.UTC).isoformat() + f" {value}"
            program.say(f"Publishing record with key {key}, value {value}")
            # In turn, so that each partition has its share; the documents leave it to the key.
            producer.send(TOPIC, key=key, value=value, partition=value % len(producer.partitions_for(TOPIC)))
            time.sleep(arguments.pause_ms / 1000)


if __name__ == "__main__":
    main()
