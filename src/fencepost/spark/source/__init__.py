"""`format("fencepost")`: topics of any Kafka cluster as DataFrames, streaming or batch.

Options and columns are those of Spark's `kafka` source. `register(spark)` of the package makes the name known.
"""

from collections.abc import MutableMapping

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from fencepost.spark.options import InvalidOption
from fencepost.spark.source.batch import FencepostBatchReader
from fencepost.spark.source.options import SourceOptions, source_options
from fencepost.spark.source.reading import SPARK_SCHEMA, SPARK_SCHEMA_WITH_HEADERS
from fencepost.spark.source.stream import FencepostStreamReader

# ruff: noqa: N802 - the methods carry the names that Spark calls


class FencepostDataSource(DataSource):
    """Made by Spark when a DataFrame is: a bad option is refused there and then."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        self._options: SourceOptions = source_options(options)

    @classmethod
    def name(cls) -> str:
        return "fencepost"

    def schema(self) -> StructType:
        return SPARK_SCHEMA_WITH_HEADERS if self._options.include_headers else SPARK_SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        self._check_schema(schema)
        return FencepostBatchReader(self._options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        self._check_schema(schema)
        return FencepostStreamReader(self._options)

    def _check_schema(self, schema: StructType) -> None:
        if schema != self.schema():
            raise InvalidOption(
                f"the schema of this source is fixed: {self.schema().simpleString()}; leave .schema(...) out and use "
                "functions on the columns key and value"
            )
