"""kcat 1.7 (an older librdkafka, as Debian has it) in everyday use: metadata, produce, consume, groups, offsets."""

import json
from collections.abc import Callable

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.confluent.clients import create_topic
from tests.interop.support import COMPRESSIONS, MURMUR2_OF_KEY, apache_partition

Kcat = Callable[..., str]
ALL = ("-C", "-o", "beginning", "-e", "-q")


def test_metadata_lists_broker_and_topics(broker: EmbeddedBroker, kcat: Kcat, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, partitions=3)
    listed = kcat("-L", "-t", name)
    assert f"broker 1 at {broker.bootstrap_servers} (controller)" in listed
    assert f'topic "{name}" with 3 partitions:' in listed
    described = json.loads(kcat("-L", "-J", "-t", name))
    (topic,) = described["topics"]
    assert [(part["partition"], part["leader"]) for part in topic["partitions"]] == [(0, 1), (1, 1), (2, 1)]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_lines_come_back_with_keys_headers_and_offsets(
    broker: EmbeddedBroker, kcat: Kcat, name: str, compression: str
) -> None:
    create_topic(broker.bootstrap_servers, name)
    lines = "".join(f"key-{number}:value-{number}\n" for number in range(200))
    kcat("-P", "-t", name, "-K", ":", "-H", "origin=kcat", "-H", "empty", "-z", compression, stdin=lines)
    printed = kcat(*ALL, "-t", name, "-f", "%p %o %k %s %h\\n")
    assert printed.splitlines() == [
        f"0 {number} key-{number} value-{number} origin=kcat,empty=NULL" for number in range(200)
    ]


def test_json_output_tells_everything(broker: EmbeddedBroker, kcat: Kcat, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    kcat("-P", "-t", name, "-K", ":", "-Z", "-H", "a=1", stdin="key:value\ntombstone:\n:no key\n")
    first, tombstone, keyless = map(json.loads, kcat(*ALL, "-t", name, "-J").splitlines())
    assert (first["key"], first["payload"], first["headers"]) == ("key", "value", ["a", "1"])
    assert (first["partition"], first["offset"], first["tstype"]) == (0, 0, "create")
    assert (tombstone["key"], tombstone["payload"], tombstone["offset"]) == ("tombstone", None, 1)
    assert (keyless["key"], keyless["payload"], keyless["offset"]) == (None, "no key", 2)


def test_keys_land_on_the_partitions_of_apache_kafka(broker: EmbeddedBroker, kcat: Kcat, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, partitions=7)
    lines = "".join(f"{key.decode()}:v\n" for key in MURMUR2_OF_KEY)
    kcat("-P", "-t", name, "-K", ":", "-X", "partitioner=murmur2_random", stdin=lines)
    landed = dict(line.rsplit(" ", 1) for line in kcat(*ALL, "-t", name, "-f", "%k %p\\n").splitlines())
    assert landed == {key.decode(): str(apache_partition(key, 7)) for key in MURMUR2_OF_KEY}


def test_a_reader_may_start_anywhere_and_stop_after_some(broker: EmbeddedBroker, kcat: Kcat, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    kcat("-P", "-t", name, stdin="".join(f"{number}\n" for number in range(10)))
    assert kcat("-C", "-q", "-t", name, "-o", "4", "-c", "2").split() == ["4", "5"]
    assert kcat("-C", "-q", "-t", name, "-o", "-3", "-e").split() == ["7", "8", "9"]


def test_a_group_goes_on_where_it_stopped(broker: EmbeddedBroker, kcat: Kcat, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    kcat("-P", "-t", name, stdin="".join(f"{number}\n" for number in range(10)))
    earliest = ("-q", "-X", "auto.offset.reset=earliest")
    assert kcat(*earliest, "-c", "6", "-G", name, name).split() == ["0", "1", "2", "3", "4", "5"]
    assert kcat(*earliest, "-c", "4", "-G", name, name).split() == ["6", "7", "8", "9"]


def test_offsets_are_asked_for_by_time(broker: EmbeddedBroker, kcat: Kcat, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    kcat("-P", "-t", name, stdin="".join(f"{number}\n" for number in range(10)))
    third = json.loads(kcat("-C", "-q", "-t", name, "-o", "3", "-c", "1", "-J"))["ts"]
    stamps = [json.loads(line)["ts"] for line in kcat(*ALL, "-t", name, "-J").splitlines()]
    assert kcat("-Q", "-t", f"{name}:0:{third}").split() == [name, "[0]", "offset", str(stamps.index(third))]
    assert kcat("-Q", "-t", f"{name}:0:-2").split() == [name, "[0]", "offset", "0"]
    assert kcat("-Q", "-t", f"{name}:0:-1").split() == [name, "[0]", "offset", "10"]


def test_a_transaction_of_kcat_is_one_commit(broker: EmbeddedBroker, kcat: Kcat, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    kcat("-P", "-t", name, "-X", f"transactional.id={name}", stdin="one\ntwo\n")
    assert kcat(*ALL, "-t", name, "-X", "isolation.level=read_committed").split() == ["one", "two"]


def test_an_oversized_line_is_refused(broker: EmbeddedBroker, kcat: Kcat, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, config={"max.message.bytes": "1000"})
    complaint = kcat("-P", "-t", name, stdin="x" * 2000 + "\n", refused=True)
    assert "Message size too large" in complaint
