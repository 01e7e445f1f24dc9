"""The crux of the documents: three schemes of transactional ids, and what a zombie can do under each.

P0 and P1 share the three partitions of `tx-input`. P1 freezes in the middle of a transaction; the group gives its
partitions to P0; then P1 wakes up and goes on. Under `shared` nobody has to freeze: the peers fence each other.
"""

from typing import Any, NamedTuple

from examples.documents.accounts import Account, balance, print_table
from examples.documents.actor import Actor
from examples.documents.stage import Stage, open_stage, story_arguments
from examples.documents.waiting import wait_for
from fencepost.client.serializers import deserialize_string

PARTITIONS = 3
INPUT_TOPIC, OUTPUT_TOPIC = "tx-input", "tx-output"
GROUP_ID = "transform-stage"
SCHEMES = ("shared", "random", "pinned")
FENCED = "ProducerFenced"


class Outcome(NamedTuple):
    account: Account
    has_blocked_readers: bool = False
    fenced: int = 0


class Squares:
    def __init__(self, stage: Stage, version: str) -> None:
        """`version` is `plain` or a scheme of transactional ids."""
        self.stage = stage
        self._version = version
        stage.open_topics({INPUT_TOPIC: PARTITIONS, OUTPUT_TOPIC: PARTITIONS})

    def start(self, **arguments: Any) -> Actor:
        if self._version == "plain":
            return self.stage.start("examples.documents.squares.transform_plain", **arguments)
        module = "examples.documents.squares.transform_stage"
        return self.stage.start(module, transactional_ids=self._version, **arguments)

    def feed(self, count: int = 12) -> None:
        stage = self.stage.start("examples.documents.squares.input_stage", count=count)
        stage.wait_until_ended()

    def wait_until_done(self) -> None:
        self.stage.wait_until_consumed(GROUP_ID, INPUT_TOPIC)

    def account(self) -> Account:
        keys = [deserialize_string(record.key) or "" for record in self.stage.read(INPUT_TOPIC)]
        squares = [deserialize_string(record.key) or "" for record in self.stage.read(OUTPUT_TOPIC)]
        return balance(keys, {"square": squares})


def freeze_and_thaw(stage: Stage, version: str) -> Outcome:
    """P1 freezes with a square published and not committed, is given up, and comes back."""
    squares = Squares(stage, version)
    first = squares.start(name="P0")
    first.wait_until_said("Assigned")
    second = squares.start(name="P1", freeze_at="published:1")
    second.wait_until_said("Assigned")
    squares.feed()
    second.wait_until_said("SIGSTOP at: published")
    squares.wait_until_done()
    has_blocked_readers = stage.is_blocked(OUTPUT_TOPIC)
    second.thaw()
    wait_for("P1 finds out", lambda: second.has_ended or "Revoked" in second.said, lambda: second.said)
    squares.wait_until_done()
    stage.stop_all()
    return Outcome(squares.account(), has_blocked_readers, int(FENCED in second.said))


def fence_each_other(stage: Stage) -> Outcome:
    """P0 works; P1 starts and fences it; P0 is started again and fences P1."""
    squares = Squares(stage, "shared")
    first = squares.start(name="P0")
    first.wait_until_said("Assigned")
    second = squares.start(name="P1")
    second.wait_until_said("Assigned")
    squares.feed()
    first.wait_until_ended()
    squares.wait_until_done()
    again = squares.start(name="P0 again")
    again.wait_until_said("Assigned")
    squares.feed()
    second.wait_until_ended()
    squares.wait_until_done()
    stage.stop_all()
    return Outcome(squares.account(), fenced=sum(FENCED in actor.said for actor in (first, second)))


def play(stage: Stage, scheme: str) -> Outcome:
    return fence_each_other(stage) if scheme == "shared" else freeze_and_thaw(stage, scheme)


def main() -> None:
    arguments = story_arguments(__doc__, scheme=SCHEMES)
    with open_stage(arguments.bootstrap_servers) as stage:
        outcomes = {scheme: play(stage, scheme) for scheme in ([arguments.scheme] if arguments.scheme else SCHEMES)}
    more = {
        scheme: {"fenced": outcome.fenced, "readers blocked": "yes" if outcome.has_blocked_readers else "no"}
        for scheme, outcome in outcomes.items()
    }
    print_table({scheme: outcome.account for scheme, outcome in outcomes.items()}, more=more)


if __name__ == "__main__":
    main()
