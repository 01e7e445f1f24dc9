"""Is the output the function of the input, exactly once? Either a proof, or the records that break it with their
offsets.

Two tables are compared as multisets: `expected`, what the rule makes of every input record, and `actual`, every
committed output record. Both have `output` (the topic) and `identity` (what makes two records the same); `expected`
knows where in the input a row came from as far as the rule can tell, `actual` its partition and offset.

* lost: expected and not there, nor is anything else of its input record;
* torn: expected and not there, while another output of the same input record is;
* duplicated: there more often than expected;
* unexpected: there, and no input record asks for it;
* reordered: two records of one input partition with the same key, in the other order in an output partition.

Where an identity is less than key and value, several records may share one: that it is there as often as expected
proves nothing then, because of two such records one may be lost and the other one be there twice.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

from fencepost.errors import FencepostError
from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed
from fencepost.settings import INT64_MAX
from fencepost.types import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession

    from fencepost.client.admin.admin import Admin


LOST, TORN, DUPLICATED, UNEXPECTED, REORDERED = "lost", "torn", "duplicated", "unexpected", "reordered"
SHOWN_MAX = 20


class NotProved(FencepostError):  # noqa: N818 - it names what was found
    """No difference was found, but one could have hidden."""


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


Pair = tuple[str, str | None]
"""An output and an identity on it."""


class Rule(Protocol):
    """What the outputs should be."""

    def expected(self) -> "DataFrame":
        """Columns output, identity, key, source (which input partition), row (order in it)."""

    def identity(self, output: str) -> "Column":
        """Of an actual record of this output."""

    def inputs_of(self, identities: Sequence[Pair]) -> dict[Pair, tuple[Place, ...]]:
        """The input records that make these."""

    def siblings(self, place: Place) -> set[Pair]:
        """All that one input record makes."""

    def check_outputs(self, expected: "DataFrame") -> None:
        """Refuses what goes to an output that nobody reads."""

    @property
    def loosely_identified(self) -> Collection[str]:
        """Outputs whose records may differ and have the same identity."""

    def input_count(self) -> int: ...


def audit(rule: Rule, actual: "DataFrame", outputs: Sequence[str]) -> Verdict:
    """`actual` has output, identity, key, partition, offset."""
    expected = rule.expected().persist()
    actual = actual.persist()
    try:
        rule.check_outputs(expected)
        verdict = judge(rule, expected, actual, outputs)
        if verdict.is_exactly_once:
            check_is_proof(rule, expected)
        return verdict
    finally:
        expected.unpersist()
        actual.unpersist()


def check_is_proof(rule: Rule, expected: "DataFrame") -> None:
    from pyspark.sql import functions as f

    loose = expected.where(f.col("output").isin(list(rule.loosely_identified)))
    shared = loose.groupBy("output", "identity").count().where("count > 1").orderBy("output", "identity")
    first = shared.first()
    if first is not None:
        raise NotProved(
            f"not proved: no difference was found, but {shared.count():,} identities stand for several records each, "
            f"such as {shown(first['identity'])} for {first['count']:,} on {first['output']}: one could be lost "
            "and another be there twice. Say what tells them apart with --input-key and --output-key, or for a "
            'pipeline with --identity, for instance "concat(cast(key as string), cast(value as string))"'
        )


def judge(rule: Rule, expected: "DataFrame", actual: "DataFrame", outputs: Sequence[str]) -> Verdict:
    from pyspark.sql import functions as f

    differing = differences(expected, actual)
    missing = differing.where("expected_count > actual_count")
    repeated = differing.where("actual_count > expected_count and expected_count > 0")
    unasked = differing.where("expected_count = 0")
    crossed = out_of_order(expected, actual)
    absent = lost_or_torn(rule, missing.limit(SHOWN_MAX).collect(), actual)
    findings = [
        *absent,
        *(there(DUPLICATED, row) for row in repeated.limit(SHOWN_MAX).collect()),
        *(there(UNEXPECTED, row) for row in unasked.limit(SHOWN_MAX).collect()),
        *(there(REORDERED, row) for row in crossed.limit(SHOWN_MAX).collect()),
    ]
    torn_count = sum(finding.kind == TORN for finding in absent)
    counts = {row["output"]: row["count"] for row in actual.groupBy("output").count().collect()}
    total = missing.agg(f.sum(f.expr("expected_count - actual_count"))).first()
    missing_count = int((total and total[0]) or 0)
    return Verdict(
        input_count=rule.input_count(),
        output_counts={output: counts.get(output, 0) for output in outputs},
        counts={
            LOST: missing_count - torn_count,
            TORN: torn_count,
            DUPLICATED: repeated.count(),
            UNEXPECTED: unasked.count(),
            REORDERED: crossed.count(),
        },
        findings=findings,
    )


def differences(expected: "DataFrame", actual: "DataFrame") -> "DataFrame":
    """One row per (output, identity) whose number of records is not the expected one, with the places of those that
    are there.
    """
    from pyspark.sql import functions as f

    wanted = expected.groupBy("output", "identity").agg(f.count("*").alias("expected_count"))
    found = actual.groupBy("output", "identity").agg(
        f.count("*").alias("actual_count"),
        f.sort_array(f.collect_list(f.struct("partition", "offset"))).alias("places"),
    )
    both = joined(wanted, found, "full_outer").na.fill(0, ["expected_count", "actual_count"])
    return both.where("expected_count <> actual_count").orderBy("output", "identity")


def joined(one: "DataFrame", other: "DataFrame", how: str) -> "DataFrame":
    """By output and identity; no identity, as of a record without a key, is one too."""
    from pyspark.sql import functions as f

    other = other.withColumnsRenamed({"output": "other_output", "identity": "other_identity"})
    is_same = f.col("output").eqNullSafe(f.col("other_output")) & f.col("identity").eqNullSafe(f.col("other_identity"))
    # A row is of the one or of the other, and an output has always a name.
    identity = f.when(f.col("output").isNotNull(), f.col("identity")).otherwise(f.col("other_identity"))
    both = one.join(other, is_same, how).withColumn("identity", identity)
    return both.withColumn("output", f.coalesce("output", "other_output")).drop("other_output", "other_identity")


def among(column: str, values: Collection[str | None]) -> "Column":
    """Like `isin`, which never finds null."""
    from pyspark.sql import functions as f

    found = f.col(column).isin([value for value in values if value is not None])
    return found | f.col(column).isNull() if None in values else found


def shown(identity: str | None) -> str:
    return "null" if identity is None else identity


def out_of_order(expected: "DataFrame", actual: "DataFrame") -> "DataFrame":
    """Rows whose predecessor in the input, of the same key, has a later offset in the same output partition."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    alone = expected.groupBy("output", "identity").agg(
        f.count("*").alias("wanted"),
        f.first("source").alias("source"),
        f.first("row").alias("row"),
        f.first("key").alias("key"),
    )
    placed = actual.groupBy("output", "identity").agg(
        f.count("*").alias("found"), f.first("partition").alias("partition"), f.first("offset").alias("offset")
    )
    pairs = joined(alone.where("wanted = 1 and key is not null"), placed.where("found = 1"), "inner")
    line = Window.partitionBy("output", "partition", "source", "key").orderBy("row")
    before = pairs.withColumn("before", f.lag("offset").over(line)).where("offset < before")
    places = f.array(f.struct("partition", f.col("before").alias("offset")), f.struct("partition", "offset"))
    return before.select("output", "identity", places.alias("places")).orderBy("output", "identity")


