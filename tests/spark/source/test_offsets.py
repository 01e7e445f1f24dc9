"""The source's offset as JSON."""

import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.spark.offsets import InvalidSourceOffset, SourceOffsets, source_offsets
from fencepost.types import TopicPartition

TOPIC_ID = UUID("12345678-1234-5678-1234-567812345678")
topics = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
positions = st.dictionaries(
    st.builds(TopicPartition, topics, st.integers(0, 2**31 - 1)), st.integers(0, 2**63 - 1), max_size=20
)


@given(positions, st.none() | st.text(max_size=22), st.uuids())
def test_offsets_survive_json(where: dict[TopicPartition, int], cluster_id: str | None, topic_id: UUID) -> None:
    ids = {partition.topic: topic_id for partition in where}
    offsets = SourceOffsets(where, ids, cluster_id)
    assert source_offsets(json.dumps(offsets.to_json())) == offsets


@given(positions)
def test_equal_offsets_are_equal_text(where: dict[TopicPartition, int]) -> None:
    backwards = dict(reversed(where.items()))
    assert json.dumps(SourceOffsets(where).to_json()) == json.dumps(SourceOffsets(backwards).to_json())


def test_the_format_is_as_documented() -> None:
    offsets = SourceOffsets(
        {TopicPartition("purchases", 10): 42, TopicPartition("purchases", 9): 17}, {"purchases": TOPIC_ID}, "c"
    )
    assert json.dumps(offsets.to_json()) == (
        '{"fencepost": 1, "cluster": "c", "topics": {"purchases": {"id": "12345678-1234-5678-1234-567812345678", '
        '"partitions": {"9": 17, "10": 42}}}}'
    )


def test_offsets_of_sparks_kafka_source_have_no_ids() -> None:
    found = source_offsets('{"purchases":{"0":42,"1":17},"returns":{"0":1}}')
    assert found is not None
    assert found.positions == {
        TopicPartition("purchases", 0): 42,
        TopicPartition("purchases", 1): 17,
        TopicPartition("returns", 0): 1,
    }
    assert (found.topic_ids, found.cluster_id) == ({}, None)


@pytest.mark.parametrize(
    "text", ['{"logOffset": 3}', "42", '"42"', "not json", "{}", '{"a": {}}', '{"a": {"b": 1}}', "-"]
)
def test_offsets_of_other_sources_are_not_ours(text: str) -> None:
    assert source_offsets(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"fencepost": 2, "cluster": null, "topics": {}}',
        '{"fencepost": 1, "topics": {}}',
        '{"fencepost": 1, "cluster": null, "topics": {"t": {"id": "x", "partitions": {}}}}',
        '{"fencepost": 1, "cluster": null, "topics": {"t": {"id": null}}}',
        '{"fencepost": 1, "cluster": null, "topics": 3}',
    ],
)
def test_an_offset_of_ours_that_cannot_be_read_is_an_error_not_silence(text: str) -> None:
    with pytest.raises(InvalidSourceOffset):
        source_offsets(text)
