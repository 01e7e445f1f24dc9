"""Readings of sensors to averages, with polars: python -m examples.arrow.with_polars"""

import polars as pl
import pyarrow as pa

from examples.arrow.averages import READING_COUNT, SENSORS, averages, broker, run, send


def readings() -> pa.Table:
    numbers = pl.int_range(READING_COUNT, eager=True)
    sensors = pl.DataFrame({"number": range(3), "key": SENSORS})
    frame = pl.DataFrame({"number": numbers % 3, "value": (numbers % 40).cast(pl.String)})
    return frame.join(sensors, on="number", maintain_order="left").select("key", "value").to_arrow()


def average(batch: pa.RecordBatch) -> pa.Table:
    frame = pl.DataFrame(pl.from_arrow(batch)).with_columns(
        pl.col("key").cast(pl.String), pl.col("value").cast(pl.String).cast(pl.Float64)
    )
    found = frame.group_by("key", maintain_order=True).agg(pl.col("value").mean(), count=pl.len())
    return found.select("key", value=pl.format("{} of {}", "value", "count")).to_arrow()


def main() -> None:
    with broker(__doc__) as bootstrap_servers:
        send(bootstrap_servers, readings())
        print("read", run(bootstrap_servers, average), "readings")
        frame = pl.DataFrame(pl.from_arrow(averages(bootstrap_servers)))
        with pl.Config(tbl_rows=-1):
            print(frame.select(pl.col("key", "value").cast(pl.String)))


if __name__ == "__main__":
    main()
