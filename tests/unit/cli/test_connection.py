"""How commands learn where the cluster is and how to talk to it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cli.options import make_connection, read_jaas, read_properties
from fencepost.settings import InvalidSetting


def test_properties_are_read_as_java_writes_them() -> None:
    text = (
        "# comment\n! comment\n\nclient.id=me\nlinger.ms : 5\n  acks = all \n"
        "ssl.key.password=a=b\\u00e9\\\\\nsasl.username=\\\n   joe\n"
    )
    assert read_properties(text) == {
        "client.id": "me",
        "linger.ms": "5",
        "acks": "all",
        "ssl.key.password": "a=b\u00e9\\",
        "sasl.username": "joe",
    }


@given(st.text(alphabet=st.characters(exclude_characters='"\\\n', codec="utf-8")))
def test_a_password_of_jaas_survives_quoting(password: str) -> None:
    text = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="{password}";'
    assert read_jaas(text) == {"sasl.username": "me", "sasl.password": password}


def test_options_win_over_the_file_and_jaas_gives_name_and_password(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text(
        "bootstrap.servers=elsewhere:9092\nclient.id=file\nlinger.ms=1\n"
        'sasl.jaas.config=x.ScramLoginModule required username="joe" password="quo\\\\"te";\n',
        encoding="utf-8",
    )
    connection = make_connection("here:9092", config, ["client.id=option"])
    assert connection.bootstrap_servers == "here:9092"
    assert connection.settings == {
        "client.id": "option",
        "linger.ms": "1",
        "sasl.username": "joe",
        "sasl.password": 'quo"te',
    }


def test_a_setting_of_another_kind_of_client_is_passed_over_and_an_unknown_one_refused() -> None:
    connection = make_connection("here:9092", None, ["linger.ms=1", "fetch.min.bytes=2"])
    assert connection.consumer_settings().fetch_min_bytes == 2
    with pytest.raises(InvalidSetting, match=r"fetch\.min\.bytes"):
        make_connection("here:9092", None, ["fetch.min.byte=2"])
