"""The auditor on real topics: committed records only, the input as far as the pipeline has come."""

import struct

import pytest

from fencepost.client import Admin, Producer
from fencepost.pipelines.audit import audit
from fencepost.pipelines.audit_reading import committed_ends, read_outputs, read_topic
from fencepost.pipelines.audit_rules import PipelineRule
from tests.spark.pipelines.use import Drained, create, one, write

pytestmark = pytest.mark.timeout(3600)


def verdict_of(spark, servers):
    squares = one("squares")
    options = {"kafka.bootstrap.servers": servers}
    with Admin(servers) as admin:
        ends = committed_ends(admin, squares.reads, "fencepost.default.squares")
    rule = PipelineRule(squares, [read_topic(spark, options, "tx-input", ends)], {})
    return audit(rule, read_outputs(spark, options, rule.outputs, rule), rule.outputs)


def numbers(start, end):
    return [(b"k%d" % (number % 4), struct.pack(">i", number)) for number in range(start, end)]


def test_what_a_pipeline_wrote_is_proved_and_what_others_add_is_named(spark, servers, tmp_path):
    create(servers, "tx-input", "tx-output", "tx-input.dead-letters")
    write(servers, "tx-input", [*numbers(0, 40), (b"short", b"\x01")])
    Drained(spark, one("squares"), servers, tmp_path)
    write(servers, "tx-input", numbers(40, 50))
    with Producer(servers, transactional_id="aborted") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send("tx-output", key=b"aborted", value=b"\x00\x00\x00\x07")
        producer.abort_transaction()

    proved = verdict_of(spark, servers)
    assert proved.is_exactly_once, proved.findings
    assert proved.input_count == 41, "records that the pipeline has not read yet are no loss"
    assert proved.output_counts == {"tx-output": 40, "tx-input.dead-letters": 1}

    write(servers, "tx-output", [(b"k3", struct.pack(">i", 9)), (b"k0", struct.pack(">i", 17))])
    broken = verdict_of(spark, servers)
    assert sorted((one.kind, one.output, len(one.outputs)) for one in broken.findings) == [
        ("duplicated", "tx-output", 2),
        ("unexpected", "tx-output", 1),
    ]
