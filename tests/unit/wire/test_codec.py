import pytest

from fencepost.errors import WireError
from fencepost.types import Buffer
from fencepost.wire.api import API_TABLE
from fencepost.wire.codec import (
    RequestHeader,
    UnsupportedRequest,
    encode_request,
    encode_response,
    read_request,
    read_response,
)
from fencepost.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from fencepost.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from fencepost.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.wire.trees import ZERO_UUID

PRODUCE, FETCH, METADATA, API_VERSIONS, END_TXN = 0, 1, 3, 18, 26
BATCHES = (b"first batch", b"second batch")


def frame_of(pieces: list[Buffer]) -> bytes:
    """The frame as it is on the wire, its prefix checked and taken off."""
    joined = b"".join(pieces)
    assert int.from_bytes(joined[:4], "big") == len(joined) - 4
    return joined[4:]


def produce_of(*batches: Buffer) -> ProduceRequest:
    partitions = [PartitionProduceData(index=index, records=batch) for index, batch in enumerate(batches)]
    return ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="orders", partition_data=partitions)])


def fetch_of(*pieces: Buffer) -> FetchResponse:
    partition = PartitionData(partition_index=0, high_watermark=5, records=list(pieces))
    return FetchResponse(responses=[FetchableTopicResponse(topic="orders", partitions=[partition])])


def test_fields_that_a_version_lacks_are_dropped_and_read_as_defaults() -> None:
    answer = EndTxnResponse(error_code=0, producer_id=7, producer_epoch=3)
    assert read_response(END_TXN, 5, frame_of(encode_response(END_TXN, 5, 1, answer))) == (1, answer)
    assert read_response(END_TXN, 4, frame_of(encode_response(END_TXN, 4, 1, answer))) == (1, EndTxnResponse())


@pytest.mark.parametrize("version", range(3, 13))
def test_produced_records_are_views_over_the_frame(version: int) -> None:
    frame = memoryview(frame_of(encode_request(PRODUCE, version, 1, None, produce_of(*BATCHES))))
    _, request = read_request(frame)
    assert isinstance(request, ProduceRequest)
    for partition, batch in zip(request.topic_data[0].partition_data, BATCHES, strict=True):
        assert isinstance(partition.records, memoryview)
        assert partition.records.obj is frame.obj
        assert partition.records == batch


@pytest.mark.parametrize("version", range(4, 13))
def test_fetched_records_are_views_over_the_frame(version: int) -> None:
    frame = memoryview(frame_of(encode_response(FETCH, version, 1, fetch_of(*BATCHES))))
    _, response = read_response(FETCH, version, frame)
    assert isinstance(response, FetchResponse)
    records = response.responses[0].partitions[0].records
    assert records is not None
    (view,) = records
    assert isinstance(view, memoryview)
    assert view.obj is frame.obj
    assert view == b"".join(BATCHES)


def test_records_are_handed_on_as_the_very_buffers_that_were_given() -> None:
    batches = [bytearray(b"a" * 100), memoryview(b"b" * 100), b"c" * 100]
    fetched = encode_response(FETCH, 12, 1, fetch_of(*batches))
    produced = encode_request(PRODUCE, 9, 1, None, produce_of(*batches))
    for batch in batches:
        assert any(piece is batch for piece in fetched)
        assert any(piece is batch for piece in produced)
    assert len(fetched) == 5
    assert len(produced) == 7


def test_an_answer_without_records_is_one_buffer() -> None:
    assert len(encode_response(FETCH, 12, 1, fetch_of())) == 1


def test_an_api_that_is_not_known_is_told_apart_and_names_its_header() -> None:
    frame = b"\x03\xe7\x00\x02\x00\x00\x00\x05\x00\x01m" + b"anything"
    with pytest.raises(UnsupportedRequest, match="999 version 2") as refused:
        read_request(frame)
    assert refused.value.header == RequestHeader(999, 2, 5, "m")


@pytest.mark.parametrize(("api_key", "version"), [(API_VERSIONS, 99), (PRODUCE, 2), (PRODUCE, -1), (END_TXN, 6)])
def test_a_version_outside_the_table_is_told_apart_and_names_its_header(api_key: int, version: int) -> None:
    frame = api_key.to_bytes(2, "big") + version.to_bytes(2, "big", signed=True) + b"\x00\x00\x00\x05\xff\xff\x00"
    with pytest.raises(UnsupportedRequest) as refused:
        read_request(frame)
    assert refused.value.header == RequestHeader(api_key, version, 5, None)


