"""The rows of docs/differences-from-kafka.md, by the name in their first column."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "differences-from-kafka.md"


def read_differences() -> dict[str, str]:
    """Name of the difference -> the rest of its row."""
    rows = [line.strip("|").split("|", 1) for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {name.strip().strip("`"): rest.strip() for name, rest in rows}


DIFFERENCES = read_differences()
