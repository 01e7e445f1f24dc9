"""Readings of sensors to averages, with pandas: python -m examples.arrow.with_pandas"""

import pandas as pd
import pyarrow as pa

from examples.arrow.averages import READING_COUNT, SENSORS, averages, broker, run, send


def readings() -> pa.Table:
    numbers = pd.Series(range(READING_COUNT))
    frame = pd.DataFrame({"key": numbers.map(lambda n: SENSORS[n % 3]), "value": (numbers % 40).astype(str)})
    return pa.Table.from_pandas(frame, preserve_index=False)


def average(batch: pa.RecordBatch) -> pa.Table:
    frame = batch.select(["key", "value"]).cast(pa.schema({"key": pa.string(), "value": pa.string()})).to_pandas()
    by_sensor = frame.assign(value=frame["value"].astype(float)).groupby("key", as_index=False)
    found = by_sensor.agg(mean=("value", "mean"), count=("value", "size"))
    found["value"] = found["mean"].astype(str) + " of " + found["count"].astype(str)
    return pa.Table.from_pandas(found[["key", "value"]], preserve_index=False)


def main() -> None:
    with broker(__doc__) as bootstrap_servers:
        send(bootstrap_servers, readings())
        print("read", run(bootstrap_servers, average), "readings")
        frame = averages(bootstrap_servers).select(["key", "value"]).to_pandas()
        print(frame.apply(lambda column: column.str.decode("utf-8")).to_string(index=False))


if __name__ == "__main__":
    main()
