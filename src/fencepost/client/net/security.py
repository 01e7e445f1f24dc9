"""TLS out of Kafka's `ssl.*` settings, and SASL on our side: PLAIN (RFC 4616) and SCRAM (RFC 5802, 7677).

A mechanism is a generator of tokens: it yields what to send and is sent the answer. SCRAM ends by checking the broker's
own proof, so that a broker which does not know the password is refused too.
"""

import base64
import hashlib
import hmac
import secrets
import ssl
from collections.abc import Generator

from fencepost.client.exceptions import AuthenticationFailed
from fencepost.client.settings import ClientSettings
from fencepost.settings import InvalidSetting

Exchange = Generator[bytes, bytes, None]

ITERATIONS_MIN = 4096
ITERATIONS_MAX = 1_000_000
"""A broker that asks for more wants our time, not our proof."""
_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_NO_CHANNEL_BINDING = b"n,,"


def exchange(settings: ClientSettings) -> Exchange:
    if settings.sasl_mechanism == "PLAIN":
        return plain(settings.sasl_username, settings.sasl_password)
    return scram(
        _HASHES[settings.sasl_mechanism],
        username=settings.sasl_username,
        password=settings.sasl_password,
        nonce=base64.b64encode(secrets.token_bytes(24)).decode(),
    )


def plain(username: str, password: str) -> Exchange:
    yield b"\x00".join((b"", username.encode(), password.encode()))


def scram(hash_name: str, *, username: str, password: str, nonce: str) -> Exchange:
    escaped = username.replace("=", "=3D").replace(",", "=2C")
    client_first = f"n={escaped},r={nonce}".encode()
    server_first = yield _NO_CHANNEL_BINDING + client_first
    fields = _fields(server_first)
    salt, iterations, full_nonce = _challenge(fields, nonce)
    binding = base64.b64encode(_NO_CHANNEL_BINDING).decode()
    final_without_proof = f"c={binding},r={full_nonce}".encode()
    signed = b",".join((client_first, server_first, final_without_proof))
    salted = hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", hash_name)
    signature = hmac.digest(hashlib.new(hash_name, client_key).digest(), signed, hash_name)
    proof = bytes(key ^ sign for key, sign in zip(client_key, signature, strict=True))
    server_final = yield final_without_proof + b",p=" + base64.b64encode(proof)
    server_key = hmac.digest(salted, b"Server Key", hash_name)
    expected = base64.b64encode(hmac.digest(server_key, signed, hash_name)).decode()
    answer = _fields(server_final)
    if "e" in answer:
        raise AuthenticationFailed(f"SCRAM: the broker says {answer['e']}")
    if not hmac.compare_digest(answer.get("v", ""), expected):
        raise AuthenticationFailed("SCRAM: the broker could not prove that it knows the password")


def _challenge(fields: dict[str, str], nonce: str) -> tuple[bytes, int, str]:
    if "e" in fields:
        raise AuthenticationFailed(f"SCRAM: the broker says {fields['e']}")
    try:
        salt, iterations, full_nonce = base64.b64decode(fields["s"], validate=True), int(fields["i"]), fields["r"]
    except (KeyError, ValueError) as problem:
        raise AuthenticationFailed(f"SCRAM: the broker's challenge cannot be read: {problem}") from problem
    if not full_nonce.startswith(nonce) or full_nonce == nonce:
        raise AuthenticationFailed("SCRAM: the broker answered another client's nonce")
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise AuthenticationFailed(
            f"SCRAM: the broker asks for {iterations} iterations, expected {ITERATIONS_MIN} to {ITERATIONS_MAX}"
        )
    return salt, iterations, full_nonce


def _fields(token: bytes) -> dict[str, str]:
    parts = token.decode("utf-8", "replace").split(",")
    return {part[0]: part[2:] for part in parts if len(part) >= 2 and part[1] == "="}


JAVA_STORES = (".jks", ".p12", ".pfx", ".keystore", ".truststore")


def ssl_context(settings: ClientSettings) -> ssl.SSLContext | None:
    """None where the security protocol has no TLS. Stores are PEM; Java's own formats are refused by name."""
    if not settings.security_protocol.endswith("SSL"):
        return None
    for location in (settings.ssl_truststore_location, settings.ssl_keystore_location):
        if location.lower().endswith(JAVA_STORES):
            raise InvalidSetting(f"{location} is a Java store: expected a PEM file")
    try:
        context = ssl.create_default_context(
            cafile=settings.ssl_truststore_location or None, cadata=settings.ssl_truststore_certificates or None
        )
        if settings.ssl_keystore_location:
            context.load_cert_chain(settings.ssl_keystore_location, password=settings.ssl_key_password or None)
    except (OSError, ssl.SSLError) as problem:
        raise InvalidSetting(f"the ssl.* settings cannot be used: {problem}") from problem
    context.check_hostname = settings.ssl_endpoint_identification_algorithm == "https"
    return context
