"""What the sink tells about a micro-batch when it is done."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkEvent:
    name: str
    batch_id: int | None
    """None for a batch DataFrame."""
    is_skipped: bool = False
    """The ledger had it already: nothing was published."""
    mode: str = "driver"
    row_count: int = 0
    size_bytes: int = 0
    partition_count: int = 0
    retry_count: int = 0
    encode_ms: float = 0.0
    """Spark's part: reading, computing, encoding, pinning."""
    commit_ms: float = 0.0
    """From the first call about the transaction to its end."""
