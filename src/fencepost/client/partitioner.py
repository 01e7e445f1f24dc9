"""Which partition a record goes to: Kafka's murmur2 of its key; without a key, one partition until it had its share.

Pure: randomness is a function that the caller passes in. A whole column of keys goes through `records/columnar.py`.
"""

from collections.abc import Callable, Sequence
from struct import Struct

_MASK = 0xFFFF_FFFF
_MULTIPLIER = 0x5BD1_E995
_SEED = 0x9747_B28C
_POSITIVE = 0x7FFF_FFFF
_WORDS = {count: Struct(f"<{count}I") for count in range(1, 65)}

Choose = Callable[[Sequence[int]], int]


def murmur2(key: bytes) -> int:
    """Kafka's hash of a key, as the unsigned number whose bits Java shows signed."""
    length = len(key)
    hashed = (_SEED ^ length) & _MASK
    word_count = length >> 2
    if word_count:
        words = _WORDS.get(word_count) or Struct(f"<{word_count}I")
        for word in words.unpack_from(key):
            word = (word * _MULTIPLIER) & _MASK
            word = ((word ^ (word >> 24)) * _MULTIPLIER) & _MASK
            hashed = ((hashed * _MULTIPLIER) & _MASK) ^ word
    rest = length & 3
    if rest:
        hashed = ((hashed ^ int.from_bytes(key[length - rest :], "little")) * _MULTIPLIER) & _MASK
    hashed = ((hashed ^ (hashed >> 13)) * _MULTIPLIER) & _MASK
    return hashed ^ (hashed >> 15)


def partition_for_key(key: bytes, partition_count: int) -> int:
    return (murmur2(key) & _POSITIVE) % partition_count


class StickyPartitioner:
    """Records without a key stay on one partition for `batch_size` bytes, then move on (KIP-480, KIP-794)."""

    def __init__(self, batch_size: int, choose: Choose) -> None:
        self._batch_size = max(1, batch_size)
        self._choose = choose
        self._current: dict[str, tuple[int, int]] = {}

    def partition(self, topic: str, available: Sequence[int], size_bytes: int) -> int:
        """Where the next `size_bytes` go. `available` are the partitions with a leader, at least one."""
        partition, used_bytes = self._current.get(topic, (-1, self._batch_size))
        if used_bytes >= self._batch_size or partition not in available:
            others = [candidate for candidate in available if candidate != partition]
            partition, used_bytes = self._choose(others or available), 0
        self._current[topic] = (partition, used_bytes + size_bytes)
        return partition
