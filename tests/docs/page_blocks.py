"""The blocks of a page that a reader copies, and what they say happens then.

    ```bash                                 typed into the reader's terminal, which keeps its folder and variables
    ```bash title="in a second terminal"    typed into a terminal of its own, where it goes on running
    ```python title="billing.py"            a file, written where the reader stands
    ```text                                 what the block before it prints

In what is printed `...` stands for what differs from run to run: any characters within a line; alone on a line, any
number of lines. A page has no blocks of another kind, so that nothing on it goes untried.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INFO = re.compile(r'(\w+)(?: title="([^"]+)")?')
TERMINAL = re.compile(r"in an?(?:other| \w+) terminal")
VARYING = "..."


class BadPage(Exception):  # noqa: N818 - it names what is wrong
    """A page that cannot be run."""


@dataclass(slots=True, kw_only=True)
class Block:
    text: str
    line: int
    """Where on the page it begins, for whoever has to mend it."""
    file: str | None = None
    terminal: str | None = None
    printed: str | None = None


def read_blocks(page: str, replaced: Mapping[str, str] | None = None) -> list[Block]:
    """In the page's order, with every text of `replaced` exchanged, in what is typed and in what is printed."""
    blocks: list[Block] = []
    for fence in FENCED.finditer(page):
        line = page.count("\n", 0, fence.start()) + 1
        text = fence[2]
        for old, new in (replaced or {}).items():
            text = text.replace(old, new)
        add_block(blocks, fence[1], text, line)
    return blocks


def add_block(blocks: list[Block], info: str, text: str, line: int) -> None:
    found = INFO.fullmatch(info)
    language, title = found.groups() if found else (info, None)
    if language == "text" and title is None:
        if not blocks or blocks[-1].file or blocks[-1].printed is not None:
            raise BadPage(f"line {line}: nothing is typed that could have printed this")
        blocks[-1].printed = text
    elif language == "bash" and (title is None or TERMINAL.match(title)):
        blocks.append(Block(text=text, line=line, terminal=title))
    elif title is not None:
        blocks.append(Block(text=text, line=line, file=title))
    else:
        raise BadPage(f"line {line}: a block of '{info}' is neither typed, nor a file, nor printed")


def has_printed(expected: str, seen: str) -> bool:
    return re.fullmatch(pattern_of(expected), tidy(seen)) is not None


def begins_to_print(expected: str, seen: str) -> bool:
    return re.match(pattern_of(expected), tidy(seen)) is not None


def pattern_of(expected: str) -> str:
    return "".join(map(line_pattern, tidy(expected).splitlines()))


def line_pattern(line: str) -> str:
    if line.strip() == VARYING:
        return r"(?:.*\n)*?"
    return ".*?".join(map(re.escape, line.split(VARYING))) + r"\n"


def tidy(text: str) -> str:
    """Without spaces at the ends of lines, which nobody sees."""
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())
