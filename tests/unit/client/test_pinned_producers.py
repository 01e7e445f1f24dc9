"""Producers that follow their input partitions."""

from typing import Any

import pytest

from fencepost.client.producer.pinned import PinnedProducers
from fencepost.types import TopicPartition

A, B = TopicPartition("tx-input", 0), TopicPartition("tx-input", 2)


class FakeProducer:
    def __init__(self, log: list[str], servers: str, *, transactional_id: str, **settings: Any) -> None:
        self.log, self.id, self.settings = log, transactional_id, settings
        log.append(f"make {transactional_id}")

    def init_transactions(self) -> None:
        self.log.append(f"init {self.id}")
        if self.settings.get("fails"):
            raise ZeroDivisionError

    def close(self) -> None:
        self.log.append(f"close {self.id}")


def pinned(log: list[str], **settings: Any) -> PinnedProducers:
    def make(*given: Any, **more: Any) -> Any:
        return FakeProducer(log, *given, **more)

    return PinnedProducers("broker:1", make_producer=make, **settings)


def test_the_transactional_id_names_the_input_partition() -> None:
    assert pinned([]).transactional_id(B) == "tx-input-2"
    assert pinned([], transactional_id_prefix="stage.").transactional_id(B) == "stage.tx-input-2"


def test_producers_come_and_go_with_their_partitions() -> None:
    log: list[str] = []
    producers = pinned(log)
    producers.on_assigned([A, B])
    assert producers.partitions == [A, B]
    assert producers[A] is producers["tx-input", 0]
    producers.on_revoked([A])
    assert producers.partitions == [B]
    producers.close()
    assert log == [
        "make tx-input-0",
        "init tx-input-0",
        "make tx-input-2",
        "init tx-input-2",
        "close tx-input-0",
        "close tx-input-2",
    ]


def test_a_partition_that_was_assigned_by_hand_gets_its_producer_when_it_is_asked_for() -> None:
    log: list[str] = []
    with pinned(log, linger_ms=7) as producers:
        found: Any = producers[A]
        assert found.settings == {"linger_ms": 7}
    assert log[-1] == "close tx-input-0"


def test_a_producer_that_cannot_take_over_is_closed_and_not_kept() -> None:
    log: list[str] = []
    producers = pinned(log, fails=True)
    with pytest.raises(ZeroDivisionError):
        producers.on_assigned([A])
    assert log[-1] == "close tx-input-0"
    assert producers.partitions == []


def test_what_was_never_there_may_be_revoked() -> None:
    producers = pinned([])
    producers.on_revoked([A])
    assert producers.partitions == []
