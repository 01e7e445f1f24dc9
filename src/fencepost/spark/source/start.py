"""Where a query begins, and where a batch query ends: the choice that options made, resolved against the cluster."""

from fencepost.spark.offsets import SourceOffsets
from fencepost.spark.options import InvalidOption
from fencepost.spark.source.choices import EARLIEST, LATEST, OffsetChoice
from fencepost.spark.source.cluster import SourceCluster
from fencepost.spark.source.following import LossPolicy, overtaken, truncated
from fencepost.types import NO_OFFSET, TopicPartition


def resolve_start(
    cluster: SourceCluster, choice: OffsetChoice, policy: LossPolicy, *, latest_without_match: bool
) -> SourceOffsets:
    """The first offset to read in each partition."""
    found = _chosen(cluster, choice)
    positions = _positions(cluster, choice, found)
    unmatched = [topic_partition for topic_partition, offset in positions.items() if offset == NO_OFFSET]
    if unmatched and not latest_without_match:
        raise InvalidOption(
            f"option '{choice.option}': nothing was written at or after that time in {', '.join(map(str, unmatched))}; "
            "choose an earlier time, or set startingOffsetsByTimestampStrategy to latest"
        )
    positions.update(cluster.latest(unmatched))
    if choice.offsets is not None:
        positions = _within(cluster, positions, policy)
    return found.at(positions)


def resolve_end(cluster: SourceCluster, choice: OffsetChoice) -> SourceOffsets:
    """The first offset not to read in each partition; where nothing is as young as the time asked for, its end."""
    found = _chosen(cluster, choice)
    positions = _positions(cluster, choice, found)
    latest = cluster.latest(positions)
    for topic_partition, offset in positions.items():
        if offset == NO_OFFSET:
            positions[topic_partition] = latest[topic_partition]
        elif offset > latest[topic_partition]:
            raise InvalidOption(
                f"option '{choice.option}': {topic_partition} ends at offset {latest[topic_partition]}, before offset "
                f"{offset}; choose an offset that is there, or -1 for the end"
            )
    return found.at(positions)


def _chosen(cluster: SourceCluster, choice: OffsetChoice) -> SourceOffsets:
    found = cluster.partitions()
    cluster.check_existence(found)
    if choice.named is not None and choice.named != set(found.positions):
        missing, unknown = (
            ", ".join(map(str, sorted(some))) or "none"
            for some in (set(found.positions) - choice.named, choice.named - set(found.positions))
        )
        raise InvalidOption(
            f"option '{choice.option}' has to name exactly the partitions that are read; missing: {missing}; "
            f"not read: {unknown}"
        )
    return found


def _positions(cluster: SourceCluster, choice: OffsetChoice, found: SourceOffsets) -> dict[TopicPartition, int]:
    """Offsets as they are chosen; NO_OFFSET where nothing fits a time."""
    if isinstance(choice.timestamps_ms, int):
        return cluster.offsets_at(dict.fromkeys(found.positions, choice.timestamps_ms))
    if choice.timestamps_ms is not None:
        return cluster.offsets_at(choice.timestamps_ms)
    chosen = dict.fromkeys(found.positions, choice.everywhere) if choice.offsets is None else dict(choice.offsets)
    named = {topic_partition: offset for topic_partition, offset in chosen.items() if offset in (EARLIEST, LATEST)}
    return {**chosen, **cluster.offsets_at(named)}


def _within(
    cluster: SourceCluster, positions: dict[TopicPartition, int], policy: LossPolicy
) -> dict[TopicPartition, int]:
    """The same offsets, if the partitions have them; others are a loss, and moved to what is there."""
    earliest, latest = cluster.earliest(positions), cluster.latest(positions)
    moved = dict(positions)
    for topic_partition, offset in positions.items():
        if offset < earliest[topic_partition]:
            policy.report(overtaken(topic_partition, expected=offset, available=earliest[topic_partition]))
            moved[topic_partition] = earliest[topic_partition]
        elif offset > latest[topic_partition]:
            policy.report(truncated(topic_partition, expected=offset, available=latest[topic_partition]))
            moved[topic_partition] = latest[topic_partition]
    return moved
