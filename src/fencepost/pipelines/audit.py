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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from fencepost.errors import FencepostError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

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
