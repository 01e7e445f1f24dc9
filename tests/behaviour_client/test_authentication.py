"""What a client says when a broker does not want its SASL: no hang, and the broker's offer by name."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fencepost.client.exceptions import AuthenticationFailed
from fencepost.client.net.connection import Connection
from fencepost.client.settings import ClientSettings
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


class ScriptedBroker:
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


@pytest.fixture
def broker() -> Iterator[Callable[..., ScriptedBroker]]:
    started: list[ScriptedBroker] = []

    def start(**script: Any) -> ScriptedBroker:
        started.append(ScriptedBroker(script))
        return started[-1]

    yield start
    for one in started:
        one.close()


def test_a_broker_without_sasl_is_told_from_one_that_refuses(broker: Callable[..., ScriptedBroker]) -> None:
    asked = broker(ApiVersions=versions())
    with pytest.raises(AuthenticationFailed, match="has no SASL: set security_protocol"):
        Connection.open("127.0.0.1", asked.port, SETTINGS)


def test_a_mechanism_that_is_not_offered_is_named_with_those_that_are(broker: Callable[..., ScriptedBroker]) -> None:
    refused = SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["PLAIN", "GSSAPI"])
    asked = broker(ApiVersions=versions(*SASL_APIS), SaslHandshake=refused)
    with pytest.raises(AuthenticationFailed, match="does not offer SCRAM-SHA-512; it offers PLAIN, GSSAPI"):
        Connection.open("127.0.0.1", asked.port, SETTINGS)


@pytest.mark.parametrize("code", [ErrorCode.SASL_AUTHENTICATION_FAILED, ErrorCode.ILLEGAL_SASL_STATE])
def test_a_refusal_is_told_in_the_brokers_words(broker: Callable[..., ScriptedBroker], code: ErrorCode) -> None:
    asked = broker(
        ApiVersions=versions(*SASL_APIS),
        SaslHandshake=SaslHandshakeResponse(mechanisms=["SCRAM-SHA-512"]),
        SaslAuthenticate=SaslAuthenticateResponse(error_code=code, error_message="who are you?"),
    )
    with pytest.raises(AuthenticationFailed, match=r"who are you\?") as raised:
        Connection.open("127.0.0.1", asked.port, SETTINGS)
    assert raised.value.error_code is code


def test_a_broker_that_claims_success_without_proof_is_refused(broker: Callable[..., ScriptedBroker]) -> None:
    asked = broker(
        ApiVersions=versions(*SASL_APIS),
        SaslHandshake=SaslHandshakeResponse(mechanisms=["SCRAM-SHA-512"]),
        SaslAuthenticate=SaslAuthenticateResponse(auth_bytes=b"v=trust me"),
    )
    with pytest.raises(AuthenticationFailed, match="SCRAM"):
        Connection.open("127.0.0.1", asked.port, SETTINGS)
