"""A page that says something wrong fails: the reader of the other tests would notice."""

from pathlib import Path

import pytest

from tests.docs.page_blocks import BadPage, has_printed, read_blocks
from tests.docs.terminal import Reader

RIGHT = """
```bash
greeting=hello
```
Then a file.
```python title="greet.py"
import sys

print(sys.argv[1], "at 12:04:59")
```
```bash
python3 greet.py "$greeting"
echo done
```
```text
hello at ...
done
```
"""


def follow(page: str, folder: Path) -> None:
    with Reader(folder, folder) as reader:
        reader.follow(read_blocks(page))


def test_a_page_that_is_right_is_followed_to_its_end(tmp_path: Path) -> None:
    follow(RIGHT, tmp_path)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("hello at ...", "goodbye at ...", "line 11: it prints otherwise"),
        ("...\ndone\n", "...\ndone\nand more\n", "line 11: it prints otherwise"),
        ("hello at ...\n", "", "line 11: it prints otherwise"),
        ("python3 greet.py", "python3 missing.py", "line 11: a command failed"),
        ("echo done", "false | cat; echo done", "line 11: a command failed"),
        ("import sys", "import sys, nothing_of_this_name", "line 11: a command failed"),
        ("greeting=hello", "cd nowhere", "line 2: a command failed"),
        ('title="greet.py"', 'title="other.py"', "line 11: a command failed"),
    ],
)
def test_a_page_that_is_wrong_fails_and_says_where(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert RIGHT.count(right) == 1
    with pytest.raises(AssertionError, match=said):
        follow(RIGHT.replace(right, wrong), tmp_path)


def test_another_terminal_goes_on_while_the_page_does(tmp_path: Path) -> None:
    page = """
```bash
mkfifo pipe
```
```bash title="in a second terminal"
echo listening && cat pipe > heard
```
```text
listening
```
```bash
echo hello > pipe
until grep hello heard; do sleep 0.01; done
```
```text
hello
```
"""
    follow(page, tmp_path)


@pytest.mark.parametrize("typed", ["echo refused", "echo refused; false", "echo refused; exit"])
def test_another_terminal_that_says_something_else_fails(tmp_path: Path, typed: str) -> None:
    page = f"""
```bash title="in another terminal"
{typed}
```
```text
listening
```
"""
    with pytest.raises((AssertionError, pytest.fail.Exception), match="refused"):
        follow(page, tmp_path)


@pytest.mark.parametrize(
    "page",
    ["```python\nunnamed()\n```\n", "```\nbare\n```\n", "```text\nprinted by nothing\n```\n", "```yaml\na: b\n```\n"],
)
def test_a_block_that_nobody_would_try_is_refused(page: str) -> None:
    with pytest.raises(BadPage, match="line 1"):
        read_blocks(page)


def test_addresses_are_replaced_where_they_are_typed_and_where_they_are_printed() -> None:
    page = "```bash\nserve :9092\n```\n```text\nlistening on :9092\n```\n"
    [block] = read_blocks(page, {":9092": ":41000"})
    assert (block.text, block.printed) == ("serve :41000\n", "listening on :41000\n")


@pytest.mark.parametrize(
    ("expected", "seen", "is_same"),
    [
        ("a ... c", "a b c", True),
        ("a ... c", "a b d", False),
        ("a ... c", "a\nc", False),
        ("a\n...\nc", "a\nb\nb\nc", True),
        ("a\n...\nc", "a\nc", True),
        ("a\n...\nc", "a\nb\nc\nd", False),
        ("a", "a   \n\n", True),
        ("a", "  a", False),
        ("offset: 1", "offset: 11", False),
        ("a.c", "abc", False),
    ],
)
def test_dots_stand_for_what_differs_and_for_nothing_else(expected: str, seen: str, is_same: bool) -> None:
    assert has_printed(expected, seen) is is_same