def there(kind: str, row: "Row") -> Finding:
    places = tuple(Place(row["output"], place["partition"], place["offset"]) for place in row["places"] or ())
    return Finding(kind, row["output"], row["identity"], outputs=places)


def lost_or_torn(rule: Rule, rows: Sequence["Row"], actual: "DataFrame") -> list[Finding]:
    """An input record of which something is there and something is not was torn; one of which nothing is there was
    lost.
    """
    missing = [(row["output"], row["identity"]) for row in rows]
    inputs = rule.inputs_of(missing) if missing else {}
    findings = []
    for pair, row in zip(missing, rows, strict=True):
        siblings = set().union(*(rule.siblings(place) for place in inputs.get(pair, ()))) - {pair}
        kind = TORN if siblings and any_there(siblings, actual) else LOST
        seen = tuple(Place(row["output"], place["partition"], place["offset"]) for place in row["places"] or ())
        findings.append(Finding(kind, *pair, inputs=inputs.get(pair, ()), outputs=seen))
    return findings


def any_there(pairs: set[Pair], actual: "DataFrame") -> bool:
    from pyspark.sql import functions as f

    for output in {output for output, _ in pairs}:
        wanted = [identity for topic, identity in pairs if topic == output]
        if not actual.where((f.col("output") == output) & among("identity", wanted)).isEmpty():
            return True
    return False


