"""One transactional producer pinned to each input partition, moved by the rebalance callbacks.

producers = PinnedProducers(bootstrap_servers)
consumer.subscribe(["tx-input"], on_assigned=producers.on_assigned, on_revoked=producers.on_revoked)
...
producer = producers[record.topic_partition]        # its transactional id is tx-input-2 for partition 2

The transactional id names the input partition, so the member that is given the partition takes over the id too, and
fences the one that had it, whether that one knows of the rebalance or not. That happens in `on_assigned`, before the
first record is looked for: the take-over ends a transaction that its predecessor left open, and only then is it certain
where to read on. Under `assign` there are no callbacks; the producer is then made when it is first asked for.
"""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from fencepost.client.time_limits import Closing
from fencepost.types import TopicPartition

if TYPE_CHECKING:
    from fencepost.client.producer.producer import Producer


MakeProducer = Callable[..., "Producer"]


class PinnedProducers(Closing):
    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        *,
        transactional_id_prefix: str = "",
        make_producer: MakeProducer | None = None,
        **settings: Any,
    ) -> None:
        """`settings` are those of a producer; its transactional id is the prefix and `topic-partition`."""
        self._bootstrap_servers = bootstrap_servers
        self._prefix = transactional_id_prefix
        self._make_producer = make_producer or _make_producer
        self._settings = settings
        self._producers: dict[TopicPartition, Producer] = {}

    def __getitem__(self, partition: tuple[str, int]) -> "Producer":
        """The producer of this input partition, ready to begin a transaction."""
        topic_partition = TopicPartition(*partition)
        if topic_partition not in self._producers:
            producer = self._make_producer(
                self._bootstrap_servers, transactional_id=self.transactional_id(topic_partition), **self._settings
            )
            try:
                producer.init_transactions()
            except BaseException:
                producer.close()
                raise
            self._producers[topic_partition] = producer
        return self._producers[topic_partition]

    def transactional_id(self, partition: tuple[str, int]) -> str:
        return f"{self._prefix}{TopicPartition(*partition)}"

    @property
    def partitions(self) -> list[TopicPartition]:
        return sorted(self._producers)

    def on_assigned(self, partitions: Iterable[TopicPartition]) -> None:
        for topic_partition in partitions:
            self[topic_partition]

    def on_revoked(self, partitions: Iterable[TopicPartition]) -> None:
        """Close their producers; a transaction that is open is aborted, here or by the take-over."""
        with ExitStack() as closing:  # all of them are gone from here, also when one cannot be closed
            for topic_partition in partitions:
                producer = self._producers.pop(topic_partition, None)
                if producer is not None:
                    closing.callback(producer.close)

    def close(self) -> None:
        self.on_revoked(self.partitions)


def _make_producer(*arguments: Any, **settings: Any) -> "Producer":
    from fencepost.client.producer.producer import Producer

    return Producer(*arguments, **settings)
