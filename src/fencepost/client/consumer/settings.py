"""Settings of a consumer: Kafka's names and, but for three, Kafka's defaults.

The three: `isolation_level` is read_committed, `enable_auto_commit` is false, because offsets belong to the transaction
or to the program, and `group_protocol` is auto: KIP-848 where the cluster has it, the classic protocol elsewhere.
"""

from dataclasses import dataclass

from fencepost.client.settings import ClientSettings
from fencepost.settings import INT32_MAX, InvalidSetting, declare, nearest

ASSIGNORS = ("range", "roundrobin", "cooperative-sticky")
DEFAULT_ASSIGNORS = ("range", "cooperative-sticky")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings(ClientSettings):
    """What a consumer adds."""

    group_id: str = declare("", "group that shares the partitions, and whose offsets are committed")
    group_instance_id: str = declare("", "identity of a static member; it outlives this consumer")
    group_protocol: str = declare(
        "auto",
        "consumer: KIP-848; classic; auto: the first if the cluster has it",
        choices=("auto", "consumer", "classic"),
    )
    group_remote_assignor: str = declare("", "assignor of the coordinator (KIP-848); none: the coordinator's choice")
    partition_assignment_strategy: str = declare(
        "", "assignors of the classic protocol, in order of preference; none: range,cooperative-sticky"
    )
    session_timeout_ms: int = declare(45_000, "a silent member is out after this (classic)", unit="ms", minimum=1)
    heartbeat_interval_ms: int = declare(3000, "pause between heartbeats (classic)", unit="ms", minimum=1)
    max_poll_interval_ms: int = declare(
        300_000, "a member that does not poll for this long leaves its group", unit="ms", minimum=1, maximum=INT32_MAX
    )
    max_poll_records: int = declare(500, "most records of one poll", minimum=1)

    auto_offset_reset: str = declare(
        "latest", "where to start without a committed offset", choices=("earliest", "latest", "none")
    )
    enable_auto_commit: bool = declare(False, "commit what was handed out from time to time")
    auto_commit_interval_ms: int = declare(5000, "pause between such commits", unit="ms", minimum=0)
    isolation_level: str = declare(
        "read_committed", "whether to wait for the end of transactions", choices=("read_committed", "read_uncommitted")
    )
    allow_auto_create_topics: bool = declare(True, "let the broker create a topic that is subscribed to")

    fetch_min_bytes: int = declare(1, "an answer waits for so many bytes", unit="bytes", minimum=0)
    fetch_max_wait_ms: int = declare(500, "but no longer than this", unit="ms", minimum=0)
    fetch_max_bytes: int = declare(52_428_800, "largest answer of one broker", unit="bytes", minimum=0)
    max_partition_fetch_bytes: int = declare(1_048_576, "most bytes of one partition in it", unit="bytes", minimum=0)
    check_crcs: bool = declare(True, "check every batch's checksum")
    default_api_timeout_ms: int = declare(60_000, "how long a call without a timeout may take", unit="ms", minimum=0)

    def __post_init__(self) -> None:
        if self.enable_auto_commit and not self.group_id:
            raise InvalidSetting("enable.auto.commit=true needs group.id: there is no group to commit for")
        if self.group_instance_id and not self.group_id:
            raise InvalidSetting(f"group.instance.id={self.group_instance_id} needs group.id")
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            raise InvalidSetting(
                f"heartbeat.interval.ms={self.heartbeat_interval_ms} must be less than "
                f"session.timeout.ms={self.session_timeout_ms}, a third of it at most"
            )
        if self.group_protocol == "consumer" and self.partition_assignment_strategy:
            raise InvalidSetting(
                "partition.assignment.strategy goes with group.protocol=classic; "
                "in KIP-848 the coordinator assigns: see group.remote.assignor"
            )
        for name in self.assignors:
            if name not in ASSIGNORS:
                raise InvalidSetting(
                    f"partition.assignment.strategy={name}: expected one of {', '.join(ASSIGNORS)}"
                    f"{nearest(name, ASSIGNORS)}"
                )

    @property
    def assignors(self) -> tuple[str, ...]:
        given = tuple(name.strip() for name in self.partition_assignment_strategy.split(",") if name.strip())
        return given or DEFAULT_ASSIGNORS

    @property
    def is_read_committed(self) -> bool:
        return self.isolation_level == "read_committed"
