"""The tutorial, line by line: everything that a reader copies is run, and prints what the page says."""

from pathlib import Path

from fencepost.lab.free_ports import free_ports
from tests.docs.page_blocks import read_blocks
from tests.docs.terminal import Reader
from tests.peers import ROOT

PAGE = ROOT / "docs" / "tutorial.md"
ADDRESS = "127.0.0.1:9092"
FOLDER = "/tmp/fencepost-tutorial"


def test_a_reader_who_copies_every_block_sees_what_the_page_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    [port] = free_ports(1)
    desk = tmp_path / "typed"
    desk.mkdir()
    assert ADDRESS in text
    assert FOLDER in text
    blocks = read_blocks(text, {ADDRESS: f"127.0.0.1:{port}", FOLDER: str(tmp_path / "tutorial")})
    with Reader(ROOT, desk) as reader:
        reader.follow(blocks)
