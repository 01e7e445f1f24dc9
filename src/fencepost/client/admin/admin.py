"""Administration of any Kafka cluster: thin calls, each one request or one to each broker; errors are raised,
except those that pass while the cluster elects or loads (`asking.py`)."""

from collections.abc import Iterable
from typing import Any

from fencepost.client.admin.groups import GroupCalls
from fencepost.client.admin.topics import TopicCalls
from fencepost.client.admin.transactions import TransactionCalls
from fencepost.client.cluster import Cluster
from fencepost.client.settings import ClientSettings, client_settings
from fencepost.client.time_limits import Closing


class Admin(TopicCalls, GroupCalls, TransactionCalls, Closing):
    def __init__(self, bootstrap_servers: str | Iterable[str], **settings: Any) -> None:
        chosen = client_settings(ClientSettings, settings, kind="admin client")
        super().__init__(Cluster(bootstrap_servers, chosen, allow_auto_topic_creation=False))

    def close(self) -> None:
        self.cluster.close()
