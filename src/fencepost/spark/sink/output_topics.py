"""How many partitions an output topic has and how large a batch it takes: known to the driver, or asked for by a task.

The driver sends along what it knows, so that tasks need no broker; a topic that first shows up in a row is asked for
by the task that meets it, once in the life of its process.
"""

from dataclasses import dataclass
from functools import cache

from fencepost.client.admin.topics import max_message_bytes
from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import InvalidTopic, RetriableError
from fencepost.client.net.metadata import TopicMetadata
from fencepost.client.settings import ProducerSettings, client_settings
from fencepost.client.time_limits import Deadline
from fencepost.errors import ErrorCode
from fencepost.spark.options import KafkaOptions
from fencepost.spark.sink.errors import InvalidRow

LOOK_UP_TIMEOUT_S = 15.0


@dataclass(frozen=True, slots=True)
class OutputTopic:
    metadata: TopicMetadata
    max_message_bytes: int


def look_up(cluster: Cluster, name: str) -> OutputTopic:
    """Waits a while for a topic that the broker creates; raises `InvalidRow` if there is none."""
    try:
        metadata = cluster.topic(name, Deadline(LOOK_UP_TIMEOUT_S))
    except InvalidTopic as problem:
        raise InvalidRow(f"topic '{name}' is no name that a topic can have: {problem}") from problem
    except RetriableError as problem:
        found = cluster.metadata.topics.get(name)
        if found is None or found.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise
        raise InvalidRow(
            f"topic '{name}' does not exist, and the cluster does not create it (auto.create.topics.enable): "
            "create it, or correct the name"
        ) from problem
    return OutputTopic(metadata, max_message_bytes(cluster, name))


def look_up_in_task(options: KafkaOptions, name: str) -> OutputTopic:
    return _look_up_once(options, name)


@cache
def task_cluster(options: KafkaOptions) -> Cluster:
    """One for each process: connections stay open from task to task."""
    settings = client_settings(ProducerSettings, options.keywords(), kind="transactional sink's task")
    return Cluster(options.bootstrap_servers, settings)


@cache
def _look_up_once(options: KafkaOptions, name: str) -> OutputTopic:
    return look_up(task_cluster(options), name)
