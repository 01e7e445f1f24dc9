"""The auditor on real topics: committed records only, the input as far as the pipeline has come."""

import struct

import pytest

from fencepost.client import Admin, Producer
from fencepost.pipelines.audit import NothingCommitted, audit, committed_ends, pipeline_rule, read_topic
from fencepost.pipelines.pipeline import pipeline
from fencepost.types import TopicPartition
from tests.spark.pipelines.use import Drained, create, one, write

pytestmark = pytest.mark.timeout(3600)


def verdict_of(spark, servers):
    squares = one("squares")
    options = {"kafka.bootstrap.servers": servers}
    with Admin(servers) as admin:
        ends = committed_ends(admin, squares.reads, "fencepost.default.squares")
    rule = pipeline_rule(squares, [read_topic(spark, options, "tx-input", ends)], {})
    return audit(rule, {topic: read_topic(spark, options, topic) for topic in rule.outputs})


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


@pipeline(name="copy", reads="in", writes="out")
def copy(rows):
    return rows.select("key", "value")


def produce(servers, topic, partition, *values):
    with Producer(servers) as producer:
        for value in values:
            producer.send(topic, key=b"k", value=value, partition=partition)


def test_small_partitions_that_a_task_would_share_have_no_order_between_them(spark, servers):
    create(servers, "in", partitions=2)
    create(servers, "out", partitions=1)
    produce(servers, "in", 1, b"first")
    produce(servers, "in", 0, b"second", b"third")
    produce(servers, "out", 0, b"first", b"second", b"third")
    options = {"kafka.bootstrap.servers": servers}
    rule = pipeline_rule(copy, [read_topic(spark, options, "in")], {})
    proved = audit(rule, {"out": read_topic(spark, options, "out")})
    assert proved.is_exactly_once, proved.findings


def test_a_partition_that_the_group_has_not_begun_is_read_up_to_its_beginning(spark, servers):
    create(servers, "in", partitions=2)
    produce(servers, "in", 0, b"done")
    produce(servers, "in", 1, b"yet to come")
    with Admin(servers) as admin:
        admin.alter_group_offsets("g", {TopicPartition("in", 0): 1})
        ends = committed_ends(admin, ["in"], "g")
    rows = read_topic(spark, {"kafka.bootstrap.servers": servers}, "in", ends).collect()
    assert [bytes(row["value"]) for row in rows] == [b"done"]


def test_a_group_that_has_committed_nothing_of_what_is_there_is_refused(servers):
    create(servers, "in", partitions=2)
    with Admin(servers) as admin:
        assert set(committed_ends(admin, ["in"], "g").values()) == {0}, "there is nothing to commit"
        produce(servers, "in", 1, b"here")
        with pytest.raises(NothingCommitted, match=r"group 'g' .*'in'.*--namespace.*--group"):
            committed_ends(admin, ["in"], "g")
