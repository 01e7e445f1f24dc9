"""Clients of several kinds under load, each a process of its own that reports what it was told.

A value names its writer and number. `unknown` is not `failed`: whatever was sent and not answered may be there or not.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event

from aiokafka import AIOKafkaProducer
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from kafka import KafkaProducer
from kafka.errors import KafkaError as KafkaPythonError

from fencepost.errors import ErrorCode
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.server.raw_client import RawClient

PLAIN_TOPIC = "plain"
TRANSACTION_TOPICS = ("invoices", "shipments")
CALL_TIMEOUT_S = 30.0
FLUSH_TIMEOUT_S = 120.0
OFFSET_COMMIT = 8


class Outcome(Enum):
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


@dataclass
class Report:
    """What one client knows when it ends."""

    acknowledged: list[int] = field(default_factory=list)
    transactions: dict[int, Outcome] = field(default_factory=dict)
    committed_offset: int = -1
    asked_offset: int = -1
    problems: list[str] = field(default_factory=list)
    crash: str = ""
    is_hung: bool = False


Load = Callable[[str, str, Report, Event], None]


def run_load(load: Load, servers: str, name: str, stop: Event, end_timeout_s: float, sender: Connection) -> None:
    """The body of a client's process."""
    logging.disable()  # a broker that dies fifty times gives its clients much to complain about
    report = Report()
    worker = threading.Thread(target=_run, args=(load, servers, name, report, stop), daemon=True)
    worker.start()
    stop.wait()
    worker.join(end_timeout_s)
    report.is_hung = worker.is_alive()
    sender.send(report)
    sender.close()
    os._exit(0)  # a client that hangs would keep the process


def _run(load: Load, servers: str, name: str, report: Report, stop: Event) -> None:
    try:
        load(servers, name, report, stop)
    except BaseException as problem:
        report.crash = repr(problem)
        raise


def value_of(writer: str, number: int) -> bytes:
    return f"{writer}:{number}".encode()


def idempotent_writer(servers: str, writer: str, report: Report, stop: Event) -> None:
    """librdkafka, idempotent, acks=all: numbers from 0 on into one partition, each acknowledged once."""
    acknowledged = report.acknowledged

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            acknowledged.append(int(message.value().split(b":")[1]))

    producer = Producer(
        {
            "bootstrap.servers": servers,
            "enable.idempotence": True,
            "linger.ms": 2,
            "message.timeout.ms": 300_000,
            "reconnect.backoff.max.ms": 100,
            "log_level": 0,
        }
    )
    number = 0
    while not stop.is_set():
        producer.produce(PLAIN_TOPIC, value_of(writer, number), partition=0, on_delivery=delivered)
        number += 1
        producer.poll(0)
        time.sleep(0.001)
    producer.flush(FLUSH_TIMEOUT_S)


def offset_committer(servers: str, group_id: str, report: Report, stop: Event) -> None:
    """Commits growing offsets for its group, one after the other. What it was told is committed must stay committed.

    It speaks in raw requests: a broker that lives for less than a second leaves other consumers no time to begin.
    """
    while not stop.is_set():
        try:
            with RawClient(servers) as client:
                while not stop.is_set():
                    report.asked_offset += 1
                    if commit_offset(client, group_id, report.asked_offset) == ErrorCode.NONE:
                        report.committed_offset = report.asked_offset
        except (OSError, AssertionError):  # the connection is gone: nobody knows whether the last commit arrived
            time.sleep(0.02)


def commit_offset(client: RawClient, group_id: str, offset: int) -> int:
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)]
    topics = [OffsetCommitRequestTopic(name=PLAIN_TOPIC, partitions=partitions)]
    response = client.ask(OFFSET_COMMIT, 8, OffsetCommitRequest(group_id=group_id, topics=topics))
    return response.topics[0].partitions[0].error_code


