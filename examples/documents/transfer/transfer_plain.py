"""Fund transfer without transactions: a debit, a credit, and then the offset of the transfer."""

from examples.documents import program
from examples.documents.transfer.transfers import BALANCE_UPDATE, GROUP_ID, TRANSFER, transfer_of
from fencepost.client import Consumer, Producer


def main() -> None:
    arguments = program.start(program.parser(__doc__))
    servers = arguments.bootstrap_servers
    with (
        Producer(servers) as producer,
        Consumer(servers, group_id=GROUP_ID, auto_offset_reset="earliest", **program.membership(arguments)) as consumer,
    ):
        consumer.subscribe([TRANSFER], on_assigned=program.say_assigned, on_revoked=program.say_revoked)
        while program.is_running():
            for record in consumer.poll(0.2):
                transfer = transfer_of(record.value)
                producer.send(BALANCE_UPDATE, transfer.debit.to_json(), key=transfer.debit.key).result()
                program.reach("debit sent")
                producer.send(BALANCE_UPDATE, transfer.credit.to_json(), key=transfer.credit.key).result()
                program.reach("credit sent")
                consumer.commit_sync({record.topic_partition: record.offset + 1})
                program.say(f"Transferred {transfer}")


if __name__ == "__main__":
    main()
