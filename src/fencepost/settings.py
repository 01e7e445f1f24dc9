"""Settings, each declared once: Kafka's name, default, unit, bounds, help.

A field name with its underscores read as dots is the setting's name in Kafka (`num_partitions` is `num.partitions`).
`parse_settings` turns the text that people give (command line, environment, TOML) into values, and refuses an unknown
or bad one by name. Reading those places is the shell's job; this file only knows names and values.
"""

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fencepost.errors import FencepostError

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

T = TypeVar("T")


class InvalidSetting(FencepostError):  # noqa: N818
    """A setting that does not exist, or a value that it cannot have."""


def declare(
    default: T,
    help: str,
    *,
    unit: str = "",
    minimum: int | None = None,
    maximum: int | None = None,
    choices: tuple[str, ...] = (),
) -> T:
    """One setting. Returns a dataclass field, typed as its default so that the class reads like plain values."""
    metadata = {"help": help, "unit": unit, "minimum": minimum, "maximum": maximum, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


CLEANUP_POLICIES = ("delete", "compact", "compact,delete", "delete,compact")
COMPRESSION_TYPES = ("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd")
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """Settings of one broker."""

    # Identity and connections
    node_id: int = declare(1, "id of this broker, as clients see it in metadata", minimum=0)
    max_connections: int = declare(4096, "connections held at once; further ones are closed at once", minimum=1)
    connections_max_idle_ms: int = declare(
        600_000, "a connection that is silent for this long is closed", unit="ms", minimum=1
    )
    socket_request_max_bytes: int = declare(
        104_857_600, "largest request that is read; a larger one closes the connection", unit="bytes", minimum=1024
    )
    request_read_timeout_ms: int = declare(
        30_000, "a request whose bytes take longer than this to arrive closes the connection", unit="ms", minimum=1
    )
    queued_max_requests: int = declare(
        100, "requests of one connection that may wait for an answer before it is no longer read", minimum=1
    )

    # Topics
    auto_create_topics_enable: bool = declare(True, "create a topic when a client names one that does not exist")
    num_partitions: int = declare(
        1, "partitions of a topic that is created without a count", minimum=1, maximum=100_000
    )
    default_replication_factor: int = declare(
        1, "replication factor of a topic that is created without one; one copy is kept whatever it says", minimum=1
    )
    delete_topic_enable: bool = declare(True, "allow topics to be deleted")
    message_max_bytes: int = declare(
        1_048_588, "largest record batch (topic setting max.message.bytes)", unit="bytes", minimum=0
    )
    compression_type: str = declare("producer", "codec that batches are stored with", choices=COMPRESSION_TYPES)
    log_message_timestamp_type: str = declare(
        "CreateTime", "whose clock stamps records: the producer's or the broker's", choices=TIMESTAMP_TYPES
    )
    log_cleanup_policy: str = declare("delete", "what happens to old records", choices=CLEANUP_POLICIES)
    log_retention_ms: int = declare(
        604_800_000, "age at which records are dropped; -1 keeps them", unit="ms", minimum=-1
    )
    log_retention_bytes: int = declare(
        -1, "size of a partition above which old records are dropped; -1: no limit", unit="bytes", minimum=-1
    )
    log_retention_check_interval_ms: int = declare(
        300_000, "how often old records are looked for", unit="ms", minimum=1
    )

    # The journal
    log_segment_bytes: int = declare(
        67_108_864, "size of one segment of the journal", unit="bytes", minimum=4096, maximum=2**30
    )
    fsync: str = declare(
        "always",
        "always: acknowledged means on disk; never: the operating system writes when it likes, Kafka's default",
        choices=("always", "never"),
    )

    # Fetch
    fetch_max_bytes: int = declare(57_671_680, "largest answer to one fetch", unit="bytes", minimum=1024)
    max_incremental_fetch_session_cache_slots: int = declare(1000, "fetch sessions kept", minimum=0)

    # Producers and transactions
    producer_id_expiration_ms: int = declare(
        86_400_000, "a silent producer id is forgotten after this", unit="ms", minimum=1
    )
    producer_id_expiration_check_interval_ms: int = declare(
        600_000, "how often silent producer ids are looked for", unit="ms", minimum=1
    )
    transaction_version: int = declare(
        2,
        "transaction.version offered to clients: 1 is the classic flow, 2 bumps the epoch at every end (KIP-890)",
        minimum=1,
        maximum=2,
    )
    transaction_max_timeout_ms: int = declare(
        900_000, "longest transaction timeout that a producer may ask for", unit="ms", minimum=1
    )
    transaction_state_log_num_partitions: int = declare(
        50, "partitions of __transaction_state; fixed once data exists", minimum=1
    )
    transaction_partition_verification_enable: bool = declare(
        True, "refuse transactional records for a partition that was not added to the transaction"
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = declare(
        10_000, "how often timed-out transactions are looked for", unit="ms", minimum=1
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = declare(
        3_600_000, "how often expired transactional ids are looked for", unit="ms", minimum=1
    )
    transactional_id_expiration_ms: int = declare(
        604_800_000, "a transactional id without a transaction is forgotten after this", unit="ms", minimum=1
    )
    transaction_two_phase_commit_enable: bool = declare(
        False, "producers may keep a prepared transaction for ever and decide it later (KIP-939, InitProducerId v6)"
    )
    transactional_ids_max: int = declare(100_000, "transactional ids held at once", minimum=1)

    # Groups
    offsets_topic_num_partitions: int = declare(
        50, "partitions of __consumer_offsets; fixed once data exists", minimum=1
    )
    offset_metadata_max_bytes: int = declare(4096, "largest metadata of an offset commit", unit="bytes", minimum=0)
    offsets_retention_minutes: int = declare(
        10_080, "offsets of an empty group are dropped after this", unit="minutes", minimum=1
    )
    offsets_retention_check_interval_ms: int = declare(
        600_000, "how often expired offsets are looked for", unit="ms", minimum=1
    )
    group_initial_rebalance_delay_ms: int = declare(
        3000, "how long a new group waits for more members", unit="ms", minimum=0
    )
    group_min_session_timeout_ms: int = declare(
        6000, "shortest session timeout of a classic group member", unit="ms", minimum=1
    )
    group_max_session_timeout_ms: int = declare(
        1_800_000, "longest session timeout of a classic group member", unit="ms", minimum=1
    )
    group_max_size: int = declare(INT32_MAX, "members of one group", minimum=1)
    groups_max: int = declare(100_000, "groups held at once", minimum=1)
    group_consumer_session_timeout_ms: int = declare(45_000, "session timeout of KIP-848 groups", unit="ms", minimum=1)
    group_consumer_heartbeat_interval_ms: int = declare(
        5000, "heartbeat interval of KIP-848 groups", unit="ms", minimum=1
    )
    group_consumer_max_size: int = declare(INT32_MAX, "members of one KIP-848 group", minimum=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings:
    """Settings of one topic. What a topic does not set comes from the broker (`topic_defaults`)."""

    cleanup_policy: str = declare("delete", "what happens to old records", choices=CLEANUP_POLICIES)
    compression_type: str = declare("producer", "codec that batches are stored with", choices=COMPRESSION_TYPES)
    max_message_bytes: int = declare(1_048_588, "largest record batch", unit="bytes", minimum=0)
    message_timestamp_type: str = declare(
        "CreateTime", "whose clock stamps records: the producer's or the broker's", choices=TIMESTAMP_TYPES
    )
    retention_ms: int = declare(604_800_000, "age at which records are dropped; -1 keeps them", unit="ms", minimum=-1)
    retention_bytes: int = declare(
        -1, "size of a partition above which old records are dropped; -1: no limit", unit="bytes", minimum=-1
    )
    segment_bytes: int = declare(
        1_073_741_824, "accepted for Kafka's sake; the journal has one segment size", unit="bytes", minimum=14
    )
    segment_ms: int = declare(604_800_000, "accepted for Kafka's sake; the journal rolls by size", unit="ms", minimum=1)
    delete_retention_ms: int = declare(86_400_000, "how long a compacted topic keeps tombstones", unit="ms", minimum=0)
    min_compaction_lag_ms: int = declare(0, "age below which a record is not compacted away", unit="ms", minimum=0)
    min_insync_replicas: int = declare(1, "accepted for Kafka's sake; one copy is kept", minimum=1)
    unclean_leader_election_enable: bool = declare(False, "accepted for Kafka's sake; one copy is kept")
    min_cleanable_dirty_ratio: float = declare(
        0.5, "accepted for Kafka's sake; sealed segments are compacted when they are due", minimum=0, maximum=1
    )
    flush_messages: int = declare(
        INT64_MAX, "accepted for Kafka's sake; what is acknowledged is on disk", unit="records", minimum=1
    )
    flush_ms: int = declare(
        INT64_MAX, "accepted for Kafka's sake; what is acknowledged is on disk", unit="ms", minimum=0
    )
    segment_jitter_ms: int = declare(0, "accepted for Kafka's sake; the journal rolls by size", unit="ms", minimum=0)
    segment_index_bytes: int = declare(
        10_485_760, "accepted for Kafka's sake; the journal has its own index", unit="bytes", minimum=4
    )
    index_interval_bytes: int = declare(
        4096, "accepted for Kafka's sake; the journal has its own index", unit="bytes", minimum=0
    )
    file_delete_delay_ms: int = declare(
        60_000, "accepted for Kafka's sake; a dropped segment goes at once", unit="ms", minimum=0
    )
    preallocate: bool = declare(False, "accepted for Kafka's sake; segments of the journal always are")


def topic_defaults(broker: BrokerSettings) -> TopicSettings:
    return TopicSettings(
        cleanup_policy=broker.log_cleanup_policy,
        compression_type=broker.compression_type,
        max_message_bytes=broker.message_max_bytes,
        message_timestamp_type=broker.log_message_timestamp_type,
        retention_ms=broker.log_retention_ms,
        retention_bytes=broker.log_retention_bytes,
    )


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is known about one setting."""

    name: str
    field_name: str
    value_type: type
    default: Any
    help: str
    unit: str
    minimum: int | None
    maximum: int | None
    choices: tuple[str, ...]


def declarations(settings_class: type[Any]) -> dict[str, Declaration]:
    """All settings of a class by Kafka's names, in the order of declaration."""
    found = {}
    for field in dataclasses.fields(settings_class):
        name = field.name.replace("_", ".")
        found[name] = Declaration(
            name=name, field_name=field.name, value_type=type(field.default), default=field.default, **field.metadata
        )
    return found


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name, or nothing."""
    match = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{match[0]}'?" if match else ""


def parse_value(declaration: Declaration, text: str) -> Any:
    """The value that `text` stands for, or `InvalidSetting` saying what was expected."""
    wanted = describe_values(declaration)
    if declaration.value_type is bool:
        if text.lower() not in ("true", "false"):
            raise InvalidSetting(f"{declaration.name}={text}: expected {wanted}")
        return text.lower() == "true"
    if declaration.value_type in (int, float):
        try:
            number = declaration.value_type(text)
        except ValueError:
            raise InvalidSetting(f"{declaration.name}={text}: expected {wanted}") from None
        low, high = bounds(declaration)
        if not low <= number <= high:
            raise InvalidSetting(f"{declaration.name}={text}: expected {wanted}")
        return number
    if declaration.choices and text not in declaration.choices:
        raise InvalidSetting(f"{declaration.name}={text}: expected {wanted}{nearest(text, declaration.choices)}")
    return text


def bounds(declaration: Declaration) -> tuple[int, int]:
    low = -INT64_MAX if declaration.minimum is None else declaration.minimum
    high = INT64_MAX if declaration.maximum is None else declaration.maximum
    return low, high


def describe_values(declaration: Declaration) -> str:
    """What a setting can be, as text for people."""
    if declaration.value_type is bool:
        return "true or false"
    if declaration.choices:
        return "one of " + ", ".join(declaration.choices)
    if declaration.value_type in (int, float):
        limits = []
        if declaration.minimum is not None:
            limits.append(f"at least {declaration.minimum}")
        if declaration.maximum is not None:
            limits.append(f"at most {declaration.maximum}")
        return " ".join(
            [
                "a whole number" if declaration.value_type is int else "a number",
                *(["of", declaration.unit] if declaration.unit else []),
                ", ".join(limits),
            ]
        ).strip()
    return "text"


def parse_assignments(option: str, texts: Iterable[str], *, example: str, form: str = "NAME=VALUE") -> dict[str, str]:
    """What an option that takes NAME=VALUE was given, each time that it was given."""
    given = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name.strip():
            raise InvalidSetting(f"{option} {text}: expected {form}, for example {option} {example}")
        given[name.strip()] = value.strip()
    return given


def parse_settings(settings_class: type[T], given: Mapping[str, str], *, base: T | None = None) -> T:
    """`base` (or the defaults) with what was given on top. Refuses the first setting that is unknown or bad."""
    known = declarations(settings_class)
    changes = {}
    for name, text in given.items():
        if name not in known:
            raise InvalidSetting(f"unknown setting '{name}'{nearest(name, known)}")
        changes[known[name].field_name] = parse_value(known[name], text)
    start = settings_class() if base is None else base
    return dataclasses.replace(start, **changes)  # type: ignore[type-var]


def as_text(value: object) -> str:
    """A value as Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
