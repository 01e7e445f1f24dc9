"""The two rules that an audit can hold outputs to.

`KeyRule`: every input record has exactly one record on every output, with the same identity; SQL expressions say what
identifies a record on either side. `PipelineRule`: the outputs are what the pipeline itself makes of the input. A
pipeline's output does not say which input record it comes from, so for records that are missing the input is
searched: the pipeline is run on ever smaller ranges of offsets.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from fencepost.pipelines.audit import SHOWN_MAX, Pair, Place, among
from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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
