"""The guard that ties the first batch of a transaction to the coordinator's word that it is open (KIP-890).

There is at most one for each producer id. It says which request of the coordinator is current, for which epoch, and
which is the lowest sequence that waits for the answer: a later batch in flight may not overtake that one.
"""

from typing import NamedTuple


class VerificationGuard(NamedTuple):
    guard_id: int
    producer_epoch: int
    lowest_sequence: int
    supports_epoch_bump: bool
    """Whether the producer bumps its epoch with every transaction (transaction version 2)."""
    created_ms: int

    def joined_by(self, *, producer_epoch: int, base_sequence: int, supports_epoch_bump: bool) -> "VerificationGuard":
        """The same guard after one more batch asked for it. A higher epoch is another transaction and starts over."""
        if producer_epoch > self.producer_epoch:
            return self._replace(
                producer_epoch=producer_epoch, lowest_sequence=base_sequence, supports_epoch_bump=supports_epoch_bump
            )
        if producer_epoch == self.producer_epoch and base_sequence < self.lowest_sequence:
            return self._replace(lowest_sequence=base_sequence)
        return self

    def outlives_marker(self, marker_epoch: int) -> bool:
        """A marker that carries the epoch verified here ended the transaction before: the guard is of the next one."""
        return self.supports_epoch_bump and self.producer_epoch == marker_epoch
