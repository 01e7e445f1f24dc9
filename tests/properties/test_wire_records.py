"""Stored records and the consumer protocol: every version reads back what it wrote; the latter as kio writes it."""

import importlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.index import load_entity_schema
from kio.serial import entity_writer
from kio.static.constants import EntityType

from fencepost.wire.message import VersionedRecord
from fencepost.wire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from tests.unit.wire.trees import SCALARS, to_kio, to_ours, trees

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
schemas: Any = importlib.import_module("wire_schema_records")

STORED = [
    pytest.param(importlib.import_module(f"fencepost.wire.messages.{module}"), schemas.message(record), id=record.name)
    for module, records in schemas.MODULES.items()
    for record in records
]
CONSUMER_PROTOCOL: list[Any] = [
    pytest.param("consumer_protocol_subscription", ConsumerProtocolSubscription, id="subscription"),
    pytest.param("consumer_protocol_assignment", ConsumerProtocolAssignment, id="assignment"),
]
unhurried = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


def messages(module: Any, message: Any, struct: Any, version: int) -> st.SearchStrategy[Any]:
    """Our messages of one version, drawn from the generator's own schema."""
    fields = {}
    for field in struct.fields:
        if version not in field.versions:
            continue
        if field.struct_name is not None:
            values = messages(module, message, message.structs[field.struct_name], version)
        else:
            values = SCALARS[field.kind]
        if field.is_array:
            values = st.lists(values, max_size=3)
        fields[field.name] = st.none() | values if version in field.nullable else values
    return st.builds(getattr(module, struct.name), **fields)


@pytest.mark.parametrize(("module", "message"), STORED)
@unhurried
@given(data=st.data())
def test_every_version_of_a_stored_record_reads_back_what_it_wrote(module: Any, message: Any, data: Any) -> None:
    for version in message.root.versions:
        record = data.draw(messages(module, message, message.root, version), label=f"v{version}")
        assert isinstance(record, VersionedRecord)
        assert type(record).from_bytes(record.to_bytes(version)) == record


@pytest.mark.parametrize(("name", "our_class"), CONSUMER_PROTOCOL)
@unhurried
@given(data=st.data())
def test_the_consumer_protocol_is_what_kio_writes(name: str, our_class: type[VersionedRecord], data: Any) -> None:
    for version in range(our_class.MIN_VERSION, our_class.MAX_VERSION + 1):
        kio_class = load_entity_schema(name, version, EntityType.data)
        tree = data.draw(trees(kio_class, for_kio=True), label=f"v{version}")
        record = to_ours(tree, our_class, kio_class)
        buffer = io.BytesIO()
        entity_writer(kio_class)(buffer, to_kio(tree, kio_class))
        assert record.to_bytes(version) == version.to_bytes(2, "big") + buffer.getvalue()
        assert our_class.from_bytes(record.to_bytes(version)) == record
