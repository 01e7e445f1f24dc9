"""A request that names many topics takes time in proportion to them: the broker serves nobody else meanwhile."""

import time
from collections.abc import Callable

import pytest

from fencepost.wire.message import Message
from fencepost.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fencepost.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.unit.broker.builders import Broker

FEW, MANY = 500, 10_000
TIMES_MAX = 8 * MANY / FEW
"""Twenty times as many take twenty times as long, give or take; if each is compared with each, four hundred times."""


def creation(count: int) -> Message:
    return CreateTopicsRequest(topics=[CreatableTopic(f"no name: {number}") for number in range(count)])


def growth(count: int) -> Message:
    return CreatePartitionsRequest(topics=[CreatePartitionsTopic(f"none-{number}", count=2) for number in range(count)])


@pytest.mark.parametrize("request_of", [creation, growth])
def test_many_refused_topics_take_no_more_than_their_share(request_of: Callable[[int], Message]) -> None:
    broker = Broker()

    def seconds(count: int) -> float:
        request = request_of(count)
        began = time.perf_counter()
        broker.send(request)
        return time.perf_counter() - began

    few_s = min(seconds(FEW) for _ in range(5))
    assert min(seconds(MANY) for _ in range(3)) < few_s * TIMES_MAX
