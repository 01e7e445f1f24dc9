"""The examples of docs/client.md run, in their order; its table of states has them all."""

import re
from pathlib import Path

import pytest

from fencepost.client.transaction_states import State

PAGE = Path(__file__).parents[2] / "docs" / "client.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_has_an_example_for_each_part() -> None:
    assert len(EXAMPLES) == 5


def test_the_examples_run(fencepost_broker: object, capsys: pytest.CaptureFixture[str]) -> None:
    for example in EXAMPLES:
        servers = fencepost_broker.bootstrap_servers  # type: ignore[attr-defined]
        exec(compile(example, str(PAGE), "exec"), {"bootstrap_servers": servers})
    printed = capsys.readouterr().out
    assert "RecordMetadata(topic='orders'" in printed
    assert "[0, 1, 2]" in printed


def test_every_state_is_explained() -> None:
    explained = re.findall(r"^\| ([A-Z_]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert explained == [state.name for state in State]
