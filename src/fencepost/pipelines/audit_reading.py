"""What an audit reads: committed records only, the input as far as the pipeline has come, the outputs to their end.

The input ends where the pipeline's group has committed, because what lies beyond is not lost but yet to come. The
group is asked before the outputs are read: a transaction that commits in between would look like unexpected records.
"""

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from fencepost.errors import FencepostError
from fencepost.pipelines.audit import Rule
from fencepost.pipelines.audit_rules import with_key
from fencepost.pipelines.pipeline import listed
from fencepost.settings import INT64_MAX
from fencepost.types import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fencepost.client.admin import Admin

NOT_BEGUN = 0
Options = Mapping[str, str]


class NothingCommitted(FencepostError):  # noqa: N818 - it names a state of the group
    """Nobody has read the input under this group, so there is nothing to judge."""


def committed_ends(admin: "Admin", topics: Sequence[str], group_id: str) -> dict[TopicPartition, int]:
    """How far the group has come; a partition without an offset has not been begun."""
    committed = admin.group_offsets(group_id, require_stable=True)
    partitions = [
        TopicPartition(topic, partition)
        for topic, metadata in admin.describe_topics(topics).items()
        for partition in metadata.partitions
    ]
    ends = {where: committed[where].offset for where in partitions if where in committed}
    if not ends and admin.earliest_offsets(partitions) != admin.latest_offsets(partitions):
        raise NothingCommitted(
            f"group '{group_id}' has committed no offset of {listed(topics)}: run the pipeline first, or name its "
            "--namespace or its --group"
        )
    return {where: ends.get(where, NOT_BEGUN) for where in partitions}


def read_topic(
    spark: "SparkSession", options: Options, topic: str, ends: Mapping[TopicPartition, int] | None = None
) -> "DataFrame":
    reader = spark.read.format("fencepost").options(**options)
    reader = reader.option("subscribe", topic).option("startingOffsets", "earliest")
    # No task reads two partitions: a rule takes what comes out of one task for one partition's records in their order.
    reader = reader.option("maxRecordsPerPartition", str(INT64_MAX))
    if ends is not None:
        by_partition = {str(where.partition): offset for where, offset in ends.items() if where.topic == topic}
        reader = reader.option("endingOffsets", json.dumps({topic: by_partition}))
    return reader.load()


def read_outputs(spark: "SparkSession", options: Options, outputs: Sequence[str], rule: Rule) -> "DataFrame":
    """The actual records of all outputs: output, identity, key, partition, offset."""
    from pyspark.sql import functions as f

    tables = [
        with_key(read_topic(spark, options, topic)).select(
            f.lit(topic).alias("output"), rule.identity(topic).alias("identity"), "key", "partition", "offset"
        )
        for topic in outputs
    ]
    return reduce(lambda above, below: above.union(below), tables)
