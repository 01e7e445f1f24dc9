"""Requests that no client would send: every field anything that its type allows, names often ones that exist.

Whatever comes, each request is answered, parked or its connection closed; nothing is raised, every answer can be
encoded, and afterwards the broker still serves, live and after it was killed.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from random import Random
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import pytest

from fencepost.broker.dispatch import HANDLED_KEYS
from fencepost.errors import ErrorCode, WireError
from fencepost.groups.checkpoint import dump_state as dump_groups
from fencepost.types import Buffer
from fencepost.wire.api import API_TABLE, Api
from fencepost.wire.codec import encode_request
from tests.unit.broker.builders import Broker, batch_of

REQUESTS_PER_API = 150
NAMES = ("orders", "table", "billing", "shop", "range", "consumer", "__consumer_offsets", "__transaction_state")
HOSTILE_TEXT = ("", ".", "a b", "é", "x" * 300, "[", "\0", "retention.ms", "cleanup.policy", "1")
NUMBERS = (-(2**31), -2, -1, 0, 1, 2, 3, 5, 1000, 60_000, 2**15 - 1)


class Inventor:
    """Makes messages of any class up, with the topic ids of a broker among its uuids."""

    def __init__(self, random: Random, topic_ids: Sequence[UUID]) -> None:
        self._random = random
        self._topic_ids = topic_ids

    def message(self, message_class: type[Any]) -> Any:
        hints = get_type_hints(message_class)
        return message_class(
            **{each.name: self._value(hints[each.name], each.name, each.default) for each in fields(message_class)}
        )

    def _value(self, annotation: Any, name: str, default: Any) -> Any:
        if get_origin(annotation) in (UnionType, Union):
            kinds = [each for each in get_args(annotation) if each is not type(None)]
            if len(kinds) < len(get_args(annotation)) and self._random.random() < 0.2:
                return None
            if set(kinds) == set(get_args(Buffer)):
                return self._record_set()
            annotation = kinds[0]
        if get_origin(annotation) is list or get_origin(annotation) is Sequence:
            (inner,) = get_args(annotation)
            return [self._value(inner, name, 0) for _ in range(self._random.choice((0, 1, 1, 2, 3)))]
        if is_dataclass(annotation):
            return self.message(annotation)
        return self._scalar(annotation, name, default)

    def _scalar(self, annotation: Any, name: str, default: Any) -> Any:
        random = self._random
        if annotation is bool:
            return random.random() < 0.5
        if annotation is int:
            return default if isinstance(default, int) and random.random() < 0.3 else random.choice(NUMBERS)
        if annotation is float:
            return random.choice((0.0, -1.5, 1e300))
        if annotation is str:
            return random.choice(NAMES) if random.random() < 0.7 else random.choice(HOSTILE_TEXT)
        if annotation is UUID:
            return random.choice((UUID(int=0), UUID(int=9), *self._topic_ids))
        assert annotation is bytes, f"{name} is a {annotation}"
        return random.randbytes(random.choice((0, 3, 40)))

    def _record_set(self) -> bytes:
        random = self._random
        identity = {"producer_id": random.choice((-1, 0, 1, 7)), "producer_epoch": random.choice((-1, 0, 1, 32767))}
        batch = batch_of(
            b"value",
            base_sequence=random.choice((-1, 0, 1, 2**31 - 1)),
            is_transactional=random.random() < 0.5,
            is_control=random.random() < 0.1,
            **identity,
        )
        if random.random() < 0.3:
            at = random.randrange(len(batch))
            return batch[:at] + random.randbytes(1) + batch[at + 1 :]
        return random.choice((batch, batch, batch, batch[:-1], batch * 2, random.randbytes(20)))


def can_be_sent(message: Any, api: Api, version: int) -> bool:
    """Some numbers are too large for their field, and not every version can say null."""
    try:
        encode_request(api.key, version, 1, "x", message)
    except (WireError, TypeError, AttributeError):
        return False
    return True


@pytest.fixture(scope="module")
def broker() -> Broker:
    broker = Broker(group_initial_rebalance_delay_ms="0", num_partitions="2")
    broker.create_topic("orders", 3)
    broker.create_topic("table", 1, cleanup_policy="compact")
    broker.init_producer("shop")
    broker.produce("orders", b"a")
    return broker


@pytest.mark.parametrize("api_key", HANDLED_KEYS, ids=lambda key: API_TABLE[key].name)
def test_no_request_breaks_the_broker(broker: Broker, api_key: int) -> None:
    api = API_TABLE[api_key]
    random = Random(api_key)
    sent_count = 0
    for number in range(REQUESTS_PER_API):
        topics = broker.core.state.catalogue.topics.values()
        message = Inventor(random, [topic.topic_id for topic in topics]).message(api.request_class)
        version = random.randint(api.min_version, api.max_version)
        if can_be_sent(message, api, version):
            sent_count += 1
            broker.send(message, version, connection=1 + number % 3)
            broker.commit()
    assert sent_count > REQUESTS_PER_API / 4
    broker.sleep(1_000)
    broker.create_topic(f"after-{api_key}")
    assert broker.produce(f"after-{api_key}", b"a").error_code == ErrorCode.NONE


def test_what_they_left_behind_can_be_recovered(broker: Broker) -> None:
    for reopened in (broker.after_kill(), broker.restarted()):
        assert reopened.core.state.catalogue.topics.keys() == broker.core.state.catalogue.topics.keys()
        assert dump_groups(reopened.core.state.groups) == dump_groups(broker.core.state.groups)
        assert reopened.core.state.transactions.transactions == broker.core.state.transactions.transactions
        for topic_partition, log in broker.core.state.logs.items():
            recovered = reopened.core.state.logs[topic_partition].state
            assert recovered.log_start_offset == log.state.log_start_offset
            assert recovered.producers == log.state.producers
