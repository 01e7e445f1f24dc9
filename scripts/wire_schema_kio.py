"""Schemas from kio, which has one dataclass per message and version: merged into one struct over all versions."""

import dataclasses
import importlib
from datetime import datetime, timedelta
from types import UnionType
from typing import Any, Union, get_args, get_origin

from kio.schema.index import schema_name_map
from kio.static.constants import EntityType
from wire_schema import IMPLICIT, Field, Message, Struct, in_order

KINDS = {
    "error_code": "int16",
    "timedelta_i32": "int32",
    "timedelta_i64": "int64",
    "datetime_i64": "int64",
}
TIME_TYPES = ("timedelta_i32", "timedelta_i64", "datetime_i64")
NEVER_NULL = ("uuid", "datetime_i64")
"""kio says None for the zero uuid and for the date -1. Kafka has neither: they are values like any other."""
Versions = dict[int, type[Any]]


def versions_of(schema_name: str) -> list[int]:
    return sorted(schema_name_map[schema_name])


def load(schema_name: str, entity: EntityType) -> Message:
    """One message of kio's schema `schema_name`, merged over all its versions."""
    by_name: dict[str, Versions] = {}
    root_name = ""
    for version in versions_of(schema_name):
        module, root_name = schema_name_map[schema_name][version][entity].split(":")
        _collect(getattr(importlib.import_module(module), root_name), version, by_name)
    structs = {name: _merge(name, classes) for name, classes in by_name.items()}
    return Message(structs[root_name], in_order(structs, root_name))


def _collect(cls: type[Any], version: int, by_name: dict[str, Versions]) -> None:
    """Every class of the message by name."""
    for each in dataclasses.fields(cls):
        inner, _, _ = _unwrap(each.type)
        if dataclasses.is_dataclass(inner):
            _collect(inner, version, by_name)
    by_name.setdefault(cls.__name__, {})[version] = cls


def _unwrap(annotation: Any) -> tuple[Any, bool, bool]:
    """The type inside `X`, `X | None`, `tuple[X, ...]` or `tuple[X, ...] | None`; is it an array; may it be null."""
    is_array = is_nullable = False
    if get_origin(annotation) in (UnionType, Union):
        is_nullable = True
        (annotation,) = (each for each in get_args(annotation) if each is not type(None))
    if get_origin(annotation) is tuple:
        is_array = True
        annotation, _, _ = _unwrap(get_args(annotation)[0])
    return annotation, is_array, is_nullable


def _merge(name: str, classes: Versions) -> Struct:
    fields: dict[str, Field] = {}
    order: list[str] = []
    for version in sorted(classes):
        found_here = [_field(each, version) for each in dataclasses.fields(classes[version])]
        names, position = {each.name for each in found_here}, 0
        for found in found_here:
            if found.name in fields:
                _extend(fields[found.name], found)
                position = order.index(found.name) + 1
            else:
                # What replaces a field comes after it, as in Kafka's schemas.
                while position < len(order) and order[position] not in names:
                    position += 1
                fields[found.name] = found
                order.insert(position, found.name)
                position += 1
    struct = Struct(
        name=name,
        versions=frozenset(classes),
        flexible=frozenset(version for version, cls in classes.items() if cls.__flexible__),
        fields=[fields[each] for each in order],
    )
    _check_order(struct, classes)
    return struct


def _field(each: "dataclasses.Field[Any]", version: int) -> Field:
    inner, is_array, is_nullable = _unwrap(each.type)
    is_struct = dataclasses.is_dataclass(inner)
    kafka_type = "struct" if is_struct else each.metadata["kafka_type"]
    here = frozenset([version])
    return Field(
        name=_kafka_name(each.name, kafka_type),
        kind=KINDS.get(kafka_type, kafka_type),
        versions=here,
        is_array=is_array,
        struct_name=inner.__name__ if is_struct else None,
        nullable=here if is_nullable and (is_array or kafka_type not in NEVER_NULL) else frozenset(),
        tag=each.metadata.get("tag"),
        default=_default(each),
    )


def _kafka_name(name: str, kafka_type: str) -> str:
    """kio drops the unit where it turns milliseconds into a duration or a date; we keep both."""
    return f"{name}_ms" if kafka_type in TIME_TYPES else name


def _default(each: "dataclasses.Field[Any]") -> object:
    value = each.default
    if value is dataclasses.MISSING or dataclasses.is_dataclass(value) or value == ():
        return IMPLICIT
    if each.metadata.get("kafka_type") == "uuid":
        return IMPLICIT
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, datetime):
        raise ValueError(f"{each.name}: a date as default is not expected")
    if value is None or isinstance(value, bool):
        return -1 if value is None and each.metadata.get("kafka_type") == "datetime_i64" else value
    if isinstance(value, int):
        return int(value)
    return str(value) if isinstance(value, str) else value


def _extend(known: Field, found: Field) -> None:
    same = ("kind", "is_array", "struct_name", "tag", "default")
    for attribute in same:
        if getattr(known, attribute) != getattr(found, attribute):
            raise ValueError(f"{known.name}: {attribute} differs between versions: {known} / {found}")
    known.versions |= found.versions
    known.nullable |= found.nullable


def _check_order(struct: Struct, classes: Versions) -> None:
    for version, cls in classes.items():
        ours = [each.name for each in struct.fields if version in each.versions]
        theirs = [_field(each, version).name for each in dataclasses.fields(cls)]
        if ours != theirs:
            raise ValueError(f"{struct.name} v{version}: fields {ours}, kio has {theirs}")
