"""The coordinator's part of a state checkpoint: bytes that hold what replay up to here would have folded.

Layout, big-endian: int16 version, int64 next producer id, int32 count, then for each id three length-prefixed pieces:
the id, its TransactionLogValue, and its newest identity changes as JSON. Memory about open transactions is not part
of it.
"""

import json
import struct

from fencepost.errors import CorruptLog, WireError
from fencepost.settings import BrokerSettings
from fencepost.transactions.fencing_journal import FencingJournal, IdentityChange
from fencepost.transactions.log_records import NO_CONNECTION, Cause, decode_transaction, encode_transaction
from fencepost.transactions.state import CoordinatorState, OpenTransaction
from fencepost.transactions.states import TransactionState
from fencepost.types import Buffer, ProducerIdentity

CHECKPOINT_VERSION = 1

_HEAD = struct.Struct(">hqi")
_LENGTH = struct.Struct(">i")


def dump_state(state: CoordinatorState) -> bytes:
    out = bytearray(_HEAD.pack(CHECKPOINT_VERSION, state.next_producer_id, len(state.transactions)))
    for transactional_id, transaction in sorted(state.transactions.items()):
        journal = state.fencing_journals.get(transactional_id, FencingJournal())
        for piece in (transactional_id.encode(), encode_transaction(transaction), _encode_journal(journal)):
            out += _LENGTH.pack(len(piece))
            out += piece
    return bytes(out)


def load_state(dumped: Buffer, settings: BrokerSettings) -> CoordinatorState:
    try:
        return _load(memoryview(dumped), CoordinatorState(settings))
    except (struct.error, ValueError, TypeError, WireError) as unreadable:
        raise CorruptLog(f"the coordinator's part of the checkpoint is unreadable: {unreadable}") from unreadable


def _load(view: memoryview, state: CoordinatorState) -> CoordinatorState:
    version, next_producer_id, count = _HEAD.unpack_from(view)
    if version != CHECKPOINT_VERSION:
        raise CorruptLog(
            f"the coordinator's part of the checkpoint has version {version}, known is {CHECKPOINT_VERSION}"
        )
    state.next_producer_id = next_producer_id
    position = _HEAD.size
    for _ in range(count):
        encoded_id, position = _piece(view, position)
        encoded_transaction, position = _piece(view, position)
        encoded_journal, position = _piece(view, position)
        transactional_id = str(encoded_id, "utf-8")
        transaction = decode_transaction(transactional_id, encoded_transaction)
        state.transactions[transactional_id] = transaction
        state.fencing_journals[transactional_id] = _decode_journal(encoded_journal)
        if transaction.state is TransactionState.ONGOING:
            state.open_transactions[transactional_id] = OpenTransaction(NO_CONNECTION)
    if position != len(view):
        raise CorruptLog(f"{len(view) - position} bytes follow the coordinator's part of the checkpoint")
    return state


def _piece(view: memoryview, position: int) -> tuple[memoryview, int]:
    (length,) = _LENGTH.unpack_from(view, position)
    start = position + _LENGTH.size
    if not 0 <= length <= len(view) - start:
        raise CorruptLog(f"a piece of {length} bytes does not fit into the coordinator's part of the checkpoint")
    return view[start : start + length], start + length


def _encode_journal(journal: FencingJournal) -> bytes:
    return json.dumps(journal.changes_for_checkpoint(), separators=(",", ":")).encode()


def _decode_journal(encoded: memoryview) -> FencingJournal:
    return FencingJournal(
        IdentityChange(at_ms, Cause(*cause), ProducerIdentity(*before), ProducerIdentity(*after))
        for at_ms, cause, before, after in json.loads(bytes(encoded))
    )
