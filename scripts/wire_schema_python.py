"""Python code for a message: a dataclass per struct with `read` and `write` for every version.

Neighbouring fields of fixed size are read and written with one precompiled struct, in the versions that have them all;
older versions take them one by one. What depends on the version is decided by comparing it, in the order of the fields
on the wire. Tagged fields come last.
"""

from itertools import groupby

from wire_schema import FIXED_BYTES, FIXED_CODES, IMPLICIT, Field, Message, Struct

RESERVED = {"data", "at", "version", "count", "tag", "end", "out", "self", "tags", "value"}
INDENT = "    "
PYTHON_TYPES = {
    "bool": "bool",
    "float64": "float",
    "string": "str",
    "bytes": "bytes",
    "uuid": "UUID",
    "records": "Buffer",
    "record_pieces": "Sequence[Buffer]",
}
IMPLICIT_DEFAULTS = {"bool": "False", "float64": "0.0", "string": '""', "bytes": 'b""', "uuid": "ZERO_UUID"}


def indent(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]


def condition(versions: frozenset[int], among: frozenset[int]) -> str | None:
    """What to ask of `version` to know that it is one of `versions`; None if all of `among` are."""
    first, last = min(versions), max(versions)
    if versions != frozenset(version for version in among if first <= version <= last):
        return f"version in {tuple(sorted(versions))}"
    if versions == among:
        return None
    if last == max(among):
        return f"version >= {first}"
    if first == min(among):
        return f"version <= {last}" if first != last else f"version == {first}"
    return f"{first} <= version <= {last}" if first != last else f"version == {first}"


def under(asked: str | None, lines: list[str]) -> list[str]:
    return lines if asked is None else [f"if {asked}:", *indent(lines)]


def local(field: Field) -> str:
    return f"{field.name}_" if field.name in RESERVED else field.name


def python_type(field: Field) -> str:
    plain = field.struct_name or PYTHON_TYPES.get(field.kind, "int")
    if field.is_array:
        plain = f"list[{plain}]"
    return f"{plain} | None" if field.nullable or field.is_absent_by_default else plain


def default(field: Field) -> str:
    """The default as an expression, for a local variable and, unless it is mutable, for the dataclass."""
    if field.default is not IMPLICIT:
        return repr(field.default).replace("'", '"')
    if field.is_absent_by_default or field.kind in ("records", "record_pieces"):
        return "None"
    if field.is_array:
        return "[]"
    if field.kind == "struct":
        return f"{field.struct_name}()"
    return IMPLICIT_DEFAULTS.get(field.kind, "0")


def field_default(field: Field) -> str:
    value = default(field)
    if value == "[]":
        return "field(default_factory=list)"
    return f"field(default_factory={field.struct_name})" if value.endswith("()") else value


def version_note(field: Field, struct: Struct) -> str:
    if field.versions == struct.versions and field.tag is None:
        return ""
    first, last = min(field.versions), max(field.versions)
    span = f"v{first}+" if last == max(struct.versions) else f"v{first}" if first == last else f"v{first}-{last}"
    return f"  # {span}" + ("" if field.tag is None else f", tag {field.tag}")


def codec(field: Field, version: int, struct: Struct) -> str:
    """`compact_nullable_string` and the like: what comes after `read_` or `write_`."""
    prefix = "compact_" if version in struct.flexible else ""
    if version in field.nullable:
        prefix += "nullable_"
    if not field.is_array:
        return f"{prefix}{field.kind}"
    if field.kind in FIXED_CODES:
        return f"{prefix}integers"
    return prefix + {"string": "strings", "uuid": "uuids", "struct": "array"}[field.kind]


def choose(verb: str, field: Field, struct: Struct) -> str:
    """The function that reads or writes the field: one name, or a choice by version, newest first."""
    spans = groupby(sorted(field.versions, reverse=True), key=lambda version: codec(field, version, struct))
    choices = [(f"{verb}_{name}", min(versions)) for name, versions in spans]
    if len(choices) == 1:
        return choices[0][0]
    tested = [f"{name} if version >= {first} else " for name, first in choices[:-1]]
    return f"({''.join(tested)}{choices[-1][0]})"


def array_arguments(field: Field) -> str:
    return f', "{FIXED_CODES[field.kind]}"' if field.is_array and field.kind in FIXED_CODES else ""


