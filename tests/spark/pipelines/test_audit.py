"""The auditor, on hand-made topics: a right history is proved, and each way to be wrong is named with its offsets."""

from collections import defaultdict

import pytest
from pyspark.sql import functions as f

from fencepost.pipelines.audit import Finding, Place, audit
from fencepost.pipelines.audit_rules import KeyRule, PipelineRule, Span, key_and_value
from fencepost.pipelines.pipeline import InvalidPipeline, pipeline

pytestmark = pytest.mark.timeout(1800)
SCHEMA = "key binary, value binary, topic string, partition int, offset bigint"
INPUT = [("a", 0, 0), ("b", 0, 1), ("a", 0, 3), ("c", 1, 0), ("d", 1, 7)]
"""Key, partition, offset; the value is the place. Offsets have holes, as markers leave them."""


def value_of(key, partition, offset):
    return f"{key}{partition}{offset}"


def frame(spark, topic, rows):
    """Rows of (key, value, partition, offset), one task per partition as the source reads them."""
    cells = [(key.encode(), value.encode(), topic, partition, offset) for key, value, partition, offset in rows]
    return spark.createDataFrame(cells, SCHEMA).repartition(2, "partition").sortWithinPartitions("partition", "offset")


def purchases(spark):
    return frame(spark, "purchases", [(key, value_of(key, p, o), p, o) for key, p, o in INPUT])


@pipeline(name="shop", reads="purchases", writes=["invoices", "shipments"])
def shop(bought):
    return {
        "invoices": bought.select("key", f.concat(f.lit("i:"), f.col("value").cast("string")).alias("value")),
        "shipments": bought.select("key", f.concat(f.lit("s:"), f.col("value").cast("string")).alias("value")),
    }


def right_outputs():
    """Per output (key, value, partition, offset); an output's partition is the input's, offsets go on by two."""
    outputs = {}
    for topic, letter in (("invoices", "i"), ("shipments", "s")):
        next_offset = defaultdict(int)
        rows = []
        for key, partition, offset in INPUT:
            rows.append((key, f"{letter}:{value_of(key, partition, offset)}", partition, next_offset[partition]))
            next_offset[partition] += 2
        outputs[topic] = rows
    return outputs


def judged_by_pipeline(spark, outputs):
    return judged(spark, outputs, PipelineRule(shop, [purchases(spark)], {}))


def judged_by_key(spark, outputs):
    value = "cast(value as string)"
    return judged(spark, outputs, KeyRule(purchases(spark), ["invoices", "shipments"], value, f"substring({value}, 3)"))


def judged(spark, outputs, rule):
    tables = [
        frame(spark, topic, rows).select(
            f.lit(topic).alias("output"), rule.identity(topic).alias("identity"), "key", "partition", "offset"
        )
        for topic, rows in outputs.items()
    ]
    return audit(rule, tables[0].union(tables[1]), list(outputs))


def broken(findings):
    return [
        (one.kind, one.output, [str(place) for place in one.inputs], [str(place) for place in one.outputs])
        for one in findings
    ]


@pytest.mark.parametrize("judge", [judged_by_pipeline, judged_by_key])
def test_a_right_history_is_proved(spark, judge):
    verdict = judge(spark, right_outputs())
    assert verdict.is_exactly_once
    assert (verdict.input_count, verdict.output_counts) == (5, {"invoices": 5, "shipments": 5})


@pytest.mark.parametrize("judge", [judged_by_pipeline, judged_by_key])
def test_each_way_to_be_wrong_is_named_with_its_offsets(spark, judge):
    outputs = right_outputs()
    invoices, shipments = outputs["invoices"], outputs["shipments"]
    lost_invoice, lost_shipment = invoices.pop(1), shipments.pop(1)
    assert lost_invoice[0] == lost_shipment[0] == "b"
    torn = shipments.pop()
    assert torn[0] == "d"
    invoices.append(("c", "i:c10", 1, 20))
    shipments.append(("z", "s:z99", 0, 30))
    verdict = judge(spark, outputs)
    assert broken(verdict.findings) == [
        ("lost", "invoices", ["purchases-0@1"], []),
        ("lost", "shipments", ["purchases-0@1"], []),
        ("torn", "shipments", ["purchases-1@7"], []),
        ("duplicated", "invoices", [], ["invoices-1@0", "invoices-1@20"]),
        ("unexpected", "shipments", [], ["shipments-0@30"]),
    ]
    assert verdict.counts == {"lost": 2, "torn": 1, "duplicated": 1, "unexpected": 1, "reordered": 0}
    assert not verdict.is_exactly_once


@pytest.mark.parametrize("judge", [judged_by_pipeline, judged_by_key])
def test_two_records_of_one_key_in_the_other_order_are_reordered(spark, judge):
    outputs = right_outputs()
    (key, first, partition, low), other, (_, second, _, high), *rest = outputs["invoices"]
    outputs["invoices"] = [(key, second, partition, low), other, (key, first, partition, high), *rest]
    verdict = judge(spark, outputs)
    assert verdict.counts["reordered"] == 1
    assert broken(verdict.findings) == [("reordered", "invoices", [], [f"invoices-0@{high}", f"invoices-0@{low}"])]


def test_records_of_different_keys_may_be_in_any_order(spark):
    outputs = right_outputs()
    (a, b, *rest) = outputs["invoices"]
    outputs["invoices"] = [(a[0], a[1], 0, 2), (b[0], b[1], 0, 0), *rest]
    assert judged_by_pipeline(spark, outputs).is_exactly_once


def test_keys_and_values_that_share_their_text_are_told_apart(spark):
    rows = [("a' 'b", "c", 0, 0), ("a", "b' 'c", 0, 1), ("a", "b", 0, 2)]
    shown = {row[0] for row in frame(spark, "t", rows).select(key_and_value()).collect()}
    assert len(shown) == 3
    assert "'a' 'b'" in shown


@pytest.mark.parametrize(("first", "last", "count"), [(0, 0, 8), (3, 10, 8), (5, 100, 8), (0, 8, 8)])
def test_a_span_is_split_into_pieces_that_cover_it_once(first, last, count):
    pieces = Span("t", 0, first, last).split(count)
    assert len(pieces) <= count
    assert [o for piece in pieces for o in range(piece.first_offset, piece.last_offset + 1)] == list(
        range(first, last + 1)
    )


def test_a_finding_reads_as_a_sentence():
    finding = Finding("torn", "shipments", "'k' 'v'", inputs=(Place("purchases", 1, 7),))
    assert str(finding) == "torn on shipments: 'k' 'v' (input purchases-1@7)"


def test_a_stateful_pipeline_cannot_be_judged_by_itself():
    from fencepost.pipelines.audit_rules import check_can_judge

    with pytest.raises(InvalidPipeline, match="audit it by keys"):
        check_can_judge(shop, is_stateful=True)