# The two rules that an audit can hold outputs to.
#
# `KeyRule`: every input record has exactly one record on every output, with the same identity; SQL expressions say what
# identifies a record on either side. `PipelineRule`: the outputs are what the pipeline itself makes of the input. A
# pipeline's output does not say which input record it comes from, so for records that are missing the input is
# searched: the pipeline is run on ever smaller ranges of offsets.


FAN_OUT = 8
NO_TOPIC = ""
"""Where a row says no topic; no topic has this name."""


@dataclass(frozen=True)
class KeyRule:
    input: "DataFrame"
    outputs: Sequence[str]
    input_key: str
    output_key: str

    def expected(self) -> "DataFrame":
        from pyspark.sql import functions as f

        each = f.explode(f.array(*(f.lit(output) for output in self.outputs)))
        return self.input.select(
            each.alias("output"),
            expression(self.input_key).alias("identity"),
            "key",
            f.concat_ws("-", "topic", "partition").alias("source"),
            f.col("offset").alias("row"),
        )

    def identity(self, output: str) -> "Column":
        return expression(self.output_key)

    def inputs_of(self, identities: Sequence[Pair]) -> dict[Pair, tuple[Place, ...]]:
        wanted = {identity for _, identity in identities}
        rows = self.input.withColumn("identity", expression(self.input_key)).where(among("identity", wanted))
        places: dict[str | None, list[Place]] = {}
        for row in rows.select("identity", "topic", "partition", "offset").collect():
            places.setdefault(row["identity"], []).append(Place(row["topic"], row["partition"], row["offset"]))
        return {pair: tuple(sorted(places.get(pair[1], ()))) for pair in identities}

    def siblings(self, place: Place) -> set[Pair]:
        row = at(self.input, place).select(expression(self.input_key).alias("identity")).first()
        return {(output, row["identity"]) for output in self.outputs} if row is not None else set()

    def check_outputs(self, expected: "DataFrame") -> None:
        """Nothing is expected anywhere else."""

    @property
    def loosely_identified(self) -> Collection[str]:
        return self.outputs

    def input_count(self) -> int:
        return self.input.count()


