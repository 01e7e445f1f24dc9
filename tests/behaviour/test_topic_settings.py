"""Settings of topics: names, types, defaults and limits are Kafka's, also of those that mean nothing to one journal."""

import pytest

from fencepost.broker.configs import ConfigType
from fencepost.errors import ErrorCode
from fencepost.settings import TopicSettings, as_text, declarations
from fencepost.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.behaviour.conftest import SETTINGS
from tests.behaviour.peer import Peer, until
from tests.behaviour.test_topics import create

TOPIC = 2
KNOWN = declarations(TopicSettings)
EXPECTED = {name: as_text(known.default) for name, known in KNOWN.items()} | {
    "retention.ms": SETTINGS["log.retention.ms"]
}
OTHER_VALUES = {
    "delete.retention.ms": "5000",
    "file.delete.delay.ms": "0",
    "flush.messages": "1",
    "flush.ms": "1000",
    "index.interval.bytes": "1024",
    "min.cleanable.dirty.ratio": "0.1",
    "preallocate": "true",
    "segment.index.bytes": "1024",
    "segment.jitter.ms": "10",
    "unclean.leader.election.enable": "true",
}
BAD_VALUES = {
    "min.cleanable.dirty.ratio": ("1.5", "-0.1", "often", "nan"),
    "flush.messages": ("0", "1.5"),
    "preallocate": ("perhaps",),
    "segment.index.bytes": ("3",),
}


def described(peer: Peer, topic: str) -> dict[str, tuple[str | None, int]]:
    request = DescribeConfigsRequest([DescribeConfigsResource(TOPIC, topic, list(KNOWN))])
    answer = until(lambda: peer.put(request, 4).results[0], lambda found: found.error_code == 0)
    return {row.name: (row.value, row.config_type) for row in answer.configs}


def test_defaults_and_types_are_kafkas(peer: Peer) -> None:
    topic = peer.name("settings")
    assert create(peer, topic) == 0
    found = described(peer, topic)
    assert {name: value for name, (value, _) in found.items()} == EXPECTED
    types = {name: ConfigType(config_type) for name, (_, config_type) in found.items()}
    assert types["min.cleanable.dirty.ratio"] is ConfigType.DOUBLE
    assert types["flush.messages"] is types["segment.jitter.ms"] is ConfigType.LONG
    assert types["segment.index.bytes"] is ConfigType.INT
    assert types["preallocate"] is ConfigType.BOOLEAN


def test_other_values_are_kept(peer: Peer) -> None:
    topic = peer.name("settings")
    assert create(peer, topic, **{name.replace(".", "_"): value for name, value in OTHER_VALUES.items()}) == 0
    assert {name: value for name, (value, _) in described(peer, topic).items()} == EXPECTED | OTHER_VALUES


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD_VALUES.items() for value in values])
def test_bad_values_are_refused(peer: Peer, name: str, value: str) -> None:
    topic = peer.name("settings")
    assert create(peer, topic, **{name.replace(".", "_"): value}) == ErrorCode.INVALID_CONFIG
