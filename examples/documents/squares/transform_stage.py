"""The transform stage of the documents: each square and the offset of its input in one transaction.

`--transactional-ids` chooses the scheme that is the crux: `pinned` to the input partition; one id `shared` by all
processes; a `random` one for each process.
"""

import uuid
from collections.abc import Iterable
from typing import Any

from examples.documents import program
from fencepost.client import Consumer, PinnedProducers, Producer
from fencepost.client.exceptions import AbortableError
from fencepost.client.serializers import (
    deserialize_integer,
    deserialize_string,
    serialize_integer,
    serialize_string,
)

INPUT_TOPIC, OUTPUT_TOPIC = "tx-input", "tx-output"
GROUP_ID = "transform-stage"
SERIALIZERS: dict[str, Any] = {"key_serializer": serialize_string, "value_serializer": serialize_integer}


class OneProducer:
    """A single long-lived producer for all input partitions: what the pinned ones are compared with."""

    def __init__(self, bootstrap_servers: str, transactional_id: str) -> None:
        self._producer = Producer(bootstrap_servers, transactional_id=transactional_id, **SERIALIZERS)
        self._producer.init_transactions()

    def __getitem__(self, partition: tuple[str, int]) -> Producer:
        return self._producer

    def on_assigned(self, partitions: Iterable[Any]) -> None:
        pass

    def on_revoked(self, partitions: Iterable[Any]) -> None:
        pass

    def close(self) -> None:
        self._producer.close()


def producers_of(scheme: str, bootstrap_servers: str) -> PinnedProducers | OneProducer:
    if scheme == "pinned":
        return PinnedProducers(bootstrap_servers, **SERIALIZERS)
    return OneProducer(bootstrap_servers, GROUP_ID if scheme == "shared" else str(uuid.uuid4()))


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--transactional-ids", choices=["pinned", "shared", "random"], default="pinned")
    arguments = program.start(parser)
    servers = arguments.bootstrap_servers
    producers = producers_of(arguments.transactional_ids, servers)

    def on_assigned(partitions: list[Any]) -> None:
        producers.on_assigned(partitions)
        program.say_assigned(partitions)

    def on_revoked(partitions: list[Any]) -> None:
        producers.on_revoked(partitions)
        program.say_revoked(partitions)

    with Consumer(
        servers,
        group_id=GROUP_ID,
        auto_offset_reset="earliest",
        key_deserializer=deserialize_string,
        value_deserializer=deserialize_integer,
        **program.membership(arguments),
    ) as consumer:
        consumer.subscribe([INPUT_TOPIC], on_assigned=on_assigned, on_revoked=on_revoked)
        while program.is_running():
            if consumer.assignment():
                program.reach("before consumption")
            for record in consumer.poll(0.1):
                program.say(f"Got record with key {record.key}, value {record.value}")
                program.reach("consumed")
                square = record.value * record.value
                program.reach("transformed")
                producer = producers[record.topic_partition]
                producer.begin_transaction()
                try:
                    producer.send(OUTPUT_TOPIC, key=record.key, value=square).result()
                    program.reach("published")
                    # The bare group id, as in the documents: nothing but the transactional id fences here.
                    producer.send_offsets_to_transaction({record.topic_partition: record.offset + 1}, GROUP_ID)
                    producer.commit_transaction()
                except AbortableError:
                    producer.abort_transaction()
                    raise
                program.reach("committed")
    producers.close()


if __name__ == "__main__":
    main()
