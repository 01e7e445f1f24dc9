"""The shape of a message, whatever its source: structs of fields, each with the versions that have it.

`wire_schema_kio` fills it from kio, `wire_schema_records` from a list; `wire_schema_python` writes code from it.
"""

from dataclasses import dataclass, field

IMPLICIT = object()
"""A field without a default of its own: zero, empty, or false."""

FIXED_CODES = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H", "float64": "d", "bool": "?"}
FIXED_BYTES = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint16": 2, "float64": 8, "bool": 1}


@dataclass
class Field:
    name: str
    kind: str
    """One of FIXED_CODES, or string, bytes, uuid, struct, records (one buffer), record_pieces (several)."""
    versions: frozenset[int]
    is_array: bool = False
    struct_name: str | None = None
    nullable: frozenset[int] = frozenset()
    tag: int | None = None
    default: object = IMPLICIT

    @property
    def is_fixed(self) -> bool:
        return self.kind in FIXED_CODES and not self.is_array

    @property
    def is_absent_by_default(self) -> bool:
        """A tagged struct is None until it is there, rather than a struct full of defaults."""
        return self.kind == "struct" and not self.is_array and self.tag is not None


@dataclass
class Struct:
    name: str
    versions: frozenset[int]
    flexible: frozenset[int]
    fields: list[Field]


def in_order(structs: dict[str, Struct], root_name: str) -> dict[str, Struct]:
    """The structs that `root_name` needs, each after those inside it."""
    found: dict[str, Struct] = {}
    for each in structs[root_name].fields:
        if each.struct_name is not None:
            found |= in_order(structs, each.struct_name)
    return found | {root_name: structs[root_name]}


@dataclass
class Message:
    root: Struct
    structs: dict[str, Struct] = field(default_factory=dict)
    """By name, the root included, each after those that it needs."""
    base: str = "Message"

    def element_bytes(self, name: str) -> int:
        """The fewest bytes that a struct takes in any version: what bounds the count of an array of them."""
        struct = self.structs[name]
        return max(1, min(self._bytes_in(struct, version) for version in struct.versions))

    def _bytes_in(self, struct: Struct, version: int) -> int:
        is_flexible = version in struct.flexible
        total = 1 if is_flexible else 0
        for each in struct.fields:
            if version in each.versions and each.tag is None:
                total += self._field_bytes(each, version, is_flexible=is_flexible)
        return total

    def _field_bytes(self, each: Field, version: int, *, is_flexible: bool) -> int:
        if each.is_array or each.kind in ("bytes", "records", "record_pieces"):
            return 1 if is_flexible else 4
        if each.is_fixed:
            return FIXED_BYTES[each.kind]
        if each.kind == "string":
            return 1 if is_flexible else 2
        if each.kind == "uuid":
            return 16
        if version in each.nullable:
            return 1
        assert each.struct_name is not None
        return self._bytes_in(self.structs[each.struct_name], version)
