"""Fund transfer with transactions: debit, credit and the offset of the transfer together, or none of them."""

from examples.documents import program
from examples.documents.transfer.transfers import BALANCE_UPDATE, GROUP_ID, TRANSFER, transfer_of
from fencepost.client import Consumer, PinnedProducers, TopicPartition
from fencepost.client.exceptions import AbortableError


def main() -> None:
    arguments = program.start(program.parser(__doc__))
    servers = arguments.bootstrap_servers
    with (
        PinnedProducers(servers) as producers,
        Consumer(servers, group_id=GROUP_ID, auto_offset_reset="earliest", **program.membership(arguments)) as consumer,
    ):

        def on_assigned(partitions: list[TopicPartition]) -> None:
            producers.on_assigned(partitions)
            program.say_assigned(partitions)

        consumer.subscribe([TRANSFER], on_assigned=on_assigned, on_revoked=producers.on_revoked)
        while program.is_running():
            for record in consumer.poll(0.2):
                transfer = transfer_of(record.value)
                producer = producers[record.topic_partition]
                try:
                    producer.begin_transaction()
                    producer.send(BALANCE_UPDATE, transfer.debit.to_json(), key=transfer.debit.key).result()
                    program.reach("debit sent")
                    producer.send(BALANCE_UPDATE, transfer.credit.to_json(), key=transfer.credit.key).result()
                    program.reach("credit sent")
                    producer.send_offsets_to_transaction(
                        {record.topic_partition: record.offset + 1}, consumer.group_metadata()
                    )
                    producer.commit_transaction()
                except AbortableError as problem:  # one that is fenced is not caught: it ends
                    program.say(f"Aborted {transfer}: {problem}")
                    producer.abort_transaction()
                    consumer.seek_to_committed()
                    break
                program.say(f"Transferred {transfer}")


if __name__ == "__main__":
    main()
