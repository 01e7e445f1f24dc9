"""The topic catalogue: which topics there are, their settings, and which partition reference each partition has.

The catalogue is a fold over its own stream in the journal (`CATALOGUE_REF`), whose records are small JSON documents:
readable in a dump, extensible by adding fields. `decide_*` return such records and change nothing; `apply` folds one
in and never refuses. A partition reference is given once and never again, so frames of a deleted topic can lie in the
journal beside a new topic of the same name.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from fencepost.errors import ErrorCode, InvariantBroken, Refusal
from fencepost.settings import InvalidSetting, TopicSettings, parse_settings

CATALOGUE_REF = 0
FIRST_PARTITION_REF = 1
OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTION_TOPIC})
PARTITIONS_MAX = 100_000
LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")

CatalogueRecord = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic. `partition_refs[i]` is the partition reference of partition i."""

    name: str
    topic_id: UUID
    partition_refs: tuple[int, ...]
    replication_factor: int
    overrides: Mapping[str, str]
    settings: TopicSettings

    @property
    def is_internal(self) -> bool:
        return self.name in INTERNAL_TOPICS


@dataclass(slots=True)
class Catalogue:
    """All topics. Only `apply` changes it."""

    defaults: TopicSettings
    topics: dict[str, Topic] = field(default_factory=dict)
    names_by_id: dict[UUID, str] = field(default_factory=dict)
    next_ref: int = FIRST_PARTITION_REF
    broker_epoch: int = 0
    cluster_id: str = ""

    def topic_by_id(self, topic_id: UUID) -> Topic | None:
        name = self.names_by_id.get(topic_id)
        return None if name is None else self.topics[name]


def check_name(name: str) -> Refusal | None:
    if name in (".", "..") or not LEGAL_NAME.fullmatch(name):
        return Refusal(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"topic name {name!r} is not legal: 1 to 249 of the characters a-z, A-Z, 0-9, '.', '_' and '-' are",
        )
    return None


def check_overrides(catalogue: Catalogue, overrides: Mapping[str, str]) -> Refusal | None:
    try:
        parse_settings(TopicSettings, overrides, base=catalogue.defaults)
    except InvalidSetting as problem:
        return Refusal(ErrorCode.INVALID_CONFIG, str(problem))
    return None


