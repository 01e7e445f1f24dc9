"""TLS and SASL, on Apache Kafka: who may talk to it, and whom we talk to."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fencepost.client import Consumer, Producer
from fencepost.client.exceptions import AuthenticationFailed, ClientError
from fencepost.lab.apache_kafka import ApacheKafka, Place, free_ports
from tests.behaviour_client.consumer_reading import read
from tests.peers import require_jars

pytestmark = pytest.mark.kafka
USER, PASSWORD = "ada", "byron's daughter"
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


class Addresses(NamedTuple):
    with_password: str
    with_certificate: str


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1, and its key, in one PEM file."""
    folder = tmp_path_factory.mktemp("tls")
    key, chain = folder / "key.pem", folder / "chain.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=fencepost -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", str(key), "-out", str(chain)], check=True, capture_output=True)
    store = folder / "store.pem"
    store.write_text(key.read_text() + chain.read_text())
    return store


@pytest.fixture(scope="module")
def addresses(certificate: Path) -> Iterator[Addresses]:
    """One listener that asks for a password in TLS, by any mechanism, and one that asks for a certificate."""
    require_jars()
    port, certificate_port, controller_port = free_ports(3)
    scram = [
        option
        for mechanism in MECHANISMS[1:]
        for option in ("--add-scram", f'{mechanism}=[name="{USER}",password="{PASSWORD}"]')
    ]
    settings = {
        "listeners": (
            f"SASL_SSL://127.0.0.1:{port},SSL://127.0.0.1:{certificate_port},CONTROLLER://127.0.0.1:{controller_port}"
        ),
        "listener.security.protocol.map": "SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "SASL_SSL",
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": (
            f'{PLAIN_MODULE} username="{USER}" password="{PASSWORD}" user_{USER}="{PASSWORD}";'
        ),
        "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": SCRAM_MODULE,
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": SCRAM_MODULE,
        "listener.name.ssl.ssl.client.auth": "required",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificate),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificate),
    }
    place = Place(1, port, controller_port)
    with ApacheKafka(settings=settings, heap="512m", place=place, format_options=tuple(scram)):
        yield Addresses(f"127.0.0.1:{port}", f"127.0.0.1:{certificate_port}")


@pytest.fixture
def secure_servers(addresses: Addresses) -> str:
    return addresses.with_password


def secure(certificate: Path, **changes: object) -> dict[str, object]:
    return {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_username": USER,
        "sasl_password": PASSWORD,
        "ssl_truststore_location": str(certificate),
        **changes,
    }


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_with_the_right_password_records_are_written_and_read_over_tls(
    secure_servers: str, certificate: Path, name: str, mechanism: str
) -> None:
    settings = secure(certificate, sasl_mechanism=mechanism)
    with Producer(secure_servers, transactional_id=name, max_block_ms=20_000, **settings) as producer:
        producer.init_transactions()
        with producer.transaction() as txn:
            futures = [txn.send(name, bytes(50_000)) for _ in range(50)]
        assert len({future.result(0).offset for future in futures}) == 50
    with Consumer(secure_servers, [name], group_id=name, auto_offset_reset="earliest", **settings) as consumer:
        assert [record.value for record in read(consumer, 50)] == [bytes(50_000)] * 50


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password_is_refused_at_once_and_in_the_brokers_words(
    secure_servers: str, certificate: Path, name: str, mechanism: str
) -> None:
    settings = secure(certificate, sasl_mechanism=mechanism, sasl_password="byron")
    with (
        Producer(secure_servers, **settings) as producer,
        pytest.raises(AuthenticationFailed, match=r"Invalid username or password|invalid credentials"),
    ):
        producer.send(name, b"a")


def test_a_name_that_the_broker_does_not_know_is_refused(secure_servers: str, certificate: Path, name: str) -> None:
    settings = secure(certificate, sasl_mechanism="SCRAM-SHA-512", sasl_username="charles")
    with Producer(secure_servers, **settings) as producer, pytest.raises(AuthenticationFailed):
        producer.send(name, b"a")


def test_a_certificate_takes_the_place_of_a_password(addresses: Addresses, certificate: Path, name: str) -> None:
    trusting = {"security_protocol": "SSL", "ssl_truststore_location": str(certificate)}
    known = {**trusting, "ssl_keystore_location": str(certificate)}
    with Producer(addresses.with_certificate, **known) as producer:
        assert producer.send(name, b"a").result(30).offset == 0
    with Producer(addresses.with_certificate, max_block_ms=2000, **trusting) as producer, pytest.raises(ClientError):
        producer.send(name, b"a")


def test_a_certificate_for_another_host_is_refused_unless_that_is_allowed(
    secure_servers: str, certificate: Path, name: str
) -> None:
    by_name = secure_servers.replace("127.0.0.1", "localhost")
    with (
        Producer(by_name, **secure(certificate)) as producer,
        pytest.raises(AuthenticationFailed, match="certificate verify failed"),
    ):
        producer.send(name, b"a")
    with Producer(by_name, **secure(certificate, ssl_endpoint_identification_algorithm="none")) as producer:
        assert producer.send(name, b"a").result(30).offset == 0


def test_a_broker_that_nobody_vouches_for_is_not_talked_to(secure_servers: str, certificate: Path, name: str) -> None:
    with (
        Producer(secure_servers, **secure(certificate, ssl_truststore_location=None)) as producer,
        pytest.raises(AuthenticationFailed, match="certificate verify failed"),
    ):
        producer.send(name, b"a")