def read_expression(field: Field, struct: Struct, message: Message) -> str:
    if field.kind == "struct" and not field.is_array:
        if field.nullable:
            return f"read_nullable_struct(data, at, version, {field.struct_name}.read)"
        return f"{field.struct_name}.read(data, at, version)"
    if field.kind == "uuid" and not field.is_array:
        return "read_uuid(data, at)"
    function = choose("read", field, struct)
    if field.kind == "struct":
        assert field.struct_name is not None
        return f"{function}(data, at, version, {field.struct_name}.read, {message.element_bytes(field.struct_name)})"
    if field.is_array and field.kind in FIXED_CODES:
        return f"{function}(data, at{array_arguments(field)}, {FIXED_BYTES[field.kind]})"
    return f"{function}(data, at)"


def write_statement(field: Field, struct: Struct, out: str = "out", value: str = "") -> str:
    value = value or f"self.{field.name}"
    if field.is_fixed:
        return f"{out} += _pack_{struct_name([field])}({value})"
    if field.kind == "struct" and not field.is_array:
        if field.nullable:
            return f"write_nullable_struct({out}, {value}, version)"
        return f"{value}.write({out}, version)"
    if field.kind == "uuid" and not field.is_array:
        return f"{out} += {value}.bytes"
    version = ", version" if field.kind == "struct" else ""
    return f"{choose('write', field, struct)}({out}, {value}{version}{array_arguments(field)})"


def stretches(struct: Struct) -> list[list[Field]]:
    """The untagged fields in order; neighbours of fixed size that the newest version has are together."""
    found: list[list[Field]] = []
    for field in struct.fields:
        if field.tag is not None:
            continue
        if found and all(
            each.is_fixed and max(each.versions) == max(struct.versions) for each in (found[-1][-1], field)
        ):
            found[-1].append(field)
        else:
            found.append([field])
    return found


def runs(stretch: list[Field]) -> list[list[Field]]:
    """The fields of a stretch, those of equal versions together."""
    return [list(run) for _, run in groupby(stretch, key=lambda field: sorted(field.versions))]


def split(stretch: list[Field], struct: Struct) -> tuple[str | None, frozenset[int]]:
    """What to ask for the versions that have the whole stretch, and the versions that do not."""
    whole = frozenset.intersection(*(field.versions for field in stretch))
    return condition(whole, struct.versions), struct.versions - whole


def struct_name(run: list[Field]) -> str:
    """`?` is no letter of a name: a bool is `o`."""
    return "".join(FIXED_CODES[field.kind] for field in run).replace("?", "o")


def unpack(run: list[Field]) -> list[str]:
    reader, size = f"_read_{struct_name(run)}(data, at)", sum(FIXED_BYTES[field.kind] for field in run)
    names = ", ".join(local(field) for field in run)
    return [f"{names} = {reader}" + ("[0]" if len(run) == 1 else ""), f"at += {size}"]


def pack(run: list[Field]) -> str:
    return f"out += _pack_{struct_name(run)}({', '.join(f'self.{field.name}' for field in run)})"


def read_stretch(stretch: list[Field], struct: Struct, message: Message) -> list[str]:
    first = stretch[0]
    if len(runs(stretch)) == 1:
        asked = condition(first.versions, struct.versions)
        body = (
            unpack(stretch) if first.is_fixed else [f"{local(first)}, at = {read_expression(first, struct, message)}"]
        )
        return body if asked is None else [*initial_values(stretch), *under(asked, body)]
    asked, older = split(stretch, struct)
    lines = [f"if {asked}:", *indent(unpack(stretch)), "else:"]
    for run in runs(stretch):
        present = run[0].versions & older
        if present != older:
            lines += indent([f"{local(field)} = {default(field)}" for field in run])
        if present:
            lines += indent(under(condition(present, older), unpack(run)))
    return lines


def write_stretch(stretch: list[Field], struct: Struct) -> list[str]:
    first = stretch[0]
    if len(runs(stretch)) == 1:
        statement = pack(stretch) if first.is_fixed else write_statement(first, struct)
        return under(condition(first.versions, struct.versions), [statement])
    asked, older = split(stretch, struct)
    lines = [f"if {asked}:", *indent([pack(stretch)]), "else:"]
    for run in runs(stretch):
        if present := run[0].versions & older:
            lines += indent(under(condition(present, older), [pack(run)]))
    return lines


