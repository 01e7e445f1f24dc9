"""The auditor, on hand-made topics: a right history is proved, and each way to be wrong is named with its offsets."""

from collections import defaultdict

import pytest
from pyspark.sql import functions as f

from fencepost.pipelines.audit import (
    FAN_OUT,
    Finding,
    NotProved,
    Place,
    Span,
    audit,
    key_and_value,
    key_rule,
    pipeline_rule,
)
from fencepost.pipelines.pipeline import InvalidPipeline, pipeline

pytestmark = pytest.mark.timeout(1800)
SCHEMA = "key binary, value binary, topic string, partition int, offset bigint"
INPUT = [("a", 0, 0), ("b", 0, 1), ("a", 0, 3), ("c", 1, 0), ("d", 1, 7)]
"""Key, partition, offset; the value is the place. Offsets have holes, as markers leave them."""


def value_of(key, partition, offset):
    return f"{key}{partition}{offset}"


def frame(spark, topic, rows):
    """Rows of (key, value, partition, offset), one task per partition as the source reads them."""
    cells = [(key and key.encode(), value.encode(), topic, partition, offset) for key, value, partition, offset in rows]
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
    return judged(spark, outputs, pipeline_rule(shop, [purchases(spark)], {}))


def judged_by_key(spark, outputs):
    value = "cast(value as string)"
    given = ["invoices", "shipments", "invoices"]
    return judged(spark, outputs, key_rule(purchases(spark), given, value, f"substring({value}, 3)"))


def judged(spark, outputs, rule):
    return audit(rule, {topic: frame(spark, topic, rows) for topic, rows in outputs.items()})


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


BY_KEY = "cast(key as string)"
TWICE_ONE = [("k", "a", 0, 0), ("k", "a", 0, 1)]
ONE_EACH = [("k", "a", 0, 0), ("k", "b", 0, 1)]


@pipeline(name="routed", reads="purchases", writes=["invoices", "shipments"])
def routed(bought):
    where = f.when(f.col("value") == b"a", "invoices").when(f.col("value") == b"b", "refunds")
    return bought.select("key", "value", where.alias("topic"))


@pytest.mark.parametrize("ignored", [(), ("shipments",)])
def test_records_for_a_topic_that_the_pipeline_does_not_declare_are_no_proof(spark, ignored):
    rule = pipeline_rule(routed, [frame(spark, "purchases", ONE_EACH)], {}, ignored)
    with pytest.raises(
        InvalidPipeline, match=r"'routed' makes records for 'refunds'.* writes=.*'invoices', 'shipments'"
    ):
        judged(spark, {"invoices": ONE_EACH[:1], "shipments": []}, rule)
    no_topic = pipeline_rule(routed, [frame(spark, "purchases", [("k", "c", 0, 0)])], {}, ignored)
    with pytest.raises(InvalidPipeline, match="makes records for no topic"):
        judged(spark, {"invoices": [], "shipments": []}, no_topic)


def test_an_ignored_output_is_not_judged(spark):
    rows = [("k", "a", 0, 0)]
    assert judged(spark, {"shipments": []}, pipeline_rule(routed, [frame(spark, "t", rows)], {}, ("invoices",)))
    outputs = {"invoices": [("k", f"i:{value}", p, o) for _, value, p, o in rows]}
    assert judged(spark, outputs, pipeline_rule(shop, [frame(spark, "t", rows)], {}, ["shipments"])).is_exactly_once


@pytest.mark.parametrize(
    "rule_for",
    [
        lambda bought: key_rule(bought, ["invoices"], BY_KEY, BY_KEY),
        lambda bought: pipeline_rule(shop, [bought], {"invoices": BY_KEY}, ["shipments"]),
    ],
)
def test_records_that_share_an_identity_are_not_proved_because_loss_and_repetition_would_cancel(spark, rule_for):
    rule = rule_for(frame(spark, "purchases", ONE_EACH))
    complaint = r"not proved: .* 1 identities .* such as k for 2 on invoices.*--input-key and --output-key.*--identity"
    with pytest.raises(NotProved, match=complaint):
        judged(spark, {"invoices": TWICE_ONE}, rule)
    assert judged(spark, {"invoices": TWICE_ONE[:1]}, rule).counts["lost"] == 1, "what is wrong is told all the same"


def test_equal_records_that_the_pipeline_makes_may_stand_for_each_other(spark):
    rule = pipeline_rule(shop, [frame(spark, "purchases", TWICE_ONE)], {}, ["shipments"])
    outputs = {"invoices": [(key, f"i:{value}", p, o) for key, value, p, o in TWICE_ONE]}
    assert judged(spark, outputs, rule).is_exactly_once


def test_a_record_without_a_key_is_found_by_having_none(spark):
    rows = [(None, "a", 0, 0), ("null", "b", 0, 1)]
    rule = key_rule(frame(spark, "purchases", rows), ["invoices", "shipments"], BY_KEY, BY_KEY)
    assert judged(spark, {"invoices": rows, "shipments": rows}, rule).is_exactly_once
    verdict = judged(spark, {"invoices": rows, "shipments": rows[1:]}, rule)
    assert broken(verdict.findings) == [("torn", "shipments", ["purchases-0@0"], [])]
    assert str(verdict.findings[0]) == "torn on shipments: null (input purchases-0@0)"


def test_keys_and_values_that_share_their_text_are_told_apart(spark):
    rows = [("a' 'b", "c", 0, 0), ("a", "b' 'c", 0, 1), ("a", "b", 0, 2)]
    shown = {row[0] for row in frame(spark, "t", rows).select(key_and_value()).collect()}
    assert len(shown) == 3
    assert "'a' 'b'" in shown


@pytest.mark.parametrize(("first", "last"), [(0, 0), (3, 10), (5, 100), (0, 8)])
def test_a_span_is_split_into_pieces_that_cover_it_once(first, last):
    pieces = Span("t", 0, first, last).split()
    assert len(pieces) <= FAN_OUT
    assert [o for piece in pieces for o in range(piece.first, piece.last + 1)] == list(range(first, last + 1))


def test_a_finding_reads_as_a_sentence():
    finding = Finding("torn", "shipments", "'k' 'v'", inputs=(Place("purchases", 1, 7),))
    assert str(finding) == "torn on shipments: 'k' 'v' (input purchases-1@7)"


@pipeline(name="totals", reads="purchases", writes="invoices", output_mode="update")
def totals(bought):
    return bought.groupBy("key").agg(f.count("*").cast("string").alias("value"))


def test_a_stateful_pipeline_cannot_be_judged_by_itself(spark):
    with pytest.raises(InvalidPipeline, match="audit it by keys"):
        pipeline_rule(totals, [purchases(spark)], {})
