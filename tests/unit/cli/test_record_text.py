"""Records as JSON and back: nothing is lost, whatever the bytes."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cli.record_text import OutgoingRecord, ShownRecord, choose_format, record_from_json, show_json, template

INT64 = st.integers(min_value=-(2**63), max_value=2**63 - 1)
HEADERS = st.lists(st.tuples(st.text(alphabet=st.characters(codec="utf-8")), st.none() | st.binary())).map(tuple)


@given(st.none() | st.binary(), st.none() | st.binary(), HEADERS, st.integers(0, 2**31 - 1), INT64)
def test_what_is_printed_as_json_is_read_as_the_same_record(
    key: bytes | None,
    value: bytes | None,
    headers: tuple[tuple[str, bytes | None], ...],
    partition: int,
    timestamp_ms: int,
) -> None:
    shown = ShownRecord("t", partition, 7, timestamp_ms, key, value, headers)
    assert record_from_json(show_json(shown)) == OutgoingRecord(key, value, headers, partition, timestamp_ms)


@pytest.mark.parametrize("line", [b"", b"[]", b"{", b'{"value_base64": "!"}', b'{"headers": [1]}', b"\xff"])
def test_a_line_that_is_no_record_is_refused_in_words(line: bytes) -> None:
    with pytest.raises(click.ClickException, match="consume --json"):
        record_from_json(line)


def test_a_value_that_is_json_itself_is_kept_as_json() -> None:
    assert record_from_json(b'{"value": {"a": [1]}}').value == b'{"a": [1]}'


def test_templates_know_escapes_text_of_other_alphabets_and_their_fields() -> None:
    record = ShownRecord("t", 0, 1, 0, b"k", "schön".encode(), ())
    assert template(r"{key}\t{value}")(record) == "k\tschön\n".encode()
    assert template("→ {value}")(record) == "→ schön\n".encode()
    assert template(r"→ {value}\t")(record) == "→ schön\t\n".encode()
    for bad in ("{colour}", "{", "nothing", "{0}"):
        with pytest.raises(click.BadParameter):
            choose_format(bad, as_json=False)
