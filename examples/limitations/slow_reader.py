"""Partial observation: a committed transaction is read partition by partition, by whoever has the partition.

Transfers write a debit to one partition and the credit to another, in one transaction. A slow reader reads the first
partition, then more transfers are committed, then it reads the second. A group of two members has one partition each.
"""

from collections.abc import Iterable

from examples.documents.accounts import Account, balance, print_table
from examples.documents.stage import Stage, story_arguments
from examples.documents.waiting import wait_for
from examples.limitations.ground import open_ground
from examples.questions.asking import fresh
from fencepost.client import Consumer, ConsumerRecord, Producer, TopicPartition

COUNT = 4
DEBIT, CREDIT = 0, 1


def transfer(producer: Producer, topic: str, numbers: range) -> None:
    for number in numbers:
        with producer.transaction() as transaction:
            transaction.send(topic, f"transfer-{number}".encode(), partition=DEBIT)
            transaction.send(topic, f"transfer-{number}".encode(), partition=CREDIT)


def observe(records: Iterable[ConsumerRecord], committed: int) -> Account:
    """Of the transfers that are committed by now, as one reader sees them."""
    seen = {DEBIT: list[str](), CREDIT: list[str]()}
    for record in records:
        seen[record.partition].append(record.value.decode())
    return balance(
        [f"transfer-{number}" for number in range(committed)], {"debit": seen[DEBIT], "credit": seen[CREDIT]}
    )


def read_on(consumer: Consumer, where: TopicPartition) -> list[ConsumerRecord]:
    """From where it is to the end of the partition as it is now, and nothing of the other one."""
    others = [each for each in consumer.assignment() if each != where]
    consumer.pause(others)
    end = consumer.end_offsets([where])[where]
    records: list[ConsumerRecord] = []

    def has_arrived() -> bool:
        records.extend(consumer.poll(0.1))
        return consumer.position(where) >= end

    wait_for(f"the end of {where}", has_arrived)
    consumer.resume(others)
    return records


def one_reader(stage: Stage) -> dict[str, Account]:
    topic = fresh("transfers")
    stage.open_topics({topic: 2})
    debits, credits_ = TopicPartition(topic, DEBIT), TopicPartition(topic, CREDIT)
    with (
        Producer(stage.bootstrap_servers, transactional_id=fresh("slow-reader")) as producer,
        Consumer(stage.bootstrap_servers) as consumer,
    ):
        producer.init_transactions()
        consumer.assign([debits, credits_])
        consumer.seek_to_beginning()
        transfer(producer, topic, range(COUNT))
        stage.read(topic)  # returns when the markers are written, which may be after the commit is answered
        records = read_on(consumer, debits)
        transfer(producer, topic, range(COUNT, 2 * COUNT))
        stage.read(topic)
        records += read_on(consumer, credits_)
        half_way = observe(records, 2 * COUNT)
        records += read_on(consumer, debits)
        return {"one reader, half way": half_way, "the same, at the end": observe(records, 2 * COUNT)}


def two_members(stage: Stage) -> dict[str, Account]:
    topic, group_id = fresh("transfers"), fresh("readers")
    stage.open_topics({topic: 2})

    def member() -> Consumer:
        return Consumer(
            stage.bootstrap_servers,
            topics=[topic],
            group_id=group_id,
            auto_offset_reset="earliest",
            group_protocol="classic",
            partition_assignment_strategy="range",
        )

    with (
        Producer(stage.bootstrap_servers, transactional_id=fresh("slow-reader")) as producer,
        member() as first,
        member() as second,
    ):

        def is_shared_out() -> bool:
            for each in (first, second):
                each.poll(0.05)
            return sorted([first.assignment(), second.assignment()]) == [[where] for where in stage.partitions(topic)]

        wait_for("each has a partition", is_shared_out)
        producer.init_transactions()
        transfer(producer, topic, range(COUNT))
        stage.read(topic)
        parts = [read_on(each, each.assignment()[0]) for each in (first, second)]
    rows = [("one member of two", parts[0]), ("the other member", parts[1]), ("both together", parts[0] + parts[1])]
    return {name: observe(records, COUNT) for name, records in rows}


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_ground(arguments.bootstrap_servers) as stage:
        print_table({**one_reader(stage), **two_members(stage)})


if __name__ == "__main__":
    main()
