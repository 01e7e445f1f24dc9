"""Kafka's own number encodings as Spark columns: what IntegerSerializer writes and IntegerDeserializer reads.

Four bytes, most significant first. Arithmetic that overflows wraps on the way out, as Java's does: the lowest four
bytes are kept.
"""

from pyspark.sql import Column
from pyspark.sql import functions as f

INT32_BYTES = 4
INT32_HEX_DIGITS = 8
INT64_HEX_DIGITS = 16
INT32_MAX = 2**31 - 1


def int32_from_bytes(value: Column) -> Column:
    """The integer, or null where there are not exactly four bytes."""
    unsigned = f.conv(f.hex(value), 16, 10).cast("bigint")
    signed = f.when(unsigned > INT32_MAX, unsigned - 2**32).otherwise(unsigned)
    return f.when(f.octet_length(value) == INT32_BYTES, signed.cast("int"))


def int32_to_bytes(number: Column) -> Column:
    digits = f.lpad(f.hex(number.cast("bigint")), INT64_HEX_DIGITS, "0")
    return f.unhex(f.right(digits, f.lit(INT32_HEX_DIGITS)))
