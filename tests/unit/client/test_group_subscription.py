"""Changes that a member offers, taken by the consumer's thread: who is called back, in which order, with what."""

from typing import Any

import pytest

from fencepost.client.consumer.assignment import Assignment
from fencepost.client.consumer.group_member import Change
from fencepost.client.consumer.group_subscription import Callbacks, GroupSubscription
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.exceptions import Timeout
from fencepost.types import TopicPartition

A, B, C = (TopicPartition("t", index) for index in range(3))


class FakeMember:
    """Offers what the test says."""

    def __init__(self) -> None:
        self.change: Change | None = None
        self.owned: frozenset[TopicPartition] | None = None

    def poll(self) -> Change | None:
        return self.change

    def settled(self, change: Change, owned: frozenset[TopicPartition]) -> None:
        assert change is self.change
        self.change, self.owned = None, owned


class Scene:
    def __init__(self, *, with_on_lost: bool = True) -> None:
        self.told: list[tuple[str, list[TopicPartition]]] = []
        self.assignment = Assignment()
        callbacks = Callbacks(
            on_assigned=lambda partitions: self.hear("assigned", partitions),
            on_revoked=lambda partitions: self.hear("revoked", partitions),
            on_lost=(lambda partitions: self.hear("lost", partitions)) if with_on_lost else None,
        )
        cluster: Any = None
        self.subscription = GroupSubscription(
            cluster,
            ConsumerSettings(group_id="g"),
            self.assignment,
            ["t"],
            callbacks=callbacks,
            before_revocation=lambda: self.hear("commit", self.assignment.partitions),
            wake=lambda: None,
        )
        self.member = FakeMember()
        self.subscription._member = self.member  # type: ignore[assignment]

    def poll(self) -> None:
        """As the consumer does in every poll."""
        self.subscription.look()
        self.subscription.tell()

    def hear(self, kind: str, partitions: list[TopicPartition]) -> None:
        self.told.append((kind, partitions))

    def offer(self, *partitions: TopicPartition, is_lost: bool = False) -> list[tuple[str, list[TopicPartition]]]:
        self.told.clear()
        self.member.change = Change(frozenset(partitions), is_lost)
        self.poll()
        assert self.member.owned == frozenset(partitions) == frozenset(self.assignment.partitions)
        return list(self.told)


def test_only_what_changes_is_told_and_what_goes_is_told_first() -> None:
    scene = Scene()
    assert scene.offer(A, B) == [("assigned", [A, B])]
    assert scene.offer(B, C) == [("commit", [A, B]), ("revoked", [A]), ("assigned", [C])]
    assert scene.offer(B, C) == []
    assert scene.offer() == [("commit", [B, C]), ("revoked", [B, C])]


def test_lost_partitions_are_not_committed() -> None:
    scene = Scene()
    scene.offer(A, B)
    assert scene.offer(is_lost=True) == [("lost", [A, B])]


def test_without_on_lost_revocation_is_what_is_told() -> None:
    scene = Scene(with_on_lost=False)
    scene.offer(A)
    assert scene.offer(is_lost=True) == [("revoked", [A])]


def test_partitions_go_even_if_the_callback_fails() -> None:
    scene = Scene()
    scene.offer(A, B)

    def fail(_: list[TopicPartition]) -> None:
        raise ZeroDivisionError

    scene.subscription.callbacks = Callbacks(on_revoked=fail)
    scene.member.change = Change(frozenset([B]))
    with pytest.raises(ZeroDivisionError):
        scene.poll()
    assert scene.member.owned == {B}
    assert scene.assignment.partitions == [B]


def test_a_callback_that_polls_is_not_called_again() -> None:
    scene = Scene()
    scene.subscription.callbacks = Callbacks(
        on_assigned=lambda partitions: (scene.hear("assigned", partitions), scene.poll())[0]
    )
    assert scene.offer(A) == [("assigned", [A])]


def test_what_on_assigned_refused_is_announced_again_with_what_came_since_and_without_what_went() -> None:
    scene = Scene()

    def refuse(_: list[TopicPartition]) -> None:
        raise Timeout("my own, and not the group's")

    told, scene.subscription.callbacks = scene.subscription.callbacks, Callbacks(on_assigned=refuse)
    scene.member.change = Change(frozenset([A, B]))
    for _ in range(2):
        with pytest.raises(Timeout):
            scene.poll()
        assert scene.assignment.partitions == [A, B]
    scene.subscription.callbacks = told
    assert scene.offer(B, C) == [("commit", [A, B]), ("revoked", [A]), ("assigned", [B, C])]
    scene.poll()
    assert scene.told[-1] == ("assigned", [B, C]), "once is enough"
