"""TLS and SASL, on Apache Kafka: who may talk to it, and whom we talk to."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.client import Producer
from fencepost.client.exceptions import AuthenticationFailed
from fencepost.lab.apache_kafka import ApacheKafka, free_ports
from tests.peers import require_jars

pytestmark = pytest.mark.kafka
USER, PASSWORD = "ada", "lovelace"
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"


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
def secure_servers(certificate: Path) -> Iterator[str]:
    require_jars()
    port, controller_port = free_ports(2)
    settings = {
        "listeners": f"SASL_SSL://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "listener.security.protocol.map": "SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT",
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "inter.broker.listener.name": "SASL_SSL",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": (
            f'{JAAS} username="{USER}" password="{PASSWORD}" user_{USER}="{PASSWORD}";'
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificate),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificate),
    }
    broker = ApacheKafka(settings=settings, heap="512m")
    broker.port = port
    with broker:
        yield f"127.0.0.1:{port}"


def secure(certificate: Path, **changes: object) -> dict[str, object]:
    return {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_username": USER,
        "sasl_password": PASSWORD,
        "ssl_truststore_location": str(certificate),
        "max_block_ms": 20_000,
        **changes,
    }


def test_a_producer_with_the_right_password_writes_over_tls(secure_servers: str, certificate: Path, name: str) -> None:
    with Producer(secure_servers, transactional_id=name, **secure(certificate)) as producer:
        producer.init_transactions()
        with producer.transaction() as txn:
            futures = [txn.send(name, bytes(50_000)) for _ in range(50)]
        assert len({future.result(0).offset for future in futures}) == 50


def test_a_wrong_password_is_refused_at_once_and_in_the_brokers_words(
    secure_servers: str, certificate: Path, name: str
) -> None:
    with (
        Producer(secure_servers, **secure(certificate, sasl_password="byron")) as producer,
        pytest.raises(AuthenticationFailed, match="Invalid username or password"),
    ):
        producer.send(name, b"a")


def test_a_mechanism_that_is_not_offered_is_named(secure_servers: str, certificate: Path, name: str) -> None:
    with (
        Producer(secure_servers, **secure(certificate, sasl_mechanism="SCRAM-SHA-256")) as producer,
        pytest.raises(AuthenticationFailed, match="it offers PLAIN"),
    ):
        producer.send(name, b"a")


def test_a_broker_that_nobody_vouches_for_is_not_talked_to(secure_servers: str, certificate: Path, name: str) -> None:
    with (
        Producer(secure_servers, **secure(certificate, ssl_truststore_location=None)) as producer,
        pytest.raises(AuthenticationFailed, match="certificate verify failed"),
    ):
        producer.send(name, b"a")
