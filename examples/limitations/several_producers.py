"""Several producers: a transaction belongs to one transactional id, so two producers have two outcomes.

A transfer is a debit written by one producer and a credit written by another. The service is killed in the middle of a
transfer, which is then asked for again. First each producer has a transaction of its own; then both write under one
identity, which one of them has fetched and alone ends.
"""

from typing import Any

from examples.documents.accounts import Account, balance, print_table
from examples.documents.stage import Stage, story_arguments
from examples.limitations.ground import open_ground
from examples.questions.asking import fresh

COUNT, STRUCK = 8, 4
VERSIONS = {"two transactions": "two", "one identity, two writers": "one"}


def play(stage: Stage, version: str) -> Account:
    debits, credits_, name = fresh("debits"), fresh("credits"), fresh("paying")
    stage.open_topics({debits: 1, credits_: 1})
    given: dict[str, Any] = {
        "debits": debits,
        "credits": credits_,
        "transactional_id": name,
        "transactions": VERSIONS[version],
    }
    module = "examples.limitations.paying_service"
    stage.start(module, **given, end=COUNT, kill_at=f"half way:{STRUCK}").wait_until_killed()
    stage.start(module, **given, begin=STRUCK - 1, end=COUNT).wait_until_ended()
    transfers = [f"transfer-{number}" for number in range(COUNT)]
    written = {topic: [record.value.decode() for record in stage.read(topic)] for topic in (debits, credits_)}
    return balance(transfers, written)


def main() -> None:
    arguments = story_arguments(__doc__, version=list(VERSIONS))
    versions = [arguments.version] if arguments.version else VERSIONS
    with open_ground(arguments.bootstrap_servers) as stage:
        print_table({version: play(stage, version) for version in versions})


if __name__ == "__main__":
    main()
