"""SASL, against the examples of its RFCs and a server that cheats."""

import base64

import pytest

from fencepost.client.exceptions import AuthenticationFailed
from fencepost.client.net.security import exchange, plain, scram
from fencepost.client.settings import ClientSettings

# The examples of RFC 7677 (SCRAM-SHA-256): user, password pencil.
NONCE = "rOprNGfwEbeRWgbNEkqO"
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_plain_is_name_and_password_between_zeros() -> None:
    assert next(plain("user", "p\u00e4ss")) == b"\x00user\x00p\xc3\xa4ss"


def test_scram_follows_the_example_of_its_rfc() -> None:
    tokens = scram("sha256", username="user", password="pencil", nonce=NONCE)
    assert next(tokens) == CLIENT_FIRST
    assert tokens.send(SERVER_FIRST) == CLIENT_FINAL
    with pytest.raises(StopIteration):
        tokens.send(SERVER_FINAL)


def test_scram_follows_the_example_of_its_first_rfc_with_another_hash() -> None:
    """RFC 5802, section 5: the same exchange with SHA-1. SHA-512 has no example of its own, but a live test."""
    tokens = scram("sha1", username="user", password="pencil", nonce="fyko+d2lbbFgONRv9qkxdawL")
    assert next(tokens) == b"n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL"
    final = tokens.send(b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096")
    assert final == b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="
    with pytest.raises(StopIteration):
        tokens.send(b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=")


def test_names_are_escaped() -> None:
    assert next(scram("sha512", username="a,b=c", password="", nonce="n")) == b"n,,n=a=2Cb=3Dc,r=n"


@pytest.mark.parametrize(
    ("server_first", "says"),
    [
        (b"r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce"),
        (b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce"),
        (b"r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1", "1 iterations"),
        (b"r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=99999999", "99999999 iterations"),
        (b"r=rOprNGfwEbeRWgbNEkqOx,s=!,i=4096", "cannot be read"),
        (b"e=unknown-user", "unknown-user"),
        (b"", "cannot be read"),
    ],
)
def test_a_challenge_that_is_not_one_is_refused(server_first: bytes, says: str) -> None:
    tokens = scram("sha256", username="user", password="pencil", nonce=NONCE)
    next(tokens)
    with pytest.raises(AuthenticationFailed, match=says):
        tokens.send(server_first)


@pytest.mark.parametrize("server_final", [b"", b"v=", b"v=" + base64.b64encode(bytes(32)), b"e=invalid-proof"])
def test_a_broker_that_does_not_know_the_password_is_refused(server_final: bytes) -> None:
    tokens = scram("sha256", username="user", password="pencil", nonce=NONCE)
    next(tokens)
    tokens.send(SERVER_FIRST)
    with pytest.raises(AuthenticationFailed):
        tokens.send(server_final)


def test_every_exchange_has_a_nonce_of_its_own() -> None:
    settings = ClientSettings(sasl_mechanism="SCRAM-SHA-512", sasl_username="u", sasl_password="p")
    assert next(exchange(settings)) != next(exchange(settings))