@dataclass(frozen=True)
class PipelineRule:
    pipeline: Pipeline
    inputs: Sequence["DataFrame"]
    """One batch DataFrame per topic that the pipeline reads, each topic-partition in a task of its own."""
    identities: Mapping[str, str]
    """SQL expressions for outputs whose records are not identified by their key and value."""
    ignored: Collection[str] = ()
    """Outputs that are not judged."""

    @property
    def outputs(self) -> Sequence[str]:
        return [topic for topic in self.pipeline.writes if topic not in self.ignored]

    @property
    def loosely_identified(self) -> Collection[str]:
        return [output for output in self.outputs if output in self.identities]

    def check_outputs(self, expected: "DataFrame") -> None:
        from pyspark.sql import functions as f

        others = expected.where(~f.col("output").isin(list(self.outputs))).select("output").distinct()
        names = sorted(row["output"] for row in others.limit(SHOWN_MAX).collect())
        if names:
            raise InvalidPipeline(
                f"pipeline '{self.pipeline.name}' makes records for {listed(names) if names[0] else 'no topic'}, which "
                f"cannot be judged: its writes= names {listed(self.pipeline.writes)}; name there every topic that its "
                "'topic' column may hold"
            )

    def expected(self) -> "DataFrame":
        return self._made_of(self.inputs)

    def identity(self, output: str) -> "Column":
        given = self.identities.get(output)
        return expression(given) if given else key_and_value()

    def inputs_of(self, identities: Sequence[Pair]) -> dict[Pair, tuple[Place, ...]]:
        found: dict[Pair, list[Place]] = {pair: [] for pair in identities}
        spans = list(self._spans())
        while spans:
            pieces = [piece for span in spans for piece in span.split(FAN_OUT)]
            hits = self._hits(pieces, identities)
            for piece, pair in hits:
                if piece.is_single:
                    found[pair].append(Place(piece.topic, piece.partition, piece.first_offset))
            spans = sorted({piece for piece, _ in hits if not piece.is_single})
        return {pair: tuple(sorted(places)) for pair, places in found.items()}

    def siblings(self, place: Place) -> set[Pair]:
        rows = self._made_of([at(frame, place) for frame in self.inputs]).select("output", "identity").collect()
        return {(row["output"], row["identity"]) for row in rows}

    def input_count(self) -> int:
        return sum(frame.count() for frame in self.inputs)

    def _made_of(self, inputs: Sequence["DataFrame"]) -> "DataFrame":
        from pyspark.sql import functions as f

        tables = [
            with_key(frame).select(
                output.alias("output"),
                self.identity(topic).alias("identity"),
                f.col("key").cast("binary").alias("key"),
                f.spark_partition_id().cast("string").alias("source"),
                f.monotonically_increasing_id().alias("row"),
            )
            for topic, output, frame in self._by_topic(inputs)
        ]
        return reduce(lambda above, below: above.union(below), tables)

    def _by_topic(self, inputs: Sequence["DataFrame"]) -> Iterator[tuple[str, "Column", "DataFrame"]]:
        """What goes to each output, and at the end what goes to topics that the pipeline does not declare."""
        from pyspark.sql import functions as f

        made = self.pipeline.outputs(inputs)
        for topic in self.outputs:
            frame = made[topic] if isinstance(made, dict) else made.where(f.col("topic") == topic)
            yield topic, f.lit(topic), frame
        if not isinstance(made, dict):
            named = f.coalesce(f.col("topic"), f.lit(NO_TOPIC))
            yield NO_TOPIC, named, made.where(~named.isin(list(self.pipeline.writes)))

    def _spans(self) -> Iterator["Span"]:
        for frame in self.inputs:
            for row in frame.groupBy("topic", "partition").agg({"offset": "max"}).collect():
                yield Span(row["topic"], row["partition"], 0, row["max(offset)"])

    def _hits(self, pieces: Sequence["Span"], wanted: Sequence[Pair]) -> list[tuple["Span", Pair]]:
        from pyspark.sql import functions as f

        tables = []
        for number, piece in enumerate(pieces):
            made = self._made_of([piece.of(frame) for frame in self.inputs])
            made = made.where(among("identity", [identity for _, identity in wanted]))
            tables.append(made.select(f.lit(number).alias("number"), "output", "identity").distinct())
        rows = reduce(lambda above, below: above.union(below), tables).collect()
        known = set(wanted)
        pairs = [(pieces[row["number"]], (row["output"], row["identity"])) for row in rows]
        return [(piece, pair) for piece, pair in pairs if pair in known]


