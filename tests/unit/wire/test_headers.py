import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.request_header.v1.header import RequestHeader as KioRequestHeader1
from kio.schema.request_header.v2.header import RequestHeader as KioRequestHeader2
from kio.schema.response_header.v0.header import ResponseHeader as KioResponseHeader0
from kio.schema.response_header.v1.header import ResponseHeader as KioResponseHeader1
from kio.serial import entity_writer

from fencepost.wire.codec import (
    RequestHeader,
    read_request_header,
    read_response_header,
    write_request_header,
    write_response_header,
)
from fencepost.wire.message import Output
from tests.unit.wire.trees import signed

KIO_REQUEST_HEADERS: dict[int, Any] = {1: KioRequestHeader1, 2: KioRequestHeader2}
KIO_RESPONSE_HEADERS: dict[int, Any] = {0: KioResponseHeader0, 1: KioResponseHeader1}
request_headers = st.builds(RequestHeader, signed(16), signed(16), signed(32), st.none() | st.text(max_size=50))


def kio_bytes(entity: Any) -> bytes:
    buffer = io.BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


@pytest.mark.parametrize("header_version", KIO_REQUEST_HEADERS)
@given(header=request_headers)
def test_request_headers_are_what_kio_writes_and_read_back(header_version: int, header: RequestHeader) -> None:
    out = Output()
    write_request_header(out, header, header_version)
    theirs = KIO_REQUEST_HEADERS[header_version](
        request_api_key=header.api_key,
        request_api_version=header.api_version,
        correlation_id=header.correlation_id,
        client_id=header.client_id,
    )
    assert out == kio_bytes(theirs)
    read, at = read_request_header(bytes(out))
    assert read == header
    assert len(out) - at == (1 if header_version == 2 else 0)


@pytest.mark.parametrize("header_version", KIO_RESPONSE_HEADERS)
@given(correlation_id=signed(32))
def test_response_headers_are_what_kio_writes_and_read_back(header_version: int, correlation_id: int) -> None:
    out = Output()
    write_response_header(out, correlation_id, header_version)
    assert out == kio_bytes(KIO_RESPONSE_HEADERS[header_version](correlation_id=correlation_id))
    assert read_response_header(bytes(out), header_version) == (correlation_id, len(out))


def test_unknown_tagged_fields_of_a_response_header_are_skipped() -> None:
    assert read_response_header(b"\x00\x00\x00\x07\x01\x05\x02hi", 1) == (7, 9)
