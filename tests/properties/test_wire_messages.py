"""Every API and version of the table: read back what was written, and write what kio and kafka-python write."""

import io
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_writer

from fencepost.wire.api import API_TABLE, Api
from fencepost.wire.message import Output
from tests.unit.wire import kafka_python
from tests.unit.wire.trees import Tree, to_kio, to_ours, trees

EXAMPLES = 4
"""Each draws a message of every version."""

SIDES = {"request": load_request_schema, "response": load_response_schema}
MESSAGES = [pytest.param(api, side, id=f"{api.name}{side.title()}") for api in API_TABLE.values() for side in SIDES]
draw_from_all_versions = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def our_class(api: Api, side: str) -> type[Any]:
    return api.request_class if side == "request" else api.response_class


def our_bytes(message: Any, version: int) -> bytes:
    out = Output()
    message.encode(out, version)
    return b"".join(out.pieces())


def kio_bytes(tree: Tree, kio_class: type[Any]) -> bytes:
    buffer = io.BytesIO()
    entity_writer(kio_class)(buffer, to_kio(tree, kio_class))
    return buffer.getvalue()


@pytest.mark.parametrize(("api", "side"), MESSAGES)
@draw_from_all_versions
@given(data=st.data())
def test_every_version_writes_the_bytes_that_kio_writes_and_reads_them_back(api: Api, side: str, data: Any) -> None:
    for version in range(api.min_version, api.max_version + 1):
        kio_class = SIDES[side](api.key, version)
        tree = data.draw(trees(kio_class, for_kio=True), label=f"v{version}")
        message = to_ours(tree, our_class(api, side), kio_class)
        written = our_bytes(message, version)
        assert written == kio_bytes(tree, kio_class)
        assert our_class(api, side).read(written, 0, version) == (message, len(written))


@pytest.mark.parametrize(("api", "side"), MESSAGES)
@draw_from_all_versions
@given(data=st.data())
def test_every_version_holds_every_value_of_its_types_and_agrees_with_kafka_python(
    api: Api, side: str, data: Any
) -> None:
    for version in range(api.min_version, api.max_version + 1):
        kio_class = SIDES[side](api.key, version)
        tree = data.draw(trees(kio_class, for_kio=False), label=f"v{version}")
        message = to_ours(tree, our_class(api, side), kio_class)
        written = our_bytes(message, version)
        assert our_class(api, side).read(memoryview(written), 0, version) == (message, len(written))
        name = our_class(api, side).__name__
        if kafka_python.has(name, version):
            assert written == kafka_python.encode(name, version, tree)
