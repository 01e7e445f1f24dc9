"""The transform stage without transactions: squares are published, then the offsets of their inputs are committed.

Its producer is idempotent, as the documents recommend. Five places at which it can die are marked.
"""

from examples.documents import program
from fencepost.client import Consumer, Producer
from fencepost.client.serializers import (
    deserialize_integer,
    deserialize_string,
    serialize_integer,
    serialize_string,
)

INPUT_TOPIC, OUTPUT_TOPIC = "tx-input", "tx-output"
GROUP_ID = "transform-stage"


def main() -> None:
    arguments = program.start(program.parser(__doc__))
    servers = arguments.bootstrap_servers
    with (
        Producer(servers, key_serializer=serialize_string, value_serializer=serialize_integer) as producer,
        Consumer(
            servers,
            group_id=GROUP_ID,
            auto_offset_reset="earliest",
            key_deserializer=deserialize_string,
            value_deserializer=deserialize_integer,
            **program.membership(arguments),
        ) as consumer,
    ):
        consumer.subscribe([INPUT_TOPIC], on_assigned=program.say_assigned, on_revoked=program.say_revoked)
        while program.is_running():
            if consumer.assignment():
                program.reach("before consumption")
            for record in consumer.poll(0.1):
                program.say(f"Got record with key {record.key}, value {record.value}")
                program.reach("consumed")
                square = record.value * record.value
                program.reach("transformed")
                producer.send(OUTPUT_TOPIC, key=record.key, value=square).result()
                program.reach("published")
                consumer.commit_sync({record.topic_partition: record.offset + 1})
                program.reach("committed")


if __name__ == "__main__":
    main()
