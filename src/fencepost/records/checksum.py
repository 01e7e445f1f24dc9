"""CRC-32C as arithmetic: what a change in front of some bytes does to their checksum, without reading those bytes.

A checksum is a polynomial over GF(2), modulo Castagnoli's; the highest bit stands for x to the power of 0. Two messages
of one length whose checksums differ by d still differ behind n more bytes that they share: by d times x to the power of
8n.
"""

from functools import lru_cache

_POLYNOMIAL = 0x82F63B78
_ONE = 1 << 31
_X_TO_THE_8 = _ONE >> 8
_FINE = 1024
"""Batches of about one size share what is left of it above this, so that both factors have been computed before."""


def shifted(difference: int, size_bytes: int) -> int:
    """How far two checksums are apart that differ so, behind `size_bytes` bytes more."""
    fine_bytes = size_bytes % _FINE
    return _multiply(_multiply(difference, _power(fine_bytes)), _power(size_bytes - fine_bytes))


@lru_cache(maxsize=4 * _FINE)
def _power(size_bytes: int) -> int:
    """x to the power of 8 times so much."""
    if size_bytes == 0:
        return _ONE
    if size_bytes % 2:
        return _multiply(_power(size_bytes - 1), _X_TO_THE_8)
    half = _power(size_bytes // 2)
    return _multiply(half, half)


def _multiply(one: int, other: int) -> int:
    product = 0
    while one:
        if one & _ONE:
            product ^= other
        one = (one << 1) & 0xFFFFFFFF
        other = other >> 1 ^ _POLYNOMIAL if other & 1 else other >> 1
    return product
