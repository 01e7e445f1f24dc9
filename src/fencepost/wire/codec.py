"""Whole frames: header and message together, for both ends of a connection.

Reading takes a frame without its length prefix, as `FrameReader` hands it out; writing returns
the frame with its prefix as a list of buffers for `writev`. Whatever bytes come in, the only error that comes out is a
`WireError`. Record batches are views over the frame when read, and are never copied when written.
"""

from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import NamedTuple

from fencepost.errors import WireError
from fencepost.types import Buffer
from fencepost.wire.api import API_TABLE, FETCH, PRODUCE, Api
from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_nullable_string, skip_tags
from fencepost.wire.writing import write_nullable_string

# Headers of requests (versions 1 and 2) and responses (0 and 1).
#
# Which header version goes with a message is in the API table. The client id is a plain nullable string even in
# header 2, so that a header can be read before its API and version are known to be supported.


_REQUEST = Struct(">hhi")
_CORRELATION_ID = Struct(">i")


class RequestHeader(NamedTuple):
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None = None


class UnsupportedRequest(WireError):  # noqa: N818 - the peer did nothing wrong, it is newer or older
    """A well-formed header of an API or version that is not in the table.

    To ApiVersions the answer is version 0 with UNSUPPORTED_VERSION; anything else closes the connection.
    """

    def __init__(self, header: RequestHeader) -> None:
        super().__init__(f"API key {header.api_key} version {header.api_version} is not supported")
        self.header = header


def read_request_header(data: Data) -> tuple[RequestHeader, int]:
    """What all header versions share, and where it ends: tagged fields (header 2) or the message (header 1) follow."""
    api_key, api_version, correlation_id = _REQUEST.unpack_from(data)
    client_id, at = read_nullable_string(data, 8)
    return RequestHeader(api_key, api_version, correlation_id, client_id), at


def write_request_header(out: Output, header: RequestHeader, header_version: int) -> None:
    out += _REQUEST.pack(header.api_key, header.api_version, header.correlation_id)
    write_nullable_string(out, header.client_id)
    if header_version >= 2:
        out.append(0)


def read_response_header(data: Data, header_version: int) -> tuple[int, int]:
    """The correlation id, and where the message starts."""
    correlation_id = _CORRELATION_ID.unpack_from(data)[0]
    at = _CORRELATION_ID.size
    return correlation_id, skip_tags(data, at) if header_version >= 1 else at


def write_response_header(out: Output, correlation_id: int, header_version: int) -> None:
    out += _CORRELATION_ID.pack(correlation_id)
    if header_version >= 1:
        out.append(0)


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