def decide_create_topic(
    catalogue: Catalogue,
    name: str,
    *,
    topic_id: UUID,
    partition_count: int,
    replication_factor: int,
    overrides: Mapping[str, str],
) -> CatalogueRecord | Refusal:
    if refusal := check_name(name):
        return refusal
    if name in catalogue.topics:
        return Refusal(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    if (collision := _colliding_name(catalogue, name)) is not None:
        return Refusal(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"topic '{name}' collides with '{collision}': '.' and '_' count as the same in metric names",
        )
    if not 0 < partition_count <= PARTITIONS_MAX:
        return Refusal(
            ErrorCode.INVALID_PARTITIONS, f"{partition_count} partitions asked for; expected 1 to {PARTITIONS_MAX}"
        )
    if replication_factor < 1:
        return Refusal(
            ErrorCode.INVALID_REPLICATION_FACTOR, f"replication factor {replication_factor}; expected 1 or more"
        )
    if refusal := check_overrides(catalogue, overrides):
        return refusal
    return {
        "kind": "topic-created",
        "name": name,
        "topic_id": str(topic_id),
        "first_ref": catalogue.next_ref,
        "partitions": partition_count,
        "replication_factor": replication_factor,
        "overrides": dict(overrides),
    }


def _colliding_name(catalogue: Catalogue, name: str) -> str | None:
    if "." not in name and "_" not in name:
        return None
    folded = name.replace(".", "_")
    return next((other for other in catalogue.topics if other.replace(".", "_") == folded), None)


def decide_delete_topic(catalogue: Catalogue, name: str) -> CatalogueRecord | Refusal:
    if name not in catalogue.topics:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
    if name in INTERNAL_TOPICS:
        return Refusal(ErrorCode.INVALID_REQUEST, f"'{name}' is an internal topic: the broker lives on it")
    return {"kind": "topic-deleted", "name": name}


def decide_add_partitions(catalogue: Catalogue, name: str, *, partition_count: int) -> CatalogueRecord | Refusal:
    topic = catalogue.topics.get(name)
    if topic is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
    existing = len(topic.partition_refs)
    if topic.is_internal:
        return Refusal(ErrorCode.INVALID_REQUEST, f"'{name}' is an internal topic: its partition count is fixed")
    if partition_count <= existing or partition_count > PARTITIONS_MAX:
        return Refusal(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {name} currently has {existing} partition(s); {partition_count} would not be an increase"
            if partition_count <= existing
            else f"{partition_count} partitions asked for; expected at most {PARTITIONS_MAX}",
        )
    return {
        "kind": "partitions-added",
        "name": name,
        "first_ref": catalogue.next_ref,
        "partitions": partition_count - existing,
    }


def decide_change_settings(
    catalogue: Catalogue, name: str, *, overrides: Mapping[str, str]
) -> CatalogueRecord | Refusal:
    if name not in catalogue.topics:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    if refusal := check_overrides(catalogue, overrides):
        return refusal
    return {"kind": "settings-changed", "name": name, "overrides": dict(overrides)}


def encode_record(record: CatalogueRecord) -> bytes:
    return json.dumps(record, separators=(",", ":"), sort_keys=True).encode()


def decode_record(value: bytes) -> CatalogueRecord:
    record = json.loads(value)
    if not isinstance(record, dict) or "kind" not in record:
        raise InvariantBroken(f"a catalogue record is a JSON object with a kind, not {value[:80]!r}")
    return record


def as_records(catalogue: Catalogue) -> list[CatalogueRecord]:
    """Records that rebuild the catalogue as it is, for a checkpoint."""
    records: list[CatalogueRecord] = []
    for topic in catalogue.topics.values():
        (first_ref, count), *later_runs = _runs(topic.partition_refs)
        created = {
            "kind": "topic-created",
            "name": topic.name,
            "topic_id": str(topic.topic_id),
            "first_ref": first_ref,
            "partitions": count,
            "replication_factor": topic.replication_factor,
            "overrides": dict(topic.overrides),
        }
        added = [
            {"kind": "partitions-added", "name": topic.name, "first_ref": first_ref, "partitions": count}
            for first_ref, count in later_runs
        ]
        records += [created, *added]
    records.append({"kind": "refs-used", "next_ref": catalogue.next_ref})
    started = {"kind": "broker-started", "epoch": catalogue.broker_epoch, "cluster_id": catalogue.cluster_id}
    return [*records, started]


def _runs(partition_refs: tuple[int, ...]) -> list[tuple[int, int]]:
    """Neighbouring references as (first, count)."""
    runs: list[tuple[int, int]] = []
    for ref in partition_refs:
        if runs and ref == sum(runs[-1]):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((ref, 1))
    return runs


def apply(catalogue: Catalogue, record: CatalogueRecord) -> None:
    _APPLY[record["kind"]](catalogue, record)


def topic_of(catalogue: Catalogue, record: CatalogueRecord) -> Topic:
    """The topic that a record of its creation makes."""
    first_ref, count = record["first_ref"], record["partitions"]
    return Topic(
        name=record["name"],
        topic_id=UUID(record["topic_id"]),
        partition_refs=tuple(range(first_ref, first_ref + count)),
        replication_factor=record["replication_factor"],
        overrides=record["overrides"],
        settings=parse_settings(TopicSettings, record["overrides"], base=catalogue.defaults),
    )


def _apply_topic_created(catalogue: Catalogue, record: CatalogueRecord) -> None:
    topic = topic_of(catalogue, record)
    catalogue.topics[topic.name] = topic
    catalogue.names_by_id[topic.topic_id] = topic.name
    catalogue.next_ref = max(catalogue.next_ref, record["first_ref"] + record["partitions"])


def _apply_topic_deleted(catalogue: Catalogue, record: CatalogueRecord) -> None:
    topic = catalogue.topics.pop(record["name"])
    del catalogue.names_by_id[topic.topic_id]


def _apply_partitions_added(catalogue: Catalogue, record: CatalogueRecord) -> None:
    topic = catalogue.topics[record["name"]]
    first_ref, count = record["first_ref"], record["partitions"]
    refs = topic.partition_refs + tuple(range(first_ref, first_ref + count))
    catalogue.topics[topic.name] = replace(topic, partition_refs=refs)
    catalogue.next_ref = max(catalogue.next_ref, first_ref + count)


def _apply_settings_changed(catalogue: Catalogue, record: CatalogueRecord) -> None:
    topic = catalogue.topics[record["name"]]
    overrides = record["overrides"]
    settings = parse_settings(TopicSettings, overrides, base=catalogue.defaults)
    catalogue.topics[topic.name] = replace(topic, overrides=overrides, settings=settings)


def _apply_refs_used(catalogue: Catalogue, record: CatalogueRecord) -> None:
    catalogue.next_ref = record["next_ref"]


def _apply_broker_started(catalogue: Catalogue, record: CatalogueRecord) -> None:
    catalogue.broker_epoch = record["epoch"]
    catalogue.cluster_id = record["cluster_id"]


def _apply_to_partitions(_catalogue: Catalogue, _record: CatalogueRecord) -> None:
    """The state of a partition holds it; the stream only makes it durable."""


_APPLY = {
    "topic-created": _apply_topic_created,
    "topic-deleted": _apply_topic_deleted,
    "partitions-added": _apply_partitions_added,
    "settings-changed": _apply_settings_changed,
    "broker-started": _apply_broker_started,
    "refs-used": _apply_refs_used,
    "log-start-moved": _apply_to_partitions,
    "aborted-data-cleaned": _apply_to_partitions,
}
