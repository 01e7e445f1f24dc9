"""Producer ids: handed out in order, never twice.

Kafka reserves blocks of 1000 because its coordinators ask a controller over the network. Here an id that belongs to a
transactional id is reserved by that id's own record, and one for a merely idempotent producer by a
`ProducerIdsRecord`: the next id is a fold over the journal like everything else, there are no gaps after a restart,
and nothing is held in memory that a crash could make us forget. The cost is one small record for each idempotent
producer that starts.
"""

from fencepost.transactions.decision import Decision, InitProducerIdReply
from fencepost.transactions.log_entries import ProducerIdsRecord
from fencepost.transactions.state import CoordinatorState


def decide_allocate_producer_id(state: CoordinatorState) -> Decision[InitProducerIdReply]:
    """A fresh producer id at epoch 0, tied to no transactional id."""
    producer_id = state.next_producer_id
    reserved = ProducerIdsRecord(next_producer_id=producer_id + 1)
    return Decision((reserved,), InitProducerIdReply(producer_id, producer_epoch=0))
