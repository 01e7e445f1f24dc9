"""What the server counts as it goes, in plain numbers; `metrics` tells them to whoever asks."""

from dataclasses import dataclass, field

SYNC_SECONDS_BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0)


@dataclass(slots=True)
class Counts:
    """What the server counts as it goes."""

    requests: dict[int, int] = field(default_factory=dict)
    received_bytes: int = 0
    sent_bytes: int = 0
    connections_opened: int = 0
    commits: int = 0
    sync_seconds_total: float = 0.0
    sync_seconds_buckets: list[int] = field(default_factory=lambda: [0] * (len(SYNC_SECONDS_BOUNDS) + 1))

    def count_request(self, api_key: int, size_bytes: int) -> None:
        self.requests[api_key] = self.requests.get(api_key, 0) + 1
        self.received_bytes += size_bytes

    def count_commit(self, seconds: float) -> None:
        self.commits += 1
        self.sync_seconds_total += seconds
        bucket = next((index for index, bound in enumerate(SYNC_SECONDS_BOUNDS) if seconds <= bound), -1)
        self.sync_seconds_buckets[bucket] += 1
