"""The documents' stage that squares: `tx-input` to `tx-output`, keys are text, values are what Kafka's
IntegerSerializer writes.

The documents' input and output stages (`InputStage`, `OutputStage`) plug in on either side, in any language.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from fencepost.pipelines import int32_to_bytes, parse_int32, pipeline


@pipeline(name="squares", reads="tx-input", writes=["tx-output", "tx-input.dead-letters"])
def squares(numbers: DataFrame) -> dict[str, DataFrame]:
    numbers, unreadable = parse_int32(numbers)
    number = f.col("parsed").cast("bigint")
    return {
        "tx-output": numbers.select("key", int32_to_bytes(number * number).alias("value")),
        "tx-input.dead-letters": unreadable,
    }
