"""What a client says when a broker does not want its SASL: no hang, and the broker's offer by name."""

import socket
import struct
import threading
from typing import Any

import pytest

from fencepost.client.exceptions import AuthenticationFailed
from fencepost.client.net.connection import Connection
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Closing
from fencepost.errors import ErrorCode
from fencepost.wire.api import API_TABLE
from fencepost.wire.codec import encode_response, read_request
from fencepost.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from fencepost.wire.messages.sasl_authenticate import SaslAuthenticateResponse
from fencepost.wire.messages.sasl_handshake import SaslHandshakeResponse

SETTINGS = ClientSettings(
    security_protocol="SASL_PLAINTEXT", sasl_mechanism="SCRAM-SHA-512", sasl_username="ada", sasl_password="secret"
)
SASL_APIS = (17, 36)


class ScriptedBroker(Closing):
    """Answers each API with what the script has for it; tells of those that it has."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.close()
        self._thread.join(10)

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        with client, client.makefile("rb") as incoming:
            while len(prefix := incoming.read(4)) == 4:
                frame = incoming.read(struct.unpack(">i", prefix)[0])
                header, _ = read_request(memoryview(frame))
                answer = self.script[API_TABLE[header.api_key].name]
                client.sendall(
                    b"".join(encode_response(header.api_key, header.api_version, header.correlation_id, answer))
                )


def versions(*api_keys: int) -> ApiVersionsResponse:
    rows = [ApiVersion(key, API_TABLE[key].min_version, API_TABLE[key].max_version) for key in (18, *api_keys)]
    return ApiVersionsResponse(api_keys=rows)


OFFERED = {"ApiVersions": versions(*SASL_APIS), "SaslHandshake": SaslHandshakeResponse(mechanisms=["SCRAM-SHA-512"])}
NOT_OFFERED = SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["PLAIN", "GSSAPI"])


def refused(code: ErrorCode) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=code, error_message="who are you?")


@pytest.mark.parametrize(
    ("script", "says", "code"),
    [
        pytest.param({"ApiVersions": versions()}, "has no SASL: set security_protocol", None, id="no SASL"),
        pytest.param(
            OFFERED | {"SaslHandshake": NOT_OFFERED},
            "does not offer SCRAM-SHA-512; it offers PLAIN, GSSAPI",
            None,
            id="another mechanism",
        ),
        *(
            pytest.param(OFFERED | {"SaslAuthenticate": refused(code)}, r"who are you\?", code, id=code.name)
            for code in (ErrorCode.SASL_AUTHENTICATION_FAILED, ErrorCode.ILLEGAL_SASL_STATE)
        ),
        pytest.param(
            OFFERED | {"SaslAuthenticate": SaslAuthenticateResponse(auth_bytes=b"v=trust me")},
            "SCRAM",
            None,
            id="success without proof",
        ),
    ],
)
def test_what_is_not_authenticated_is_refused_and_says_why(
    script: dict[str, Any], says: str, code: ErrorCode | None
) -> None:
    with ScriptedBroker(script) as broker, pytest.raises(AuthenticationFailed, match=says) as raised:
        Connection.open("127.0.0.1", broker.port, SETTINGS)
    assert raised.value.error_code is code
