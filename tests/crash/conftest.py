"""Prints how many crash points a test run went through."""

import pytest

CRASH_POINTS = pytest.StashKey[dict[str, int]]()


@pytest.fixture
def crash_points(request: pytest.FixtureRequest) -> dict[str, int]:
    """Counts by the name of an exploration; they appear in the summary of the run."""
    return request.config.stash.setdefault(CRASH_POINTS, {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = terminalreporter.config.stash.get(CRASH_POINTS, {})
    if counts:
        terminalreporter.write_line(f"crash points: {sum(counts.values()):,} in {len(counts)} explorations")