def initial_values(fields: list[Field]) -> list[str]:
    return [f"{local(field)}: {python_type(field)} = {default(field)}" for field in fields]


def read_tags(struct: Struct, message: Message) -> list[str]:
    tagged = [field for field in struct.fields if field.tag is not None]
    if not tagged:
        return under(
            condition(struct.flexible, struct.versions), ["at = at + 1 if data[at] == 0 else skip_tags(data, at)"]
        )
    branches: list[str] = []
    for field in sorted(tagged, key=lambda each: each.tag or 0):
        asked = condition(field.versions, struct.flexible)
        test = f"tag == {field.tag}" + (f" and {asked}" if asked else "")
        branches.append(f"{'elif' if branches else 'if'} {test}:")
        if field.is_fixed:
            branches += indent(unpack([field]))
        else:
            branches.append(f"{INDENT}{local(field)}, at = {read_expression(field, struct, message)}")
    loop = [
        "count, at = read_tag_count(data, at)",
        "for _ in range(count):",
        *indent(
            [
                "tag, at, end = read_tag(data, at)",
                *branches,
                "else:",
                f"{INDENT}at = end",
                "check_tag_end(tag, at, end)",
            ]
        ),
    ]
    body = ["if data[at] == 0:", f"{INDENT}at += 1", "else:", *indent(loop)]
    return [*initial_values(tagged), *under(condition(struct.flexible, struct.versions), body)]


def write_tags(struct: Struct) -> list[str]:
    tagged = [field for field in struct.fields if field.tag is not None]
    if not tagged:
        return under(condition(struct.flexible, struct.versions), ["out.append(0)"])
    body = ["tags: list[tuple[int, Buffer]] = []"]
    for field in sorted(tagged, key=lambda each: each.tag or 0):
        value = f"self.{field.name}"
        asked = condition(field.versions, struct.flexible)
        prefix = f"{asked} and " if asked else ""
        body.append(f"if {prefix}{is_not_default(field, value)}:")
        if field.is_fixed:
            packed = f"_pack_{struct_name([field])}({value})"
            body.append(f"{INDENT}tags.append(({field.tag}, {packed}))")
        else:
            body += indent(["value = Output()", write_statement(field, struct, "value")])
            body.append(f"{INDENT}tags.append(({field.tag}, value))")
    body += ["if tags:", f"{INDENT}write_tags(out, tags)", "else:", f"{INDENT}out.append(0)"]
    return under(condition(struct.flexible, struct.versions), body)


def is_not_default(field: Field, value: str) -> str:
    plain = default(field)
    if field.is_absent_by_default and field.default is IMPLICIT:
        return f"{value} is not None and {value} != {field.struct_name}()"
    if plain == "None":
        return f"{value} is not None"
    if plain in ("[]", '""', 'b""', "0", "False"):
        return value
    return f"not {value}" if plain == "True" else f"{value} != {plain}"


def struct_code(struct: Struct, message: Message) -> list[str]:
    is_root = struct.name == message.root.name
    lines = ["@dataclass(slots=True)", f"class {struct.name}({message.base}):" if is_root else f"class {struct.name}:"]
    body: list[str] = []
    if is_root:
        body += [
            f"MIN_VERSION: ClassVar[int] = {min(struct.versions)}",
            f"MAX_VERSION: ClassVar[int] = {max(struct.versions)}",
            "",
        ]
    for field in struct.fields:
        declared = f"{field.name}: {python_type(field)} = {field_default(field)}"
        body.append(declared + version_note(field, struct))
    body += ["", "@staticmethod", f'def read(data: Data, at: int, version: int) -> "tuple[{struct.name}, int]":']
    read: list[str] = []
    for stretch in stretches(struct):
        read += read_stretch(stretch, struct, message)
    if struct.flexible:
        read += read_tags(struct, message)
    read.append(f"return {struct.name}({', '.join(local(field) for field in struct.fields)}), at")
    body += indent(read)
    body += ["", "def write(self, out: Output, version: int) -> None:", *indent(write_body(struct) or ["pass"])]
    return [*lines, *indent(body), "", ""]


def write_body(struct: Struct) -> list[str]:
    lines: list[str] = []
    for stretch in stretches(struct):
        lines += write_stretch(stretch, struct)
    if struct.flexible:
        lines += write_tags(struct)
    return lines
