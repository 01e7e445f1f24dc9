"""Is the output the function of the input, exactly once? Either a proof, or the records that break it with their
offsets.

What a rule makes of the input and what is on the outputs are compared as multisets: one table with a row for each
output and identity (what makes two records the same), and how often it is expected and found.

* lost: expected and not there, nor is anything else of its input record;
* torn: expected and not there, while another output of the same input record is;
* duplicated: there more often than expected;
* unexpected: there, and no input record asks for it;
* reordered: two records of one input partition with the same key, in the other order in an output partition.

Where an identity is less than key and value, several records may share one: that it is there as often as expected
proves nothing then, because of two such records one may be lost and the other one be there twice.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import reduce
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as f

from fencepost.client.admin.admin import Admin
from fencepost.errors import FencepostError
from fencepost.pipelines.graph import partitions_of
from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed
from fencepost.pipelines.state import shape_of
from fencepost.settings import INT64_MAX
from fencepost.types import TopicPartition

LOST, TORN, DUPLICATED, UNEXPECTED, REORDERED = "lost", "torn", "duplicated", "unexpected", "reordered"
SHOWN_MAX = 20
FAN_OUT = 8
NO_TOPIC = ""
"""The output of a row without a topic; no topic has this name."""

Pair = tuple[str, str | None]
"""An output and an identity on it; a record without a key may have none."""


class NotProved(FencepostError):  # noqa: N818 - it names what was found
    """No difference was found, but one could have hidden."""


class NothingCommitted(FencepostError):  # noqa: N818 - it names a state of the group
    """The group has read nothing of the input, so there is nothing to judge."""


@dataclass(frozen=True, order=True)
class Place:
    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}@{self.offset}"


@dataclass(frozen=True)
class Finding:
    kind: str
    output: str
    identity: str | None
    inputs: tuple[Place, ...] = ()
    outputs: tuple[Place, ...] = ()

    def __str__(self) -> str:
        sides = [f"input {', '.join(map(str, self.inputs))}"] if self.inputs else []
        sides += [f"output {', '.join(map(str, self.outputs))}"] if self.outputs else []
        return f"{self.kind} on {self.output}: {shown(self.identity)} ({'; '.join(sides) or 'place unknown'})"


@dataclass(frozen=True)
class Verdict:
    input_count: int
    output_counts: Mapping[str, int]
    counts: Mapping[str, int]
    """How many records of each kind, also beyond those that are listed."""
    findings: Sequence[Finding] = field(default_factory=list)

    @property
    def is_exactly_once(self) -> bool:
        return not any(self.counts.values())

    def to_json(self) -> dict[str, Any]:
        return {"exactly_once": self.is_exactly_once, **asdict(self)}


@dataclass(frozen=True)
class Rule:
    """What the outputs should be. Identities are SQL expressions; key and value where there is none for an output."""

    inputs: Sequence[DataFrame]
    """One for each topic that is read, every partition in a task of its own."""
    outputs: Sequence[str]
    make: Callable[[Sequence[DataFrame]], Mapping[str, DataFrame] | DataFrame]
    expected_identities: Mapping[str, str]
    actual_identities: Mapping[str, str]
    pipeline: Pipeline | None = None

    def expected(self, inputs: Sequence[DataFrame]) -> DataFrame:
        """What is made of these inputs, with the input partition (as the task) and the order in it."""
        made = self.make(inputs)
        if isinstance(made, Mapping):
            frames = [(topic, f.lit(topic), made[topic]) for topic in self.outputs]
        else:
            topic_of = f.coalesce(f.col("topic"), f.lit(NO_TOPIC))
            declared = self.pipeline.writes if self.pipeline is not None else self.outputs
            frames = [(topic, topic_of, made.where(topic_of == topic)) for topic in self.outputs]
            frames.append((NO_TOPIC, topic_of, made.where(~topic_of.isin(*declared))))
        return union(
            with_key(frame).select(
                output.alias("output"),
                identity(topic, self.expected_identities).alias("identity"),
                f.col("key").cast("binary").alias("key"),
                f.spark_partition_id().alias("source"),
                f.monotonically_increasing_id().alias("row"),
            )
            for topic, output, frame in frames
        )

    def actual(self, topics: Mapping[str, DataFrame]) -> DataFrame:
        return union(
            frame.select(
                f.lit(topic).alias("output"),
                identity(topic, self.actual_identities).alias("identity"),
                f.struct("partition", "offset").alias("place"),
            )
            for topic, frame in topics.items()
        )


def key_rule(frame: DataFrame, outputs: Sequence[str], input_key: str, output_key: str) -> Rule:
    """Every input record has exactly one record on every output, with the same identity."""
    outputs = list(dict.fromkeys(outputs))
    expected, actual = dict.fromkeys(outputs, input_key), dict.fromkeys(outputs, output_key)
    return Rule([frame], outputs, lambda inputs: dict.fromkeys(outputs, inputs[0]), expected, actual)


def pipeline_rule(
    pipeline: Pipeline, inputs: Sequence[DataFrame], identities: Mapping[str, str], ignored: Collection[str] = ()
) -> Rule:
    """The outputs, but for the ignored ones, are what the pipeline itself makes of the input."""
    if shape_of(inputs[0].sparkSession, pipeline).is_stateful:
        raise InvalidPipeline(
            f"pipeline '{pipeline.name}' keeps state: what it writes depends on where its micro-batches ended, so it "
            "cannot be computed again from its input; audit it by keys (--input, --output, --input-key, --output-key)"
        )
    outputs = [topic for topic in pipeline.writes if topic not in ignored]
    return Rule(inputs, outputs, pipeline.outputs, identities, identities, pipeline)


def audit(rule: Rule, topics: Mapping[str, DataFrame]) -> Verdict:
    """`topics` are the committed records of the rule's outputs."""
    sides = rule.expected(rule.inputs).unionByName(rule.actual(topics), allowMissingColumns=True)
    rows = sides.groupBy("output", "identity").agg(
        f.count("row").alias("expected"),
        f.count("place").alias("actual"),
        f.sort_array(f.collect_list("place")).alias("places"),
        *(f.first(name, ignorenulls=True).alias(name) for name in ("key", "source", "row")),
    )
    rows = rows.persist()
    try:
        check_outputs(rule, rows)
        verdict = judge(rule, rows)
        if verdict.is_exactly_once:
            check_is_proof(rule, rows)
        return verdict
    finally:
        rows.unpersist()


