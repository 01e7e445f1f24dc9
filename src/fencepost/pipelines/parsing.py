"""Records that can be read, and records that cannot: the second go to a dead-letter topic, in the same transaction.

    purchases, unreadable = parse_json(purchases, "userId string not null, quantity int not null")
    return {"invoices": ..., "purchases.dead-letters": unreadable}

The first DataFrame has the source's columns and `parsed`; the second has the record's own key and value and, as
headers, where it came from and why it is there. Every input row is in exactly one of the two.
"""

from typing import cast

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StringType, StructField, StructType

from fencepost.spark.sink.frames import HEADERS_DDL

INT32_BYTES = 4
INT32_HEX_DIGITS = 8
INT64_HEX_DIGITS = 16
INT32_MAX = 2**31 - 1
PARSED = "parsed"
CORRUPT = "_corrupt_record"


def int32_from_bytes(value: Column) -> Column:
    """What IntegerSerializer wrote, most significant byte first; null where there are not exactly four bytes."""
    unsigned = f.conv(f.hex(value), 16, 10).cast("bigint")
    signed = f.when(unsigned > INT32_MAX, unsigned - 2**32).otherwise(unsigned)
    return f.when(f.octet_length(value) == INT32_BYTES, signed.cast("int"))


def int32_to_bytes(number: Column) -> Column:
    """As IntegerDeserializer reads it. What overflows wraps as Java's does: the lowest four bytes are kept."""
    digits = f.lpad(f.hex(number.cast("bigint")), INT64_HEX_DIGITS, "0")
    return f.unhex(f.right(digits, f.lit(INT32_HEX_DIGITS)))


def parse(records: DataFrame, parsed: Column, *, reason: str) -> tuple[DataFrame, DataFrame]:
    """Split by whether `parsed` is null; `reason` is what the dead letters' header says."""
    with_parsed = records.withColumn(PARSED, parsed)
    readable = with_parsed.where(f.col(PARSED).isNotNull())
    return readable, dead_letters(with_parsed.where(f.col(PARSED).isNull()), reason=reason)


def parse_json(records: DataFrame, schema: str | StructType) -> tuple[DataFrame, DataFrame]:
    """`parsed` is a struct. A value that is not JSON, does not fit, or lacks a field declared `not null` is a dead
    letter.
    """
    wanted = cast("StructType", StructType.fromDDL(schema)) if isinstance(schema, str) else schema
    asked = StructType([*wanted.fields, StructField(CORRUPT, StringType())])
    document = f.from_json(f.col("value").cast("string"), asked, {"columnNameOfCorruptRecord": CORRUPT})
    raw = "__parsed_json"
    is_readable = f.col(f"{raw}.{CORRUPT}").isNull() & f.col(raw).isNotNull()
    for required in (one.name for one in wanted.fields if not one.nullable):
        is_readable &= f.col(f"{raw}.`{required}`").isNotNull()
    parsed = f.when(is_readable, f.struct(*(f.col(f"{raw}.`{one.name}`") for one in wanted.fields)))
    with_document = records.withColumn(raw, document)
    readable, unreadable = parse(with_document, parsed, reason=f"not JSON with {wanted.simpleString()}")
    return readable.drop(raw), unreadable


def parse_int32(records: DataFrame) -> tuple[DataFrame, DataFrame]:
    """`parsed` is the integer that Kafka's IntegerSerializer wrote."""
    return parse(records, int32_from_bytes(f.col("value")), reason="not the four bytes of an integer")


def dead_letters(records: DataFrame, *, reason: str) -> DataFrame:
    """Key and value as they came; topic, partition, offset and the reason as headers."""
    origin = [
        f.struct(f.lit(f"fencepost.{name}").alias("key"), f.col(name).cast("string").cast("binary").alias("value"))
        for name in ("topic", "partition", "offset")
    ]
    why = f.struct(f.lit("fencepost.reason").alias("key"), f.lit(reason).cast("binary").alias("value"))
    return records.select("key", "value", f.array(*origin, why).cast(HEADERS_DDL).alias("headers"))
