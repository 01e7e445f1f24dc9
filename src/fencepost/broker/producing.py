"""One partition's records of a Produce request, from the bytes of a client to the journal.

The order is Kafka's: the record set, the batch, the transaction, then what the partition remembers of the producer.
Whatever a transaction needs from its coordinator is in the journal before the partition's data is, so every
partition that holds transactional data is in the persisted list of its transaction.
"""

from typing import TYPE_CHECKING, NamedTuple

from fencepost.broker.call import Call
from fencepost.broker.joining import join_transaction
from fencepost.broker.partition_log import PartitionLog
from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.append import Append, Duplicate, decide_append
from fencepost.records.compression import Compression
from fencepost.records.errors import InvalidRecordBatch
from fencepost.records.header import TRANSACTIONAL_FLAG, BatchHeader, read_header
from fencepost.records.inspection import validate_record_lengths, validate_records_inside
from fencepost.records.rewriting import recompress, with_append_time
from fencepost.records.validation import refuse_size, validate_client_batch, validate_record_set
from fencepost.settings import TopicSettings
from fencepost.transactions.error_translation import IMPLICIT_ADD_SINCE_PRODUCE_VERSION, produce_error
from fencepost.transactions.transaction import ProducerIdentity
from fencepost.types import NO_TIMESTAMP, Buffer

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore

CODECS = {
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}

FENCING_ERRORS = frozenset(
    {ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING}
)
"""Logged here too: not every client shows the message that comes with them."""


class Produced(NamedTuple):
    base_offset: int
    log_append_time_ms: int = NO_TIMESTAMP


def produce(core: "BrokerCore", call: Call, log: PartitionLog, records: Buffer | None) -> Produced | Refusal:
    settings = core.state.catalogue.topics[log.topic_partition.topic].settings
    batch = prepare_batch(records, settings, produce_version=call.api_version, now_ms=call.now.wall_ms)
    if isinstance(batch, Refusal):
        return batch
    header = read_header(batch)
    outcome = _append(core, call, log, batch, header)
    if isinstance(outcome, Refusal):
        if outcome.error_code in FENCING_ERRORS:
            core.log_refusal(call, call.request.transactional_id, outcome)
        return outcome
    if isinstance(outcome, Duplicate):
        return Produced(outcome.base_offset, outcome.timestamp)
    is_append_time = settings.message_timestamp_type == "LogAppendTime"
    return Produced(outcome.base_offset, header.max_timestamp if is_append_time else NO_TIMESTAMP)


def _append(
    core: "BrokerCore", call: Call, log: PartitionLog, batch: Buffer, header: BatchHeader
) -> Append | Duplicate | Refusal:
    """Join the transaction, if there is one, and append what the partition has not seen yet."""
    guard_id = None
    if header.attributes & TRANSACTIONAL_FLAG:
        agreed = join_transaction(
            core,
            call,
            log,
            identity=ProducerIdentity(header.producer_id, header.producer_epoch),
            base_sequence=header.base_sequence,
            is_implicit_add=call.api_version >= IMPLICIT_ADD_SINCE_PRODUCE_VERSION,
        )
        if isinstance(agreed, Refusal):
            return Refusal(produce_error(call.api_version, agreed.error_code), agreed.message)
        guard_id = agreed
    decision = decide_append(
        log.state,
        header,
        guard_id=guard_id,
        is_verification_enabled=core.settings.transaction_partition_verification_enable,
    )
    if isinstance(decision, Refusal):
        identity = ProducerIdentity(header.producer_id, header.producer_epoch)
        return core.transactions.explained(decision, call.request.transactional_id, identity)
    if isinstance(decision, Append):
        core.writer.append_batch(log, batch, header)
    return decision


def prepare_batch(
    records: Buffer | None, settings: TopicSettings, *, produce_version: int, now_ms: int
) -> Buffer | Refusal:
    """The batch as it will be stored, or why it will not be."""
    if (refusal := validate_record_set(records, produce_version=produce_version)) is not None:
        return refusal
    assert records is not None
    limits = {"max_message_bytes": settings.max_message_bytes, "segment_bytes": settings.segment_bytes}
    header = validate_client_batch(records, **limits)
    if isinstance(header, Refusal):
        return header
    if (refusal := _refuse_inside(records, header, settings)) is not None:
        return refusal
    if settings.message_timestamp_type == "LogAppendTime":
        records = with_append_time(records, now_ms)
    codec = CODECS.get(settings.compression_type)
    if codec is None or codec == header.compression:
        return records
    try:
        recompressed = recompress(records, codec)
    except InvalidRecordBatch as problem:
        return Refusal(ErrorCode.INVALID_RECORD, str(problem))
    return refuse_size(len(recompressed), **limits) or recompressed


def _refuse_inside(batch: Buffer, header: BatchHeader, settings: TopicSettings) -> Refusal | None:
    """A compacted topic needs a key on every record, so there the whole batch is read; elsewhere its framing is."""
    if "compact" in settings.cleanup_policy:
        return validate_records_inside(batch, header, requires_key=True)
    return validate_record_lengths(batch, header)
