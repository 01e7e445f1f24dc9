"""`/metrics` in Prometheus form, on a port of its own.

The server only counts, in plain numbers; they are put into Prometheus' form when they are asked for, on the thread that
asks.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from fencepost.server.broker_server import SYNC_SECONDS_BOUNDS
from fencepost.wire.api import API_TABLE

if TYPE_CHECKING:
    from fencepost.server.broker_server import BrokerServer


class BrokerCollector(Collector):
    def __init__(self, server: "BrokerServer") -> None:
        self._server = server

    def collect(self) -> Iterator[Metric]:
        counts, core = self._server.counts, self._server.core
        requests = CounterMetricFamily("fencepost_requests", "Requests served", labels=["api"])
        for api_key, count in sorted(counts.requests.copy().items()):
            requests.add_metric([API_TABLE[api_key].name], count)
        yield requests
        yield CounterMetricFamily("fencepost_received_bytes", "Bytes of requests", counts.received_bytes)
        yield CounterMetricFamily("fencepost_sent_bytes", "Bytes of replies", counts.sent_bytes)
        yield CounterMetricFamily("fencepost_connections_opened", "Connections ever opened", counts.connections_opened)
        yield GaugeMetricFamily("fencepost_connections", "Connections open now", len(self._server.connections))
        yield GaugeMetricFamily("fencepost_topics", "Topics, internal ones included", len(core.state.catalogue.topics))
        yield GaugeMetricFamily("fencepost_partitions", "Partitions", len(core.state.logs))
        open_count = len(core.state.transactions.open_transactions)
        yield GaugeMetricFamily("fencepost_open_transactions", "Transactions that are open", open_count)
        yield GaugeMetricFamily("fencepost_journal_position", "Entries ever appended", core.journal.last_position)
        yield GaugeMetricFamily("fencepost_journal_synced_position", "Entries on disk", core.synced_position)
        yield self._sync_seconds()

    def _sync_seconds(self) -> Metric:
        counts = self._server.counts
        buckets, total = [], 0
        for bound, count in zip((*map(str, SYNC_SECONDS_BOUNDS), "+Inf"), counts.sync_seconds_buckets, strict=True):
            total += count
            buckets.append((bound, total))
        family = HistogramMetricFamily("fencepost_sync_seconds", "Time to write and sync a commit group")
        family.add_metric([], buckets, counts.sync_seconds_total)
        return family


def serve_metrics(server: "BrokerServer", *, host: str, port: int) -> tuple[WSGIServer, int]:
    """The running HTTP server, to be shut down by the caller, and its port."""
    registry = CollectorRegistry()
    registry.register(BrokerCollector(server))
    httpd, _thread = start_http_server(port, addr=host, registry=registry)
    return httpd, httpd.server_port
