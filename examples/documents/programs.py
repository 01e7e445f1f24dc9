"""What each program of the documents does to its records under its own strikes, version by version.

The tests of the programs hold them to it, and the page `docs/documents-running.md` is written from it.
"""

from typing import NamedTuple

from examples.documents.failures import NO_HARM, REPEATED, REPEATED_AND_TORN


class Version(NamedTuple):
    program: str
    name: str
    harm: frozenset[str]
    remark: str = ""
    perhaps: frozenset[str] = NO_HARM


VERSIONS = (
    Version("basics", "two messages, plain", REPEATED_AND_TORN),
    Version("basics", "two messages", NO_HARM),
    Version("basics", "read-process-write, plain", REPEATED),
    Version("basics", "read-process-write", NO_HARM),
    Version("shop", "plain", REPEATED_AND_TORN, "a lost answer and each restart repeat"),
    Version("shop", "idempotent", REPEATED_AND_TORN, "the lost answer does no harm; each restart repeats"),
    Version("shop", "transactional", NO_HARM),
    Version("squares", "shared", NO_HARM, "the peers fence each other: only the last one to start works"),
    Version("squares", "random", REPEATED, "the zombie blocks readers while it is frozen, and repeats later"),
    Version("squares", "pinned", NO_HARM, "the zombie is fenced, and blocks no reader"),
    Version("transfer", "plain", REPEATED_AND_TORN, "money is made or lost"),
    Version("transfer", "transactional", NO_HARM, "the balances add up to nothing"),
    Version(
        "delivery",
        "producer, at-most-once",
        frozenset({"lost"}),
        "perhaps reordered: what is on a connection that breaks is not waited for",
        perhaps=frozenset({"reordered"}),
    ),
    Version("delivery", "producer, at-least-once", frozenset({"repeated", "reordered"})),
    Version("delivery", "producer, exactly-once", NO_HARM),
    Version("delivery", "consumer, at-most-once", frozenset({"lost"})),
    Version("delivery", "consumer, at-least-once", REPEATED),
    Version("delivery", "consumer, exactly-once", NO_HARM),
    Version("database", "row first", frozenset({"lost", "torn"}), "a row without its message"),
    Version("database", "message first", frozenset({"torn"}), "a message without its row"),
    Version("database", "outbox", NO_HARM, "row and message are one transaction of the database"),
)
PERHAPS = {(version.program, version.name): version.perhaps for version in VERSIONS}
HARM = {(version.program, version.name): version.harm for version in VERSIONS}