@dataclass(frozen=True, order=True)
class Span:
    """Offsets of one partition, both ends included."""

    topic: str
    partition: int
    first_offset: int
    last_offset: int

    @property
    def is_single(self) -> bool:
        return self.first_offset == self.last_offset

    def split(self, count: int) -> list["Span"]:
        size = self.last_offset - self.first_offset + 1
        step = max(1, -(-size // count))
        starts = range(self.first_offset, self.last_offset + 1, step)
        return [Span(self.topic, self.partition, start, min(start + step - 1, self.last_offset)) for start in starts]

    def of(self, frame: "DataFrame") -> "DataFrame":
        from pyspark.sql import functions as f

        is_inside = f.col("offset").between(self.first_offset, self.last_offset)
        return frame.where((f.col("topic") == self.topic) & (f.col("partition") == self.partition) & is_inside)


def at(frame: "DataFrame", place: Place) -> "DataFrame":
    return Span(place.topic, place.partition, place.offset, place.offset).of(frame)


def with_key(frame: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as f

    return frame if "key" in frame.columns else frame.withColumn("key", f.lit(None).cast("binary"))


def key_and_value() -> "Column":
    """As text: printable, and different whenever the bytes are."""
    from pyspark.sql import functions as f

    return f.concat_ws(" ", *(f.coalesce(readable(name), f.lit("null")) for name in ("key", "value")))


def readable(name: str) -> "Column":
    from pyspark.sql import functions as f

    raw = f.col(name).cast("binary")
    text = raw.cast("string")
    # A quote inside would make two different pairs look alike.
    is_plain = f.is_valid_utf8(text) & ~text.contains("'")
    return f.coalesce(f.when(is_plain, f.concat(f.lit("'"), text, f.lit("'"))), f.concat(f.lit("x"), f.hex(raw)))


def expression(sql: str) -> "Column":
    """A SQL expression over the columns of a record, as text; key and value are bytes, which `cast(key as string)`
    reads.
    """
    from pyspark.sql import functions as f

    return f.expr(sql).cast("string")


def check_can_judge(pipeline: Pipeline, *, is_stateful: bool) -> None:
    if is_stateful:
        raise InvalidPipeline(
            f"pipeline '{pipeline.name}' keeps state: what it writes depends on where its micro-batches ended, so it "
            "cannot be computed again from its input; audit it by keys (--input, --output, --input-key, --output-key)"
        )


# What an audit reads: committed records only, the input as far as the pipeline has come, the outputs to their end.
#
# The input ends where the pipeline's group has committed, because what lies beyond is not lost but yet to come. The
# group is asked before the outputs are read: a transaction that commits in between would look like unexpected records.


NOT_BEGUN = 0
Options = Mapping[str, str]


class NothingCommitted(FencepostError):  # noqa: N818 - it names a state of the group
    """Nobody has read the input under this group, so there is nothing to judge."""


def committed_ends(admin: "Admin", topics: Sequence[str], group_id: str) -> dict[TopicPartition, int]:
    """How far the group has come; a partition without an offset has not been begun."""
    committed = admin.group_offsets(group_id, require_stable=True)
    partitions = [
        TopicPartition(topic, partition)
        for topic, metadata in admin.describe_topics(topics).items()
        for partition in metadata.partitions
    ]
    ends = {where: committed[where].offset for where in partitions if where in committed}
    if not ends and admin.earliest_offsets(partitions) != admin.latest_offsets(partitions):
        raise NothingCommitted(
            f"group '{group_id}' has committed no offset of {listed(topics)}: run the pipeline first, or name its "
            "--namespace or its --group"
        )
    return {where: ends.get(where, NOT_BEGUN) for where in partitions}


def read_topic(
    spark: "SparkSession", options: Options, topic: str, ends: Mapping[TopicPartition, int] | None = None
) -> "DataFrame":
    reader = spark.read.format("fencepost").options(**options)
    reader = reader.option("subscribe", topic).option("startingOffsets", "earliest")
    # No task reads two partitions: a rule takes what comes out of one task for one partition's records in their order.
    reader = reader.option("maxRecordsPerPartition", str(INT64_MAX))
    if ends is not None:
        by_partition = {str(where.partition): offset for where, offset in ends.items() if where.topic == topic}
        reader = reader.option("endingOffsets", json.dumps({topic: by_partition}))
    return reader.load()


def read_outputs(spark: "SparkSession", options: Options, outputs: Sequence[str], rule: Rule) -> "DataFrame":
    """The actual records of all outputs: output, identity, key, partition, offset."""
    from pyspark.sql import functions as f

    tables = [
        with_key(read_topic(spark, options, topic)).select(
            f.lit(topic).alias("output"), rule.identity(topic).alias("identity"), "key", "partition", "offset"
        )
        for topic in outputs
    ]
    return reduce(lambda above, below: above.union(below), tables)
