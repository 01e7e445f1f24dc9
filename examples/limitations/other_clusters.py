"""Other clusters: a stage that reads one cluster and writes another cannot commit its offsets with its output.

The copying stage is killed twice, each time between its two commits or inside its one, and started again. The source is
always a broker of its own; `--bootstrap-servers` names the target.
"""

from typing import Any

from examples.documents.accounts import Account, balance, print_table
from examples.documents.stage import BROKER_SETTINGS, Stage, story_arguments
from examples.limitations.ground import open_ground
from examples.questions.asking import fresh
from fencepost.client import Admin, Producer
from fencepost.server.embedded import EmbeddedBroker

COUNT = 12
STRIKES = ("between:3", "between:5")
VERSIONS = {"output first": "output", "offset first": "offset", "offset in a ledger": "ledger"}


def play(stage: Stage, source: str, version: str) -> Account:
    names = {name: fresh(name) for name in ("input", "copy", "ledger")}
    stage.open_topics({names["copy"]: 1, names["ledger"]: 1})
    inputs = [f"record-{number}" for number in range(COUNT)]
    with Admin(source) as admin, Producer(source) as producer:
        admin.create_topic(names["input"], 1, 1)
        for value in inputs:
            producer.send(names["input"], value.encode())
    given: dict[str, Any] = {**names, "source": source, "first": VERSIONS[version], "until": COUNT}
    for strike in STRIKES:
        stage.start("examples.limitations.copy_stage", **given, kill_at=strike).wait_until_killed()
    stage.start("examples.limitations.copy_stage", **given).wait_until_ended()
    return balance(inputs, {"copy": [record.value.decode() for record in stage.read(names["copy"])]})


def main() -> None:
    arguments = story_arguments(__doc__, version=list(VERSIONS))
    versions = [arguments.version] if arguments.version else VERSIONS
    with (
        EmbeddedBroker(settings=BROKER_SETTINGS) as source,
        open_ground(arguments.bootstrap_servers) as stage,
    ):
        print_table({version: play(stage, source.bootstrap_servers, version) for version in versions})


if __name__ == "__main__":
    main()
