"""What does a duplicate get? And a gap, an old duplicate, the same number from somebody else?

Sends batches of one record with sequences of its own choice, and prints what the broker answers.
"""

from typing import NamedTuple

from examples.documents.stage import story_arguments
from examples.documents.waiting import wait_for
from examples.questions.asking import create_topic, ends, open_cluster, print_rows
from fencepost.client import Admin, TopicPartition
from fencepost.client.net.connection import Connection
from fencepost.client.net.metadata import Node
from fencepost.errors import ErrorCode
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

PRODUCE_BY_NAME = 11
ALL = -1
IN_FLIGHT = range(1, 6)


class Numbered(NamedTuple):
    producer_id: int
    sequence: int
    where: TopicPartition


def new_producer_id(admin: Admin) -> int:
    def probe() -> list[int]:
        answer = admin.cluster.call_any(InitProducerIdRequest(None, 60_000), InitProducerIdResponse)
        return [answer.producer_id] if answer.error_code == ErrorCode.NONE else []

    (found,) = wait_for("a broker that has producer ids to give", probe)
    return found


def request_for(numbered: Numbered) -> ProduceRequest:
    batch = build_batch(
        [Record(value=b"record")],
        producer_id=numbered.producer_id,
        producer_epoch=0,
        base_sequence=numbered.sequence,
    )
    data = PartitionProduceData(numbered.where.partition, batch)
    return ProduceRequest(None, ALL, 30_000, [TopicProduceData(name=numbered.where.topic, partition_data=[data])])


def answer_in(response: ProduceResponse) -> str:
    answer = response.responses[0].partition_responses[0]
    if answer.error_code:
        return ErrorCode(answer.error_code).name
    return f"success, offset {answer.base_offset}"


def connect(admin: Admin, where: TopicPartition) -> Connection:
    """To the leader of a partition."""

    def probe() -> list[Node]:
        leader = admin.cluster.refresh([where.topic]).leader(where)
        return [] if leader is None else [leader]

    (leader,) = wait_for(f"a leader of {where}", probe)
    return admin.cluster.connect(leader)


def send(connection: Connection, numbered: Numbered) -> str:
    return answer_in(connection.request(request_for(numbered), ProduceResponse, version=PRODUCE_BY_NAME))


def send_together(connection: Connection, several: list[Numbered]) -> list[str]:
    """All of them before the first answer is looked at."""
    for numbered in several:
        connection.send(request_for(numbered), version=PRODUCE_BY_NAME)
    answers = [connection.receive()[1] for _ in several]
    return [answer_in(answer) for answer in answers if isinstance(answer, ProduceResponse)]


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        topic = create_topic(admin, "sequences", 2)
        here, there = TopicPartition(topic, 0), TopicPartition(topic, 1)
        connections = {where: connect(admin, where) for where in (here, there)}

        mine, theirs = new_producer_id(admin), new_producer_id(admin)

        def ask(producer_id: int, sequence: int, where: TopicPartition) -> str:
            return send(connections[where], Numbered(producer_id, sequence, where))

        rows = [
            ["sequence 0", ask(mine, 0, here)],
            ["sequence 0 again", ask(mine, 0, here)],
        ]
        together = send_together(connections[here], [Numbered(mine, number, here) for number in IN_FLIGHT])
        rows += [
            [f"sequence {number}, five in flight", answer] for number, answer in zip(IN_FLIGHT, together, strict=True)
        ]
        rows += [
            ["sequence 1 again: the fifth last", ask(mine, 1, here)],
            ["sequence 0 again: the sixth last", ask(mine, 0, here)],
            ["sequence 8, where 6 comes next", ask(mine, 8, here)],
            ["sequence 0 of another producer id", ask(theirs, 0, here)],
            ["sequence 0 on another partition", ask(mine, 0, there)],
            ["sequence 6: the program sends a record again", ask(mine, 6, here)],
        ]
        for connection in connections.values():
            connection.close()
        print_rows(["sent", "answered"], rows)
        print(f"\nstored: {ends(admin, here)[0]} records on the one partition, {ends(admin, there)[0]} on the other")


if __name__ == "__main__":
    main()
