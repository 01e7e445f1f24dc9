"""Java's `String.hashCode`, by which Kafka finds the partition that a group or transactional id lives on.

The hash runs over UTF-16 code units, not over code points or UTF-8 bytes. Clients never compute it, but tools that read
`__transaction_state` and `__consumer_offsets` do, and a data folder must find its own records again.
"""

import struct
from functools import lru_cache

HASH_MODULUS = 1 << 32
HASH_MIN = -(1 << 31)


@lru_cache(maxsize=4096)
def java_string_hash(text: str) -> int:
    """h = 31 * h + unit over the UTF-16 units, wrapped to a signed 32-bit number."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    hashed = 0
    for unit in struct.unpack(f">{len(encoded) // 2}H", encoded):
        hashed = (31 * hashed + unit) % HASH_MODULUS
    return hashed - HASH_MODULUS if hashed >= -HASH_MIN else hashed


def partition_for(name: str, partition_count: int) -> int:
    """The partition of `__transaction_state` or `__consumer_offsets` that holds `name`."""
    hashed = java_string_hash(name)
    # Java's Math.abs(Integer.MIN_VALUE) is negative; Kafka's Utils.abs makes it 0.
    return 0 if hashed == HASH_MIN else abs(hashed) % partition_count
