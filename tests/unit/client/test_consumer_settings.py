"""Settings of a consumer, checked each for itself and together."""

from typing import Any

import pytest

from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.settings import client_settings
from fencepost.settings import InvalidSetting


def settings(**given: Any) -> ConsumerSettings:
    return client_settings(ConsumerSettings, given, kind="consumer")


def test_defaults_are_kafkas_but_for_three() -> None:
    found = settings()
    assert (found.isolation_level, found.enable_auto_commit, found.group_protocol) == ("read_committed", False, "auto")
    assert (found.max_poll_records, found.fetch_max_wait_ms, found.auto_offset_reset) == (500, 500, "latest")
    assert (found.session_timeout_ms, found.heartbeat_interval_ms, found.max_poll_interval_ms) == (
        45_000,
        3000,
        300_000,
    )
    assert (found.fetch_min_bytes, found.fetch_max_bytes, found.max_partition_fetch_bytes) == (1, 52_428_800, 1_048_576)
    assert found.assignors == ("range", "cooperative-sticky")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"enable_auto_commit": True}, "needs group.id"),
        ({"group_instance_id": "a"}, "needs group.id"),
        ({"group_id": "g", "heartbeat_interval_ms": 45_000}, "less than session.timeout.ms"),
        ({"group_protocol": "consumer", "partition_assignment_strategy": "range"}, "group.remote.assignor"),
        ({"partition_assignment_strategy": "range,cooperative-stick"}, "did you mean 'cooperative-sticky'"),
        ({"isolation_level": "committed"}, "read_committed"),
        ({"auto_offset_reset": "oldest"}, "earliest"),
        ({"max_poll_record": 1}, "did you mean 'max_poll_records'"),
        ({"max_poll_records": 0}, "at least 1"),
    ],
)
def test_what_cannot_be_is_refused_with_a_hint(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        settings(**given)
    assert says in str(refused.value)
