"""Settings of clients, each declared once: Kafka's names, as keyword arguments in snake_case.

`client_settings` turns keyword arguments into checked values: an unknown name is refused with the nearest one, values
are checked each for itself and then together, and the effective ones are logged. Passwords are never shown.
"""

import dataclasses
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from fencepost.settings import (
    INT32_MAX,
    INT64_MAX,
    InvalidSetting,
    as_text,
    declarations,
    declare,
    nearest,
    parse_settings,
)

logger = logging.getLogger("fencepost.client")

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
SASL_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
SECRETS = frozenset({"sasl_password", "ssl_key_password", "ssl_keystore_key"})
SHOWN_FOR_SECRETS = "********"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """What producers, consumers and administrators share."""

    client_id: str = declare("fencepost", "how the client calls itself; brokers log it")
    request_timeout_ms: int = declare(30_000, "how long one answer is waited for", unit="ms", minimum=1)
    socket_connection_setup_timeout_ms: int = declare(
        10_000, "how long a connection may take to be made", unit="ms", minimum=1
    )
    connections_max_idle_ms: int = declare(540_000, "an unused connection is closed after this", unit="ms", minimum=1)
    metadata_max_age_ms: int = declare(
        300_000, "leaders and partitions are asked for again after this", unit="ms", minimum=1
    )
    retry_backoff_ms: int = declare(100, "pause before the first retry; it doubles", unit="ms", minimum=0)
    retry_backoff_max_ms: int = declare(1000, "longest pause between retries", unit="ms", minimum=0)
    receive_buffer_bytes: int = declare(-1, "SO_RCVBUF; -1: the system's", unit="bytes", minimum=-1)
    send_buffer_bytes: int = declare(-1, "SO_SNDBUF; -1: the system's", unit="bytes", minimum=-1)

    security_protocol: str = declare("PLAINTEXT", "how to talk to brokers", choices=SECURITY_PROTOCOLS)
    sasl_mechanism: str = declare("PLAIN", "how to prove who we are", choices=SASL_MECHANISMS)
    sasl_username: str = declare("", "name for SASL")
    sasl_password: str = declare("", "password for SASL")
    ssl_truststore_location: str = declare("", "PEM file of trusted authorities; none: the system's")
    ssl_truststore_certificates: str = declare("", "trusted authorities as PEM text")
    ssl_keystore_location: str = declare("", "PEM file with our certificate chain and private key")
    ssl_key_password: str = declare("", "password of the private key")
    ssl_endpoint_identification_algorithm: str = declare(
        "https",
        "https: the broker's certificate must carry its host name; none: it need not",
        choices=("https", "none"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings(ClientSettings):
    """What a producer adds."""

    acks: str = declare("all", "whose acknowledgement is waited for", choices=("all", "-1", "1", "0"))
    enable_idempotence: bool = declare(True, "number the batches, so that a retry is never stored twice")
    max_in_flight_requests_per_connection: int = declare(5, "requests on the way to one broker", minimum=1)
    retries: int = declare(INT32_MAX, "how often a batch is sent again", minimum=0, maximum=INT32_MAX)
    delivery_timeout_ms: int = declare(
        120_000, "a record is delivered or has failed after this", unit="ms", minimum=1, maximum=INT32_MAX
    )
    linger_ms: int = declare(5, "how long a batch waits for more records", unit="ms", minimum=0)
    batch_size: int = declare(16_384, "a batch that has grown to this is sent at once", unit="bytes", minimum=0)
    buffer_memory: int = declare(33_554_432, "memory for records that wait", unit="bytes", minimum=1)
    max_block_ms: int = declare(
        60_000, "how long a call waits for memory, metadata or the coordinator", unit="ms", minimum=0, maximum=INT64_MAX
    )
    max_request_size: int = declare(1_048_576, "largest request and largest record", unit="bytes", minimum=1)
    compression_type: str = declare("none", "codec of batches", choices=("none", "gzip", "snappy", "lz4", "zstd"))
    transactional_id: str = declare("", "identity for transactions; it outlives this producer")
    transaction_timeout_ms: int = declare(
        60_000, "the coordinator aborts a transaction that is open for longer", unit="ms", minimum=1, maximum=INT32_MAX
    )

    def __post_init__(self) -> None:
        if self.transactional_id and not self.enable_idempotence:
            raise InvalidSetting(
                f"transactional.id={self.transactional_id} needs enable.idempotence=true, which is the default"
            )
        if not self.enable_idempotence:
            return
        hint = "or switch it off with enable_idempotence=False"
        if self.acks not in ("all", "-1"):
            raise InvalidSetting(f"acks={self.acks} with enable.idempotence=true: set acks=all, {hint}")
        if self.max_in_flight_requests_per_connection > IDEMPOTENT_IN_FLIGHT_MAX:
            raise InvalidSetting(
                f"max.in.flight.requests.per.connection={self.max_in_flight_requests_per_connection} with "
                f"enable.idempotence=true: brokers remember {IDEMPOTENT_IN_FLIGHT_MAX}; set at most that, {hint}"
            )
        if self.retries == 0:
            raise InvalidSetting(f"retries=0 with enable.idempotence=true: set at least 1, {hint}")


IDEMPOTENT_IN_FLIGHT_MAX = 5

SettingsT = TypeVar("SettingsT", bound=ClientSettings)


def client_settings(settings_class: type[SettingsT], given: dict[str, Any], *, kind: str) -> SettingsT:
    """The settings that keyword arguments ask for; one that is None keeps its default."""
    known = {declaration.field_name: name for name, declaration in declarations(settings_class).items()}
    texts = {}
    for field_name, value in given.items():
        if field_name not in known:
            raise InvalidSetting(f"unknown setting '{field_name}' of a {kind}{nearest(field_name, known)}")
        if value is not None:
            texts[known[field_name]] = as_text(value)
    settings = parse_settings(settings_class, texts)
    logger.info("%s settings: %s", kind, describe_settings(settings))
    return settings


def describe_settings(settings: ClientSettings) -> str:
    shown = []
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        shown.append(f"{field.name}={SHOWN_FOR_SECRETS if field.name in SECRETS and value else as_text(value)}")
    return ", ".join(shown)


def parse_bootstrap_servers(servers: str | Iterable[str]) -> list[tuple[str, int]]:
    """Addresses out of 'host:port,host:port' or a list of such; [::1]:9092 is a host too."""
    texts = servers.split(",") if isinstance(servers, str) else list(servers)
    addresses = []
    for text in (text.strip() for text in texts):
        host, separator, port = text.rpartition(":")
        if not separator or not host or not port.isdecimal() or not 0 < int(port) < 2**16:
            raise InvalidSetting(f"bootstrap.servers={text}: expected host:port, several with commas between them")
        addresses.append((host.strip("[]"), int(port)))
    if not addresses:
        raise InvalidSetting("bootstrap.servers is empty: expected host:port")
    return addresses
