"""What partitions say of the producer that has just written to them: the second opinion before a commit (step 5).

Acknowledgements say that batches were taken; the state says that nothing was taken before them and nothing is missing
between. One request for each leader. A principal that may not ask is not held up: what was acknowledged is counted
all the same.
"""

import logging
from collections.abc import Mapping

from fencepost.client.admin.transactions import describe_producers
from fencepost.client.cluster import Cluster
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import Authorization, UnsupportedVersion
from fencepost.client.values import ProducerIdentity
from fencepost.records.record import SEQUENCE_MAX
from fencepost.spark.sink.errors import PublishFailed
from fencepost.types import TopicPartition
from fencepost.wire.messages.describe_producers import PartitionResponse

logger = logging.getLogger("fencepost.spark")


def check_producer_states(cluster: Cluster, identity: ProducerIdentity, records: Mapping[TopicPartition, int]) -> None:
    """Raises `PublishFailed` if a partition has another number of this transaction's records than was encoded."""
    try:
        for where, row in describe_producers(cluster, records).items():
            if row.error_code:
                raise error_of(row.error_code, "DescribeProducers", what=str(where), explanation=row.error_message)
            _check(where, row, identity, records[where])
    except (Authorization, UnsupportedVersion) as problem:
        logger.info("producer states cannot be looked at: %s", problem)


def _check(where: TopicPartition, row: PartitionResponse, identity: ProducerIdentity, record_count: int) -> None:
    expected = (identity.producer_epoch, (record_count - 1) % (SEQUENCE_MAX + 1))
    for producer in row.active_producers:
        if producer.producer_id == identity.producer_id:
            found = (producer.producer_epoch, producer.last_sequence)
            if found == expected and producer.current_txn_start_offset >= 0:
                return
            raise PublishFailed(
                f"{where} has epoch {found[0]}, last sequence {found[1]}, transaction from offset "
                f"{producer.current_txn_start_offset} for {identity}: expected last sequence {expected[1]} in an "
                "open transaction"
            )
    raise PublishFailed(f"{where} does not know {identity}, which has just written {record_count} records there")