def test_api_versions_of_a_newer_client_can_be_answered_in_version_zero() -> None:
    answer = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(api_key=18, min_version=0, max_version=4)])
    frame = frame_of(encode_response(API_VERSIONS, 0, 5, answer))
    assert frame == b"\x00\x00\x00\x05\x00\x23\x00\x00\x00\x01\x00\x12\x00\x00\x00\x04"


def test_the_answer_to_api_versions_has_no_tagged_fields_in_its_header() -> None:
    frame = frame_of(encode_response(API_VERSIONS, 3, 5, ApiVersionsResponse()))
    assert frame[:7] == b"\x00\x00\x00\x05\x00\x00\x01"


def test_unknown_tagged_fields_are_skipped_everywhere() -> None:
    known = frame_of(encode_request(API_VERSIONS, 3, 1, None, ApiVersionsRequest("name", "1.0")))
    header, body = known[:10], known[11:-1]
    unknown = b"\x02\x07\x03abc\xff\xff\x03\x00"
    frame = header + unknown + body + unknown
    assert read_request(frame)[1] == ApiVersionsRequest("name", "1.0")


def test_bytes_after_the_message_are_ignored_as_kafka_does() -> None:
    frame = frame_of(encode_request(END_TXN, 3, 1, None, EndTxnRequest("shop")))
    assert read_request(frame + b"more")[1] == EndTxnRequest("shop")


def test_null_is_refused_where_the_version_has_no_null() -> None:
    everything = MetadataRequest(topics=None)
    assert read_request(frame_of(encode_request(METADATA, 1, 1, None, everything)))[1] == everything
    with pytest.raises(WireError, match="null"):
        encode_request(METADATA, 0, 1, None, everything)
    with pytest.raises(WireError, match="null"):
        read_request(b"\x00\x03\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff")


@pytest.mark.parametrize(
    "request_",
    [
        EndTxnRequest(producer_id=2**63),
        EndTxnRequest(producer_epoch=40_000),
        EndTxnRequest(transactional_id="\ud800"),
        EndTxnRequest(transactional_id="x" * 40_000),
    ],
)
def test_a_value_that_its_field_cannot_hold_is_a_wire_error(request_: EndTxnRequest) -> None:
    with pytest.raises(WireError, match=r"EndTxnRequest|string of 40000 bytes"):
        encode_request(END_TXN, 2, 1, None, request_)


def test_a_topic_id_that_is_not_set_is_the_zero_uuid() -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name="orders")])
    _, read = read_request(frame_of(encode_request(METADATA, 12, 1, None, request)))
    assert isinstance(read, MetadataRequest)
    assert read.topics is not None
    assert read.topics[0].topic_id == ZERO_UUID


@pytest.mark.parametrize("frame", [b"", b"\x00", b"\x00\x1a\x00\x03", b"\x00\x1a\x00\x03\x00\x00\x00\x01\x00\x09abc"])
def test_a_header_that_is_cut_short_is_a_wire_error(frame: bytes) -> None:
    with pytest.raises(WireError):
        read_request(frame)


def test_a_string_that_is_not_utf_8_is_a_wire_error() -> None:
    frame = frame_of(encode_request(END_TXN, 3, 1, "c", EndTxnRequest("shop")))
    for damaged in (frame.replace(b"shop", b"sh\xff\xff"), frame.replace(b"\x00\x01c", b"\x00\x01\xff")):
        with pytest.raises(WireError, match=r"UTF-8|utf-8"):
            read_request(damaged)


@pytest.mark.parametrize("api_key", [2**15 - 1, PRODUCE])
def test_writing_a_version_outside_the_table_is_refused(api_key: int) -> None:
    with pytest.raises(WireError, match="not in the table"):
        encode_response(api_key, 99, 1, EndTxnResponse())


def test_every_message_of_the_table_can_be_built_without_arguments() -> None:
    for api in API_TABLE.values():
        for version in range(api.min_version, api.max_version + 1):
            request = frame_of(encode_request(api.key, version, 99, "c", api.request_class()))
            assert read_request(memoryview(request)) == (RequestHeader(api.key, version, 99, "c"), api.request_class())
            response = frame_of(encode_response(api.key, version, 1, api.response_class()))
            assert read_response(api.key, version, response) == (1, api.response_class())
