"""Messages as plain trees (dicts, lists, numbers, strings), drawn from kio's own classes as widely as each type allows.

A tree names its fields as our messages do. It can be turned into our message, into kio's and into kafka-python's, so
that three encoders see the same values. kio cannot hold every value (dates before 1970, error codes that it does not
know, durations that a float does not hold exactly): `trees(..., for_kio=True)` draws only what it can.
"""

import dataclasses
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import kio.schema.errors
from hypothesis import strategies as st

from fencepost.types import Buffer

Tree = dict[str, Any]
TIME_TYPES = ("timedelta_i32", "timedelta_i64", "datetime_i64")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KNOWN_ERROR_CODES = sorted(int(code.value) for code in kio.schema.errors.ErrorCode)
ZERO_UUID = UUID(int=0)


def signed(bits: int) -> st.SearchStrategy[int]:
    edges = [-(2 ** (bits - 1)), -1, 0, 1, 2 ** (bits - 1) - 1]
    return st.one_of(st.sampled_from(edges), st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))


TEXT = st.one_of(st.text(max_size=20), st.just("x" * 127), st.just("é" * 64))
BYTES = st.one_of(st.binary(max_size=30), st.just(bytes(200)))
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "int8": signed(8),
    "int16": signed(16),
    "int32": signed(32),
    "int64": signed(64),
    "uint16": st.integers(0, 2**16 - 1),
    "float64": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "string": TEXT,
    "bytes": BYTES,
    "records": BYTES,
    "uuid": st.one_of(st.just(ZERO_UUID), st.uuids()),
    "error_code": signed(16),
    "timedelta_i32": signed(32),
    "timedelta_i64": signed(64),
    "datetime_i64": signed(64),
}
SCALARS_FOR_KIO: dict[str, st.SearchStrategy[Any]] = SCALARS | {
    "error_code": st.sampled_from(KNOWN_ERROR_CODES),
    "timedelta_i64": st.integers(-(10**12), 10**12),
    "datetime_i64": st.integers(0, 200_000_000_000).map(lambda seconds: seconds * 1000),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
}


def unwrap(annotation: Any) -> tuple[Any, bool, bool]:
    """The type inside, whether it is an array, whether it may be null."""
    is_nullable = get_origin(annotation) in (UnionType, Union)
    if is_nullable:
        (annotation,) = (each for each in get_args(annotation) if each is not type(None))
    is_array = get_origin(annotation) in (tuple, list)
    if is_array:
        annotation = unwrap(get_args(annotation)[0])[0]
    return annotation, is_array, is_nullable


def kafka_type(field: "dataclasses.Field[Any]") -> str:
    return "struct" if dataclasses.is_dataclass(unwrap(field.type)[0]) else field.metadata["kafka_type"]


def our_name(field: "dataclasses.Field[Any]") -> str:
    return f"{field.name}_ms" if kafka_type(field) in TIME_TYPES else field.name


@cache
def trees(kio_class: type[Any], *, for_kio: bool) -> st.SearchStrategy[Tree]:
    return st.fixed_dictionaries({our_name(each): _values(each, for_kio) for each in dataclasses.fields(kio_class)})


def _values(field: "dataclasses.Field[Any]", for_kio: bool) -> st.SearchStrategy[Any]:
    inner, is_array, is_nullable = unwrap(field.type)
    scalars = SCALARS_FOR_KIO if for_kio else SCALARS
    kind = kafka_type(field)
    values = trees(inner, for_kio=for_kio) if kind == "struct" else scalars[kind]
    if is_array:
        values = st.lists(values, max_size=3)
    # A tagged field is null by being left out; uuids and dates have no null of their own.
    if is_nullable and (is_array or kind not in ("uuid", "datetime_i64")):
        values = st.one_of(st.none(), values)
    if "tag" in field.metadata:
        default = tree_default(field)
        values = st.one_of(st.just(default), values)
    return values


def tree_default(field: "dataclasses.Field[Any]") -> Any:
    """kio's default of a field, as a tree; what it leaves out is zero or empty."""
    inner, is_array, _ = unwrap(field.type)
    value, kind = field.default, kafka_type(field)
    if kind == "uuid":
        return ZERO_UUID
    if kind == "struct" and not is_array and value is not None:
        return {our_name(each): tree_default(each) for each in dataclasses.fields(inner)}
    if value is dataclasses.MISSING:
        return {"string": "", "bytes": b"", "bool": False, "float64": 0.0}.get(kind, 0) if not is_array else []
    if is_array:
        return None if value is None else list(value)
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def to_kio(tree: Tree, kio_class: type[Any]) -> Any:
    return kio_class(**{each.name: _to_kio(tree[our_name(each)], each) for each in dataclasses.fields(kio_class)})


def _to_kio(value: Any, field: "dataclasses.Field[Any]") -> Any:
    inner, is_array, _ = unwrap(field.type)
    convert: Callable[[Any], Any] = {
        "struct": lambda each: to_kio(each, inner),
        "error_code": kio.schema.errors.ErrorCode,
        "timedelta_i32": lambda each: timedelta(milliseconds=each),
        "timedelta_i64": lambda each: timedelta(milliseconds=each),
        "datetime_i64": lambda each: EPOCH + timedelta(milliseconds=each),
        "uuid": lambda each: None if each == ZERO_UUID else each,
    }.get(kafka_type(field), lambda each: each)
    if value is None:
        return None
    return tuple(convert(each) for each in value) if is_array else convert(value)


def to_ours(tree: Tree, our_class: type[Any], kio_class: type[Any]) -> Any:
    """Our message, with tagged structs that hold nothing but defaults left out, as they are after reading."""
    hints = get_type_hints(our_class)
    values = {}
    for each in dataclasses.fields(kio_class):
        name, (inner, is_array, _) = our_name(each), unwrap(each.type)
        value = tree[name]
        if kafka_type(each) == "struct" and value is not None:
            nested = unwrap(hints[name])[0]
            value = [to_ours(item, nested, inner) for item in value] if is_array else to_ours(value, nested, inner)
            if "tag" in each.metadata and value == nested():
                value = None
        elif kafka_type(each) == "records" and value is not None and hints[name] == Sequence[Buffer] | None:
            value = [value]
        values[name] = value
    return our_class(**values)
