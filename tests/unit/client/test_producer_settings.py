"""Settings of clients: Kafka's names, checked one by one and together."""

import logging

import pytest

from fencepost.client.settings import ProducerSettings, client_settings, parse_bootstrap_servers
from fencepost.settings import InvalidSetting


def made(**given: object) -> ProducerSettings:
    return client_settings(ProducerSettings, given, kind="producer")


def test_the_defaults_are_those_of_kafka() -> None:
    settings = made()
    assert settings.enable_idempotence
    assert settings.acks == "all"
    assert settings.max_in_flight_requests_per_connection == 5
    assert (settings.linger_ms, settings.batch_size, settings.delivery_timeout_ms) == (5, 16_384, 120_000)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"acks": 1}, r"acks=1 .*enable\.idempotence"),
        ({"acks": "0"}, "acks=0"),
        ({"max_in_flight_requests_per_connection": 6}, r"max\.in\.flight\.requests\.per\.connection=6"),
        ({"retries": 0}, "retries=0"),
        ({"transactional_id": "a", "enable_idempotence": False}, r"transactional\.id=a"),
        ({"transactional_id": "a", "acks": "1"}, "acks=1"),
        ({"linger": 5}, "unknown setting 'linger' of a producer; did you mean 'linger_ms'"),
        ({"linger_ms": -1}, "at least 0"),
        ({"compression_type": "zst"}, "did you mean 'zstd'"),
        ({"batch_size": "many"}, "whole number"),
        ({"security_protocol": "TLS"}, "PLAINTEXT, SSL"),
    ],
)
def test_what_does_not_go_is_refused_and_named(given: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidSetting, match=named):
        made(**given)


def test_without_idempotence_the_rest_is_free() -> None:
    settings = made(enable_idempotence=False, acks=1, max_in_flight_requests_per_connection=50, retries=0)
    assert settings.acks == "1"


def test_a_transactional_id_implies_idempotence() -> None:
    assert made(transactional_id="a").enable_idempotence


def test_text_and_values_are_the_same_and_none_is_the_default() -> None:
    assert made(linger_ms="7", enable_idempotence="true") == made(linger_ms=7, transactional_id=None)


def test_effective_settings_are_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="fencepost.client"):
        made(linger_ms=77, sasl_password="open sesame")
    assert "linger_ms=77" in caplog.text
    assert "batch_size=16384" in caplog.text
    assert "sesame" not in caplog.text


def test_addresses_of_brokers() -> None:
    assert parse_bootstrap_servers("a:1, [::1]:9092") == [("a", 1), ("::1", 9092)]
    assert parse_bootstrap_servers(["a:1", "b:2"]) == [("a", 1), ("b", 2)]
    for wrong in ("", "a", "a:", ":1", "a:x", "a:0", "a:70000", []):
        with pytest.raises(InvalidSetting, match=r"bootstrap\.servers"):
            parse_bootstrap_servers(wrong)
