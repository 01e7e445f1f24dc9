"""The tutorial, line by line: everything that a reader copies is run, and prints what the page says."""

from pathlib import Path

import pytest

from fencepost.lab.apache_kafka import free_ports
from tests.docs.page_blocks import Block, read_blocks
from tests.docs.terminal import Reader
from tests.peers import ROOT

PAGE = ROOT / "docs" / "tutorial.md"
ADDRESS = "127.0.0.1:9092"
FOLDER = "/tmp/fencepost-tutorial"
FIRST_START_OF_SPARK = "fencepost run billing.py --set"


def blocks(folder: Path) -> list[Block]:
    text = PAGE.read_text(encoding="utf-8")
    assert ADDRESS in text
    assert FOLDER in text
    [port] = free_ports(1)
    return read_blocks(text, {ADDRESS: f"127.0.0.1:{port}", FOLDER: str(folder / "tutorial")})


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_a_reader_who_copies_every_block_sees_what_the_page_says(tmp_path: Path) -> None:
    with Reader(ROOT, tmp_path) as reader:
        reader.follow(blocks(tmp_path))


def test_the_page_is_right_as_far_as_it_needs_no_spark(tmp_path: Path) -> None:
    found = blocks(tmp_path)
    [end] = [index for index, block in enumerate(found) if FIRST_START_OF_SPARK in block.text]
    assert end > 10
    with Reader(ROOT, tmp_path) as reader:
        reader.follow(found[:end])
