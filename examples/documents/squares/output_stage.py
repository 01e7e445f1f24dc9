"""The output stage: shows the squares as they are committed."""

from examples.documents import program
from fencepost.client import Consumer
from fencepost.client.serializers import deserialize_integer, deserialize_string

TOPIC = "tx-output"
GROUP_ID = "output-stage"


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--isolation-level", default="read_committed")
    arguments = program.start(parser)
    with Consumer(
        arguments.bootstrap_servers,
        [TOPIC],
        group_id=GROUP_ID,
        auto_offset_reset="earliest",
        isolation_level=arguments.isolation_level,
        key_deserializer=deserialize_string,
        value_deserializer=deserialize_integer,
        **program.membership(arguments),
    ) as consumer:
        while program.is_running():
            for record in consumer.poll(0.1):
                program.say(f"Got record with key {record.key}, value {record.value}")
            consumer.commit_async()


if __name__ == "__main__":
    main()