def judge(rule: Rule, rows: DataFrame) -> Verdict:
    missing = rows.where("expected > actual")
    kinds = {
        DUPLICATED: rows.where("actual > expected and expected > 0"),
        UNEXPECTED: rows.where("expected = 0"),
        REORDERED: out_of_order(rows),
    }
    findings = find_inputs(rule, first_of(missing), rows)
    torn_count = sum(finding.kind == TORN for finding in findings)
    missing_count = missing.select(f.sum(f.expr("expected - actual"))).collect()[0][0] or 0
    for kind, found in kinds.items():
        findings += [Finding(kind, row["output"], row["identity"], outputs=places(row)) for row in first_of(found)]
    written = {row["output"]: row[1] for row in rows.groupBy("output").agg(f.sum("actual")).collect()}
    return Verdict(
        input_count=sum(frame.count() for frame in rule.inputs),
        output_counts={output: written.get(output, 0) for output in rule.outputs},
        counts={LOST: missing_count - torn_count, TORN: torn_count}
        | {kind: found.count() for kind, found in kinds.items()},
        findings=findings,
    )


def out_of_order(rows: DataFrame) -> DataFrame:
    """Rows whose predecessor in the input, of the same key, has a later offset in the same output partition."""
    there = f.col("places")[0]
    line = Window.partitionBy("output", there["partition"], "source", "key").orderBy("row")
    pairs = rows.where("expected = 1 and actual = 1 and key is not null").withColumn("before", f.lag(there).over(line))
    crossed = pairs.where(f.col("before.offset") > there["offset"])
    return crossed.withColumn("places", f.array("before", there))


