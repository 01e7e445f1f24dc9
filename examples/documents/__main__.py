"""Plays every failure that the documents list, without and with the feature against it, and prints what arrived.

The broker is a process of its own, because some of these failures are its death.
"""

import argparse

from examples.documents.accounts import print_table
from examples.documents.failures import BOOK, DEEP_DIVE, IDEMPOTENCE
from examples.documents.served_broker import ServedBroker
from examples.documents.stage import QUICK_SESSION_MS, Stage


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="failures whose name has this in it")
    arguments = parser.parse_args()
    for failure in [*IDEMPOTENCE, *DEEP_DIVE, *BOOK]:
        if arguments.only and arguments.only not in failure.name:
            continue
        print(f"{failure.heading} {failure.strike}")
        rows = {}
        for version in (failure.without, failure.feature):
            with (
                ServedBroker() as broker,
                Stage(broker.bootstrap_servers, session_timeout_ms=QUICK_SESSION_MS, broker=broker) as stage,
            ):
                rows[version] = failure.story(stage, version)
        print_table(rows)
        print(flush=True)


if __name__ == "__main__":
    main()
