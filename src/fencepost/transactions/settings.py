"""The settings that the coordinator's rules depend on, under the names of `fencepost.settings`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorSettings:
    transaction_version: int = 2
    """The finalized level decides how the coordinator's own aborts are written. Requests go by their own version."""

    transaction_max_timeout_ms: int = 900_000
    transaction_two_phase_commit_enable: bool = False
    transactional_id_expiration_ms: int = 604_800_000
    transactional_ids_max: int = 100_000

    coordinator_epoch: int = 0
    """Written into every marker. Partitions refuse a marker with a smaller one, so it must never decrease."""
