"""Headers of requests (versions 1 and 2) and responses (0 and 1).

Which header version goes with a message is in the API table. The client id is a plain nullable string even in header 2,
so that a header can be read before its API and version are known to be supported.
"""

from struct import Struct
from typing import NamedTuple

from fencepost.errors import WireError
from fencepost.wire.output import Output
from fencepost.wire.reading import Data, read_nullable_string, skip_tags
from fencepost.wire.writing import write_nullable_string

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
