"""What happened when, as values: lanes with spans and kills, curves of counts, the words of the story."""

from dataclasses import dataclass, field
from enum import StrEnum


class SpanKind(StrEnum):
    UP = "up"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True)
class Span:
    start_s: float
    end_s: float
    kind: SpanKind
    label: str


@dataclass
class Lane:
    """A process that lives and is killed, or the transactions of a pipeline."""

    name: str
    spans: list[Span] = field(default_factory=list)
    kills_s: list[float] = field(default_factory=list)


@dataclass
class Curve:
    """How many records there were by when; it only grows."""

    name: str
    points: list[tuple[float, int]] = field(default_factory=list)


@dataclass
class Timeline:
    lanes: list[Lane] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    words: list[tuple[float, str]] = field(default_factory=list)

    @property
    def end_s(self) -> float:
        ends = [span.end_s for lane in self.lanes for span in lane.spans]
        ends += [at_s for curve in self.curves for at_s, _ in curve.points]
        ends += [at_s for at_s, _ in self.words]
        return max(ends, default=0.0)
