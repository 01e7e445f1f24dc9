"""Which tests run: `kafka` ones where the jars of `make kafka` are, `deep` ones with TEST_DEPTH=full.

REQUIRE_APACHE_KAFKA=1 turns the skips of `kafka` tests into failures, so that a run that must not miss them cannot.
"""

import os
from collections.abc import Generator

import pytest

REQUIRE = "REQUIRE_APACHE_KAFKA"
DEPTH = "TEST_DEPTH"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(DEPTH) == "full":
        return
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason=f"takes long: {DEPTH}=full make test runs it"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_required = os.environ.get(REQUIRE, "0") not in ("", "0")
    is_left_for_depth = item.get_closest_marker("deep") and os.environ.get(DEPTH) != "full"
    is_skipped = report.skipped and not hasattr(report, "wasxfail")
    if is_required and is_skipped and item.get_closest_marker("kafka") and not is_left_for_depth:
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE} is set, and this test was skipped: {call.excinfo and call.excinfo.value}"
    return report
