"""Tests marked `kafka` need the jars of `make kafka`. REQUIRE_APACHE_KAFKA=1 turns their skips into failures."""

import os
from collections.abc import Generator

import pytest

REQUIRE = "REQUIRE_APACHE_KAFKA"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_required = os.environ.get(REQUIRE, "0") not in ("", "0")
    if is_required and report.skipped and item.get_closest_marker("kafka"):
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE} is set, and this test was skipped: {call.excinfo and call.excinfo.value}"
    return report
