"""The two smallest programs of the documents, killed in the middle and started again: with transactions and without."""

from typing import Any

from examples.documents.accounts import Account, balance, print_table
from examples.documents.stage import Stage, open_stage, story_arguments
from fencepost.client import Producer

INPUT_TOPIC, OUTPUT_TOPIC = "inputTopic", "outputTopic"
GROUP_ID = "my-group-id"
COUNT = 10
VERSIONS = ("two messages, plain", "two messages", "read-process-write, plain", "read-process-write")


def play(stage: Stage, version: str) -> Account:
    program, _, plain = version.partition(", ")
    given = {"plain": True} if plain else {}
    return _two_messages(stage, given) if program == "two messages" else _read_process_write(stage, given)


def _two_messages(stage: Stage, given: dict[str, Any]) -> Account:
    stage.open_topics({OUTPUT_TOPIC: 1})
    module = "examples.documents.basics.two_messages"
    stage.start(module, **given, kill_at="message1 sent:1").wait_until_killed()
    stage.start(module, **given).wait_until_ended()
    values = [record.value.decode() for record in stage.read(OUTPUT_TOPIC)]
    return balance(["both"], {one: ["both" for value in values if value == one] for one in ("message1", "message2")})


def _read_process_write(stage: Stage, given: dict[str, Any]) -> Account:
    stage.open_topics({INPUT_TOPIC: 1, OUTPUT_TOPIC: 1})
    stage.skip_backlog(GROUP_ID, INPUT_TOPIC)
    module = "examples.documents.basics.read_process_write"
    with Producer(stage.bootstrap_servers) as producer:
        for number in range(COUNT):
            producer.send(INPUT_TOPIC, str(number).encode())
    stage.start(module, **given, kill_at="records sent:1").wait_until_killed()
    stage.start(module, **given)
    stage.wait_until_consumed(GROUP_ID, INPUT_TOPIC)
    stage.stop_all()
    numbers = [record.value.decode() for record in stage.read(OUTPUT_TOPIC)]
    return balance(map(str, range(COUNT)), {"number": numbers})


def main() -> None:
    arguments = story_arguments(__doc__, version=VERSIONS)
    with open_stage(arguments.bootstrap_servers) as stage:
        versions = [arguments.version] if arguments.version else VERSIONS
        print_table({version: play(stage, version) for version in versions})


if __name__ == "__main__":
    main()
