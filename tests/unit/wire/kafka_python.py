"""kafka-python's encoder as a second oracle. It carries Kafka's own schemas, so it also knows Kafka's names."""

import importlib
import inspect
import pkgutil
import warnings
from functools import cache
from typing import Any

from tests.unit.wire.trees import ZERO_UUID, Tree

with warnings.catch_warnings():
    # It reads its schemas with a function that Python 3.11 calls deprecated; warnings are errors here.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.protocol
    from kafka.protocol.api_message import ApiMessage
    from kafka.protocol.schemas.fields.codecs import BitField

HAS_OTHER_LAYOUT = ("kafka.protocol.old", "kafka.protocol.generate_stubs")


@cache
def message_classes() -> dict[str, type[Any]]:
    """Every message that kafka-python has, by name."""
    found: dict[str, type[Any]] = {}
    for module in pkgutil.walk_packages(kafka.protocol.__path__, "kafka.protocol."):
        if module.name.startswith(HAS_OTHER_LAYOUT):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            imported = importlib.import_module(module.name)
        for name, each in inspect.getmembers(imported, inspect.isclass):
            if issubclass(each, ApiMessage) and each is not ApiMessage:
                found[name] = each
    return found


def has(name: str, version: int) -> bool:
    known = message_classes().get(name)
    return known is not None and known.valid_versions is not None and version <= known.valid_versions[1]


def encode(name: str, version: int, tree: Tree) -> bytes:
    known = message_classes()[name]
    return bytes(known[version](**_values(known._struct, version, tree)).encode(version=version))


def _values(struct: Any, version: int, tree: Tree) -> Tree:
    values: Tree = {}
    for field in struct.fields.values():
        if not field.for_version_q(version):
            continue
        value = _value(field, tree)
        if field._tag is not None and _is_default(field, value):
            continue
        if field.is_struct_array() and value is not None:
            value = [field.data_class(version=version, **_values(field, version, each)) for each in value]
        elif field.is_struct() and value is not None:
            value = field.data_class(version=version, **_values(field, version, value))
        values[field.name] = value
    return values


def _is_default(field: Any, value: Any) -> bool:
    """Kafka leaves a tagged field out when it holds its default; kafka-python writes whatever it is given."""
    if field.is_struct() and value is not None:
        return all(value[inner.name] == inner.default for inner in field.fields.values())
    return bool(value == field.default or value == ZERO_UUID)


def _value(field: Any, tree: Tree) -> Any:
    """kafka-python renames the authorized operations of some messages and holds them as a set of bits."""
    name = field.name
    if name not in tree:
        (name,) = (each for each in tree if each.endswith(f"_{name}"))
    if getattr(field, "_type", None) is BitField:
        return {bit for bit in range(32) if tree[name] >> bit & 1}
    return tree[name]
