"""The whole state of a broker as bytes, so that a start need not replay what lies before.

A checkpoint is a sequence of sections, each a tag, a number and a length: one for the catalogue, one for each
partition, one for each coordinator. The rooms know the bytes of their own state; here they are only put side by
side.
"""

import json
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING

from fencepost.broker.catalogue import as_records
from fencepost.errors import CorruptLog
from fencepost.groups import checkpoint as groups_checkpoint
from fencepost.partition import checkpoint as partition_checkpoint
from fencepost.transactions import checkpoint as transactions_checkpoint
from fencepost.types import Buffer

if TYPE_CHECKING:
    from fencepost.broker.state import BrokerState

LAYOUT = 1
_HEAD = struct.Struct("<I")
_SECTION = struct.Struct("<BIQ")


class Section(IntEnum):
    CATALOGUE = 1
    PARTITION = 2
    TRANSACTIONS = 3
    GROUPS = 4


def dump_checkpoint(state: "BrokerState") -> bytes:
    catalogue = json.dumps(as_records(state.catalogue), separators=(",", ":")).encode()
    sections = [(Section.CATALOGUE, 0, catalogue)]
    for partition_ref, log in state.logs_by_ref.items():
        sections.append((Section.PARTITION, partition_ref, partition_checkpoint.dump_state(log.state)))
    sections.append((Section.TRANSACTIONS, 0, transactions_checkpoint.dump_state(state.transactions)))
    sections.append((Section.GROUPS, 0, groups_checkpoint.dump_state(state.groups)))
    pieces = [_HEAD.pack(LAYOUT)]
    for section, number, body in sections:
        pieces += (_SECTION.pack(section, number, len(body)), body)
    return b"".join(pieces)


def load_checkpoint(state: "BrokerState", dump: Buffer) -> None:
    for section, number, body in _sections(dump):
        if section == Section.CATALOGUE:
            for record in json.loads(bytes(body)):
                state.apply_catalogue_record(record)
        elif section == Section.PARTITION:
            state.logs_by_ref[number].state = partition_checkpoint.load_state(body)
        elif section == Section.TRANSACTIONS:
            state.transactions = transactions_checkpoint.load_state(body)
        elif section == Section.GROUPS:
            groups_checkpoint.load_state(state.groups, bytes(body))
        else:
            raise CorruptLog(f"a state checkpoint has a section {section}, which this version does not know")


def _sections(dump: Buffer) -> Iterator[tuple[int, int, memoryview]]:
    view = memoryview(dump)
    if len(view) < _HEAD.size or _HEAD.unpack_from(view)[0] != LAYOUT:
        raise CorruptLog(f"a state checkpoint does not have layout {LAYOUT}: it comes from another version")
    at = _HEAD.size
    while at < len(view):
        section, number, size_bytes = _SECTION.unpack_from(view, at)
        at += _SECTION.size
        yield section, number, view[at : at + size_bytes]
        at += size_bytes
