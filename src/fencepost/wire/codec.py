"""Whole frames: header and message together, for both ends of a connection.

The doors of this room. Reading takes a frame without its length prefix, as `FrameReader` hands it out; writing returns
the frame with its prefix as a list of buffers for `writev`. Whatever bytes come in, the only error that comes out is a
`WireError`. Record batches are views over the frame when read, and are never copied when written.
"""

from struct import Struct
from struct import error as StructError  # noqa: N812

from fencepost.errors import WireError
from fencepost.types import Buffer
from fencepost.wire.api import API_TABLE, FETCH, PRODUCE, Api
from fencepost.wire.headers import (
    RequestHeader,
    UnsupportedRequest,
    read_request_header,
    read_response_header,
    write_request_header,
    write_response_header,
)
from fencepost.wire.message import Message
from fencepost.wire.output import Output
from fencepost.wire.reading import skip_tags

_LENGTH = Struct(">i")
_NO_LENGTH_YET = bytes(_LENGTH.size)


def read_request(frame: Buffer) -> tuple[RequestHeader, Message]:
    """The header and message of a request. `UnsupportedRequest` carries the header if it is not in the table."""
    # Numbers and strings are read faster from bytes than through a view; only records are worth a view.
    data = frame if isinstance(frame, memoryview) and _is_produce(frame) else bytes(frame)
    try:
        header, at = read_request_header(data)
        version = header.api_version
        api = API_TABLE.get(header.api_key)
        if api is None or not api.min_version <= version <= api.max_version:
            raise UnsupportedRequest(header)
        if version >= api.flexible_from:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
    except (StructError, IndexError, UnicodeDecodeError) as malformed:
        raise WireError(f"malformed request header in a frame of {len(frame)} bytes: {malformed}") from malformed
    return header, api.request_class.decode(data, version, at)


def read_response(api_key: int, version: int, frame: Buffer) -> tuple[int, Message]:
    """The correlation id and message of the response to a request of this API and version."""
    api = _known(api_key, version)
    data = frame if isinstance(frame, memoryview) and api_key == FETCH else bytes(frame)
    try:
        correlation_id, at = read_response_header(data, api.response_header_version(version))
    except (StructError, IndexError) as malformed:
        raise WireError(f"malformed response header in a frame of {len(frame)} bytes: {malformed}") from malformed
    return correlation_id, api.response_class.decode(data, version, at)


def encode_request(
    api_key: int, version: int, correlation_id: int, client_id: str | None, message: Message
) -> list[Buffer]:
    api = _known(api_key, version)
    out = Output()
    out += _NO_LENGTH_YET
    header = RequestHeader(api_key, version, correlation_id, client_id)
    write_request_header(out, header, api.request_header_version(version))
    message.encode(out, version)
    return _finished(out)


def encode_response(api_key: int, version: int, correlation_id: int, message: Message) -> list[Buffer]:
    api = _known(api_key, version)
    out = Output(_NO_LENGTH_YET)
    write_response_header(out, correlation_id, api.response_header_version(version))
    message.encode(out, version)
    return _finished(out)


def _known(api_key: int, version: int) -> Api:
    api = API_TABLE.get(api_key)
    if api is None or not api.min_version <= version <= api.max_version:
        raise WireError(f"API key {api_key} version {version} is not in the table")
    return api


def _is_produce(frame: memoryview) -> bool:
    return len(frame) >= 2 and frame[0] == 0 and frame[1] == PRODUCE


def _finished(out: Output) -> list[Buffer]:
    _LENGTH.pack_into(out, 0, len(out) + out.spliced_bytes - _LENGTH.size)
    return out.pieces() if out.splices else [out]
