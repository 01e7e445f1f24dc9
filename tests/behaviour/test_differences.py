"""The page of differences and the tests that expect them say the same."""

import re
from pathlib import Path

from tests.behaviour.differences import DIFFERENCES


def test_every_difference_on_the_page_is_expected_by_a_test() -> None:
    sources = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]
    expected = {name for source in sources for name in re.findall(r"""differs\(\s*"([a-z0-9-]+)\"""", source)}
    assert expected == set(DIFFERENCES)
