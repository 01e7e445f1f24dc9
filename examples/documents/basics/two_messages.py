"""Two messages, both of them or neither: the smallest transaction of the documents. `--plain` uses none."""

from contextlib import nullcontext

from examples.documents import program
from fencepost.client import Producer

TOPIC = "outputTopic"


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--plain", action="store_true")
    arguments = program.start(parser)
    transactional_id = None if arguments.plain else "my-transactional-id"
    with Producer(arguments.bootstrap_servers, transactional_id=transactional_id) as producer:
        if not arguments.plain:
            producer.init_transactions()
        with nullcontext() if arguments.plain else producer.transaction():
            producer.send(TOPIC, b"message1").result()
            program.reach("message1 sent")
            producer.send(TOPIC, b"message2").result()


if __name__ == "__main__":
    main()
