"""Prints how many crash points a test run went through, whichever worker explored them."""

import pytest

CRASH_POINTS = "crash points: "


class Explored(dict[str, int]):
    """Counts by the name of an exploration. What is added here appears in the summary of the run."""

    def __init__(self, counted: dict[str, int], request: pytest.FixtureRequest) -> None:
        super().__init__(counted)
        self._counted = counted
        self._request = request

    def __setitem__(self, exploration: str, count: int) -> None:
        super().__setitem__(exploration, count)
        self._counted[exploration] = count
        self._request.node.user_properties.append((CRASH_POINTS + exploration, count))


@pytest.fixture(scope="session")
def all_crash_points() -> dict[str, int]:
    return {}


@pytest.fixture
def crash_points(request: pytest.FixtureRequest, all_crash_points: dict[str, int]) -> dict[str, int]:
    return Explored(all_crash_points, request)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = {
        name: count
        for report in terminalreporter.getreports("passed")
        for name, count in report.user_properties
        if name.startswith(CRASH_POINTS)
    }
    if counts:
        terminalreporter.write_line(f"crash points: {sum(counts.values()):,} in {len(counts)} explorations")
