"""The two internal topics, decoded: states of transactional ids, and committed offsets with the groups behind them."""

from collections.abc import Iterator

from fencepost.cli.data_folder import StoredBatch
from fencepost.cli.log_lines import Fields
from fencepost.errors import CorruptLog, WireError
from fencepost.groups.records import GROUP_METADATA_KEY, OFFSET_COMMIT_KEYS, read_group_metadata, read_offset
from fencepost.records.control import read_marker
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.transactions.log_entries import ProducerIdsRecord
from fencepost.transactions.log_records import decode_log_record
from fencepost.types import TopicPartition
from fencepost.wire.message import record_version
from fencepost.wire.messages.group_metadata_record import GroupMetadataKey
from fencepost.wire.messages.offset_commit_record import OffsetCommitKey


def transaction_state_rows(where: TopicPartition, stored: StoredBatch) -> Iterator[Fields]:
    for record in read_records(stored.batch):
        yield {"partition": str(where), "offset": record.offset, "time": record.timestamp_ms, **_transaction(record)}


def _transaction(record: Record) -> Fields:
    try:
        decoded = decode_log_record(record)
    except CorruptLog as problem:
        return {"unreadable": str(problem)}
    if decoded is None:
        return {"unknown": "a record of a newer version"}
    if isinstance(decoded, ProducerIdsRecord):
        return {"nextProducerId": decoded.next_producer_id}
    transaction = decoded.transaction
    if transaction is None:
        return {"transactionalId": decoded.transactional_id, "state": "tombstone"}
    fields: Fields = {
        "transactionalId": decoded.transactional_id,
        "state": transaction.state.kafka_name,
        "producerId": transaction.producer_id,
        "producerEpoch": transaction.producer_epoch,
        "timeoutMs": transaction.timeout_ms,
        "startMs": transaction.start_timestamp_ms,
        "partitions": [str(where) for where in transaction.ordered_partitions],
    }
    if decoded.cause is not None:
        fields["cause"] = f"{decoded.cause.request} by {decoded.cause.client_id} at {decoded.cause.address}"
    return fields


def offsets_rows(where: TopicPartition, stored: StoredBatch) -> Iterator[Fields]:
    header = stored.header
    if header.is_control:
        marker = read_marker(stored.batch)
        kind = "other" if marker is None else "COMMIT" if marker.is_commit else "ABORT"
        yield {
            "partition": str(where),
            "offset": header.base_offset,
            "time": header.max_timestamp,
            "endTxnMarker": kind,
            "producerId": header.producer_id,
            "producerEpoch": header.producer_epoch,
        }
        return
    for record in read_records(stored.batch):
        fields = {
            "partition": str(where),
            "offset": record.offset,
            "time": record.timestamp_ms,
            **_group_record(record),
        }
        if header.is_transactional:
            fields |= {"pendingOf": header.producer_id}
        yield fields


def _group_record(record: Record) -> Fields:
    if record.key is None:
        return {"unreadable": "a record without a key"}
    try:
        version = record_version(record.key)
        if version in OFFSET_COMMIT_KEYS:
            key = OffsetCommitKey.from_bytes(record.key)
            named: Fields = {"group": key.group, "of": f"{key.topic}-{key.partition}"}
            if record.value is None:
                return {**named, "committed": "tombstone"}
            offset = read_offset(record.value, record_offset=record.offset)
            return {**named, "committed": offset.committed_offset, "metadata": offset.metadata}
        if version == GROUP_METADATA_KEY:
            group = GroupMetadataKey.from_bytes(record.key).group
            if record.value is None:
                return {"group": group, "metadata": "tombstone"}
            metadata = read_group_metadata(group, record.value)
            members = [member.client_id for member in metadata.members]
            return {"group": group, "generation": metadata.generation_id, "members": members}
    except WireError as problem:
        return {"unreadable": str(problem)}
    return {"groupRecord": version, "bytes": len(record.value or b"")}
