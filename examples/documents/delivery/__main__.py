"""At most once, at least once, exactly once: the same faults for each, on the sending and on the reading side.

Sending: a request is refused while the one behind it is taken, a request is lost, and an answer is lost. Reading: the
consumer is killed between handling a record and committing its offset, or the other way round, and started again.
"""

from examples.documents.accounts import Account, balance, print_table, reordered
from examples.documents.stage import Stage, open_stage, story_arguments
from fencepost.client import ConsumerRecord, Producer
from fencepost.client.serializers import deserialize_integer, serialize_integer
from fencepost.errors import ErrorCode

SEMANTICS = ("at-most-once", "at-least-once", "exactly-once")
SOURCE, TARGET = "delivery", "delivered"
GROUP_ID = "delivery-reader"
COUNT = 20


def play_producer(stage: Stage, semantics: str) -> Account:
    stage.open_topics({SOURCE: 1})
    with stage.lossy_network() as network:
        network.refuse_produce(3, ErrorCode.NOT_ENOUGH_REPLICAS)
        network.lose_request("Produce", 8)
        network.lose_answer("Produce", 13)
        sender = stage.start("examples.documents.delivery.producer", through=network, semantics=semantics, count=COUNT)
        sender.wait_until_ended()
    return _account(range(COUNT), stage.read(SOURCE))


def play_consumer(stage: Stage, semantics: str) -> Account:
    stage.open_topics({SOURCE: 1, TARGET: 1})
    stage.skip_backlog(GROUP_ID, SOURCE)
    with Producer(stage.bootstrap_servers, value_serializer=serialize_integer) as producer:
        for number in range(COUNT):
            producer.send(SOURCE, value=number, partition=0)
    reader = stage.start("examples.documents.delivery.consumer", semantics=semantics, kill_at="between:5")
    reader.wait_until_killed()
    stage.start("examples.documents.delivery.consumer", semantics=semantics)
    stage.wait_until_consumed(GROUP_ID, SOURCE)
    stage.stop_all()
    return _account(range(COUNT), stage.read(TARGET))


def _account(sent: range, records: list[ConsumerRecord]) -> Account:
    arrived = [deserialize_integer(record.value) or 0 for record in records]
    account = balance(map(str, sent), {"number": list(map(str, arrived))})
    return account._replace(reordered=reordered(arrived))


def main() -> None:
    arguments = story_arguments(__doc__, semantics=SEMANTICS)
    rows = {}
    with open_stage(arguments.bootstrap_servers) as stage:
        for semantics in [arguments.semantics] if arguments.semantics else SEMANTICS:
            rows[f"producer, {semantics}"] = play_producer(stage, semantics)
        for semantics in [arguments.semantics] if arguments.semantics else SEMANTICS:
            rows[f"consumer, {semantics}"] = play_consumer(stage, semantics)
    print_table(rows)


if __name__ == "__main__":
    main()