def confluent_transactions(servers: str, writer: str, report: Report, stop: Event) -> None:
    """librdkafka: one record on each topic per transaction; every fifth is aborted on purpose."""
    outcomes = report.transactions
    producer: Producer | None = None
    number = 0
    while not stop.is_set():
        try:
            if producer is None:
                producer = Producer(
                    {
                        "bootstrap.servers": servers,
                        "transactional.id": writer,
                        "reconnect.backoff.max.ms": 100,
                        "transaction.timeout.ms": 60_000,
                        "log_level": 0,
                    }
                )
                producer.init_transactions(CALL_TIMEOUT_S)
            outcomes[number] = Outcome.UNKNOWN
            producer.begin_transaction()
            for topic in TRANSACTION_TOPICS:
                producer.produce(topic, value_of(writer, number), partition=number % 2)
            if number % 5 == 4:
                producer.abort_transaction(CALL_TIMEOUT_S)
                outcomes[number] = Outcome.ABORTED
            else:
                producer.commit_transaction(CALL_TIMEOUT_S)
                outcomes[number] = Outcome.COMMITTED
        except KafkaException as problem:
            producer = _recover(producer, problem)
        number += 1


def _recover(producer: Producer | None, problem: KafkaException) -> Producer | None:
    """Abort if that is what is asked for; otherwise start over with a new instance, which fences this one."""
    error = problem.args[0]
    if producer is not None and error.txn_requires_abort():
        try:
            producer.abort_transaction(CALL_TIMEOUT_S)
        except KafkaException:
            return None
        return producer
    return None


def kafka_python_transactions(servers: str, writer: str, report: Report, stop: Event) -> None:
    outcomes = report.transactions
    producer: KafkaProducer | None = None
    number = 0
    while not stop.is_set():
        try:
            if producer is None:
                producer = KafkaProducer(
                    bootstrap_servers=servers,
                    transactional_id=writer,
                    transaction_timeout_ms=10_000,  # it may hang, and readers wait for what it leaves open
                    reconnect_backoff_max_ms=100,
                )
                producer.init_transactions()
            outcomes[number] = Outcome.UNKNOWN
            producer.begin_transaction()
            for topic in TRANSACTION_TOPICS:
                producer.send(topic, value_of(writer, number), partition=number % 2)
            producer.commit_transaction()
            outcomes[number] = Outcome.COMMITTED
        except (KafkaPythonError, AssertionError):
            _close_quietly(producer)
            producer = None
        number += 1
    _close_quietly(producer)


def _close_quietly(producer: KafkaProducer | None) -> None:
    if producer is not None:
        try:
            producer.close(timeout=1)
        except KafkaPythonError:
            return


def aiokafka_transactions(servers: str, writer: str, report: Report, stop: Event) -> None:
    asyncio.run(_aiokafka_transactions(servers, writer, report, stop))


async def _aiokafka_transactions(servers: str, writer: str, report: Report, stop: Event) -> None:
    outcomes = report.transactions
    producer: AIOKafkaProducer | None = None
    number = 0
    while not stop.is_set():
        try:
            if producer is None:
                producer = AIOKafkaProducer(bootstrap_servers=servers, transactional_id=writer)
                await asyncio.wait_for(producer.start(), CALL_TIMEOUT_S)
            outcomes[number] = Outcome.UNKNOWN
            async with producer.transaction():
                for topic in TRANSACTION_TOPICS:
                    await producer.send_and_wait(topic, value_of(writer, number), partition=number % 2)
            outcomes[number] = Outcome.COMMITTED
        except Exception as problem:  # noqa: BLE001 - whatever it says, the outcome is unknown and a new instance follows
            report.problems.append(f"{writer}: {problem!r}")
            await _stop_quietly(producer)
            producer = None
            await asyncio.sleep(0.05)
        number += 1
    await _stop_quietly(producer)


async def _stop_quietly(producer: AIOKafkaProducer | None) -> None:
    if producer is not None:
        try:
            await asyncio.wait_for(producer.stop(), 5)
        except Exception:  # noqa: BLE001 - it is being thrown away
            return
