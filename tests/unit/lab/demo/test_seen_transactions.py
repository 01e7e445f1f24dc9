"""The lane of transactions, read from logs whose transactions are known."""

import time

from fencepost.client import Producer
from fencepost.lab.demo.timeline import SpanKind, transactions_lane
from fencepost.server.embedded import EmbeddedBroker


def test_a_transaction_over_several_topics_is_one_span_and_an_open_one_is_none(
    fencepost_broker: EmbeddedBroker,
) -> None:
    servers = fencepost_broker.bootstrap_servers
    started_ms = time.time() * 1000
    with Producer(servers, transactional_id="shop") as producer:
        producer.init_transactions()
        for is_commit, count in ((True, 3), (False, 2), (True, 1)):
            producer.begin_transaction()
            for number in range(count):
                producer.send("invoices", value=b"%d" % number)
                producer.send("shipments", value=b"%d" % number)
            producer.flush()
            if is_commit:
                producer.commit_transaction()
            else:
                producer.abort_transaction()
        producer.begin_transaction()
        producer.send("invoices", value=b"undecided").result(10)
        lane = transactions_lane(servers, ["invoices", "shipments"], started_ms=started_ms)
        producer.abort_transaction()
    assert [(span.kind, span.label) for span in lane.spans] == [
        (SpanKind.COMMITTED, "6 records, committed"),
        (SpanKind.ABORTED, "4 records, aborted"),
        (SpanKind.COMMITTED, "2 records, committed"),
    ]
    assert all(0 <= span.start_s <= span.end_s for span in lane.spans)