def find_inputs(rule: Rule, missing: Sequence[Row], rows: DataFrame) -> list[Finding]:
    """An input record of which something is there and something is not was torn; one of which nothing is there was
    lost.
    """
    inputs = search(rule, [(row["output"], row["identity"]) for row in missing]) if missing else {}
    found = rows.where("actual > 0").select("output", "identity")
    findings = []
    for row in missing:
        pair = row["output"], row["identity"]
        made = siblings(rule, pair, inputs[pair])
        there = [tuple(one) for each in made for one in each.intersect(found).collect()]
        kind = TORN if any(sibling != pair for sibling in there) else LOST
        findings.append(Finding(kind, *pair, inputs=inputs[pair], outputs=places(row)))
    return findings


def siblings(rule: Rule, pair: Pair, inputs: Sequence[Place]) -> Iterator[DataFrame]:
    """What else the input records of this one make, and itself."""
    if rule.pipeline is None:
        yield table_of(rule, [(output, pair[1]) for output in rule.outputs])
        return
    for place in inputs:
        span = Span(place.topic, place.partition, place.offset, place.offset)
        yield rule.expected([span.of(frame) for frame in rule.inputs]).select("output", "identity")


class Span(NamedTuple):
    """Offsets of one partition, both ends included."""

    topic: str
    partition: int
    first: int
    last: int

    def split(self) -> list["Span"]:
        step = -(-(self.last - self.first + 1) // FAN_OUT)
        starts = range(self.first, self.last + 1, step)
        return [self._replace(first=start, last=min(start + step - 1, self.last)) for start in starts]

    def of(self, frame: DataFrame) -> DataFrame:
        is_inside = f.col("offset").between(self.first, self.last)
        return frame.where((f.col("topic") == self.topic) & (f.col("partition") == self.partition) & is_inside)


def search(rule: Rule, wanted: Sequence[Pair]) -> dict[Pair, tuple[Place, ...]]:
    """The input records that make these. An output of a pipeline does not say which one it comes from: the rule is
    applied to ever smaller ranges of offsets. By keys one look through the input is enough.
    """
    targets = table_of(rule, wanted)
    found: dict[Pair, list[Place]] = {pair: [] for pair in wanted}
    if rule.pipeline is None:
        name = identity(rule.outputs[0], rule.expected_identities)
        keyed = rule.inputs[0].select(name.alias("name"), "topic", "partition", "offset")
        for row in targets.join(keyed, f.col("identity").eqNullSafe(f.col("name"))).drop("name").collect():
            found[row["output"], row["identity"]].append(Place(*row[2:]))
        return {pair: tuple(sorted(at)) for pair, at in found.items()}
    ends = [frame.groupBy("topic", "partition").agg(f.max("offset")) for frame in rule.inputs]
    spans = [Span(topic, partition, 0, last) for end in ends for topic, partition, last in end.collect()]
    while spans:
        pieces = [piece for span in spans for piece in span.split()]
        tables = (rule.expected([piece.of(frame) for frame in rule.inputs]) for piece in pieces)
        hits = (table.select("output", "identity").intersect(targets) for table in tables)
        rows = union(hit.withColumn("number", f.lit(number)) for number, hit in enumerate(hits)).collect()
        spans = sorted({pieces[row["number"]] for row in rows})
        if all(span.first == span.last for span in spans):
            for output, name, number in rows:
                found[output, name].append(Place(*pieces[number][:3]))
            break
    return {pair: tuple(sorted(at)) for pair, at in found.items()}


def table_of(rule: Rule, pairs: Sequence[Pair]) -> DataFrame:
    return rule.inputs[0].sparkSession.createDataFrame(list(pairs), "output string, identity string")


def check_outputs(rule: Rule, rows: DataFrame) -> None:
    """Refuses records for an output that is not read."""
    others = rows.where(~f.col("output").isin(*rule.outputs)).select("output").distinct()
    names = sorted(row["output"] for row in others.limit(SHOWN_MAX).collect())
    if names and rule.pipeline is not None:
        raise InvalidPipeline(
            f"pipeline '{rule.pipeline.name}' makes records for {listed(names) if names[0] else 'no topic'}, which "
            f"cannot be judged: its writes= names {listed(rule.pipeline.writes)}; name there every topic that its "
            "'topic' column may hold"
        )


def check_is_proof(rule: Rule, rows: DataFrame) -> None:
    shared = rows.where(f.col("output").isin(*rule.expected_identities) & (f.col("expected") > 1))
    for first in first_of(shared)[:1]:
        raise NotProved(
            f"not proved: no difference was found, but {shared.count():,} identities stand for several records each, "
            f"such as {shown(first['identity'])} for {first['expected']:,} on {first['output']}: one could be lost "
            "and another be there twice. Say what tells them apart with --input-key and --output-key, or for a "
            'pipeline with --identity, for instance "concat(cast(key as string), cast(value as string))"'
        )


def first_of(rows: DataFrame) -> list[Row]:
    return rows.orderBy("output", "identity").limit(SHOWN_MAX).collect()


def places(row: Row) -> tuple[Place, ...]:
    return tuple(Place(row["output"], partition, offset) for partition, offset in row["places"])


def shown(name: str | None) -> str:
    return "null" if name is None else name


def union(tables: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda above, below: above.union(below), tables)


def with_key(frame: DataFrame) -> DataFrame:
    return frame if "key" in frame.columns else frame.withColumn("key", f.lit(None).cast("binary"))


def identity(output: str, expressions: Mapping[str, str]) -> Column:
    given = expressions.get(output)
    return key_and_value() if given is None else f.expr(given).cast("string")


def key_and_value() -> Column:
    """As text: printable, and different whenever the bytes are."""
    return f.concat_ws(" ", *(f.coalesce(readable(name), f.lit("null")) for name in ("key", "value")))


def readable(name: str) -> Column:
    raw = f.col(name).cast("binary")
    text = raw.cast("string")
    # A quote inside would make two different pairs look alike.
    is_plain = f.is_valid_utf8(text) & ~text.contains("'")
    return f.coalesce(f.when(is_plain, f.concat(f.lit("'"), text, f.lit("'"))), f.concat(f.lit("x"), f.hex(raw)))


def committed_ends(admin: Admin, topics: Sequence[str], group_id: str) -> dict[TopicPartition, int]:
    """How far the group has come, 0 where it has not begun: what lies beyond is not lost but yet to come. It is asked
    before the outputs are read: a transaction that commits in between would look like unexpected records.
    """
    committed = admin.group_offsets(group_id, require_stable=True)
    partitions = partitions_of(admin, topics)
    is_begun = not committed.keys().isdisjoint(partitions)
    if not is_begun and admin.earliest_offsets(partitions) != admin.latest_offsets(partitions):
        raise NothingCommitted(
            f"group '{group_id}' has committed no offset of {listed(topics)}: run the pipeline first, or name its "
            "--namespace or its --group"
        )
    return {one: committed[one].offset if one in committed else 0 for one in partitions}


def read_topic(
    spark: SparkSession, options: Mapping[str, str], topic: str, ends: Mapping[TopicPartition, int] | None = None
) -> DataFrame:
    """The committed records of a topic, to its end or to those that are given."""
    reader = spark.read.format("fencepost").options(**options)
    reader = reader.option("subscribe", topic).option("startingOffsets", "earliest")
    # No task reads two partitions: a rule takes what comes out of one task for one partition's records in their order.
    reader = reader.option("maxRecordsPerPartition", str(INT64_MAX))
    if ends is not None:
        by_partition = {str(one.partition): offset for one, offset in ends.items() if one.topic == topic}
        reader = reader.option("endingOffsets", json.dumps({topic: by_partition}))
    return reader.load()
