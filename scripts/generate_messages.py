"""Write `src/fencepost/wire/messages/`: one module per API, typed, from kio's schemas and our list of stored records.

python scripts/generate_messages.py            write them
python scripts/generate_messages.py --check    fail if what is checked in is not what would be written
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import wire_schema_records
from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType
from wire_schema import Message
from wire_schema_kio import load, versions_of
from wire_schema_python import struct_code

from fencepost.wire import reading, writing

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "fencepost" / "wire" / "messages"

APIS = [  # what the broker serves or the client calls
    "produce",
    "fetch",
    "list_offsets",
    "metadata",
    "offset_commit",
    "offset_fetch",
    "find_coordinator",
    "join_group",
    "heartbeat",
    "leave_group",
    "sync_group",
    "describe_groups",
    "list_groups",
    "sasl_handshake",
    "api_versions",
    "create_topics",
    "delete_topics",
    "delete_records",
    "init_producer_id",
    "offset_for_leader_epoch",
    "add_partitions_to_txn",
    "add_offsets_to_txn",
    "end_txn",
    "write_txn_markers",
    "txn_offset_commit",
    "describe_acls",
    "create_acls",
    "delete_acls",
    "describe_configs",
    "alter_configs",
    "describe_log_dirs",
    "sasl_authenticate",
    "create_partitions",
    "delete_groups",
    "incremental_alter_configs",
    "list_partition_reassignments",
    "offset_delete",
    "describe_client_quotas",
    "describe_user_scram_credentials",
    "update_features",
    "describe_cluster",
    "describe_producers",
    "describe_transactions",
    "list_transactions",
    "consumer_group_heartbeat",
    "consumer_group_describe",
    "list_config_resources",
    "describe_topic_partitions",
]
CONSUMER_PROTOCOL = ("consumer_protocol_subscription", "consumer_protocol_assignment")

NAME = re.compile(r"\b\w+\b")
UNUSED_ARGUMENT = re.compile(r"def read\(.*\n(?:(?!.*\bversion\b).*\n)*?\s+return")
PACKED = re.compile(r"_(?:read|pack)_([bhiqHdo]+)\b")


def module(title: str, messages: list[Message]) -> str:
    """The source of one module, not formatted yet."""
    seen: dict[str, object] = {}
    body: list[str] = []
    for message in messages:
        for struct in message.structs.values():
            if struct.name in seen:
                if seen[struct.name] != struct:
                    raise ValueError(f"{title}: two different structs are called {struct.name}")
                continue
            seen[struct.name] = struct
            body += struct_code(struct, message)
    code = "\n".join(body)
    return "\n".join([*head(title, code, sorted({message.base for message in messages})), code])


def head(title: str, code: str, bases: list[str]) -> list[str]:
    lines = [f'"""{title}', "", "Written by scripts/generate_messages.py; do not edit.", '"""', ""]
    if UNUSED_ARGUMENT.search(code):
        lines += ["# ruff: noqa: ARG004", ""]
    codes = sorted(set(PACKED.findall(code)))
    missing = set(NAME.findall(code)) | ({"Struct"} if codes else set())
    offers = {
        "collections.abc": {"Sequence"},
        "dataclasses": {"dataclass", "field"},
        "struct": {"Struct"},
        "typing": {"ClassVar"},
        "uuid": {"UUID"},
        "fencepost.types": {"Buffer"},
        "fencepost.wire.message": {*bases, "Output"},
        "fencepost.wire.reading": set(vars(reading)),
        "fencepost.wire.writing": set(vars(writing)),
    }
    for source, offered in offers.items():
        if found := sorted(missing & offered):
            lines.append(f"from {source} import {', '.join(found)}")
            missing -= offered
    for each in codes:
        layout = f'Struct(">{each.replace("o", "?")}")'
        lines += [f"_read_{each} = {layout}.unpack_from"] if f"_read_{each}(" in code else []
        lines += [f"_pack_{each} = {layout}.pack"] if f"_pack_{each}(" in code else []
    return [*lines, "", ""]


def api_title(name: str) -> tuple[int, str]:
    api_key = next(key for key, value in api_key_map.items() if value == name)
    return api_key, class_prefix(name)


def class_prefix(name: str) -> str:
    return load(name, EntityType.request).root.name.removesuffix("Request")


def table() -> str:
    """The rows of the API table: what is implemented, in the order of the keys."""
    rows = []
    for name in APIS:
        request = load(name, EntityType.request).root
        versions = versions_of(name)
        flexible = min(request.flexible, default=max(versions) + 1)
        api_key, title = api_title(name)
        rows.append((api_key, name, title, min(versions), max(versions), flexible))
    lines = [
        '"""The APIs of this folder: key, module, name, first and last version, first flexible version.',
        "",
        "Written by scripts/generate_messages.py; do not edit.",
        '"""',
        "",
        "ROWS = (",
        *(
            f'    ({key}, "{name}", "{title}", {low}, {high}, {flexible}),'
            for key, name, title, low, high, flexible in sorted(rows)
        ),
        ")",
    ]
    return "\n".join(lines) + "\n"


def serve_pieces(message: Message) -> None:
    """A fetch serves what the log hands out, buffer by buffer, without joining it; a produce carries one batch."""
    for struct in message.structs.values():
        for each in struct.fields:
            if each.kind == "records":
                each.kind = "record_pieces"


def modules() -> dict[str, str]:
    sources = {"table.py": table()}
    for name in APIS:
        api_key, title = api_title(name)
        versions = versions_of(name)
        messages = [load(name, EntityType.request), load(name, EntityType.response)]
        if name == "fetch":
            serve_pieces(messages[1])
        sources[f"{name}.py"] = module(
            f"{title}, API key {api_key}, versions {versions[0]} to {versions[-1]}.", messages
        )
    for name in CONSUMER_PROTOCOL:
        (entity,) = next(iter(schema_name_map[name].values()))
        message = load(name, entity)
        message.base = "ConsumerProtocolRecord"
        sources[f"{name}.py"] = module(f"{message.root.name}, versions 0 to {versions_of(name)[-1]}.", [message])
    for name, records in wire_schema_records.MODULES.items():
        messages = [wire_schema_records.message(record) for record in records]
        sources[f"{name}.py"] = module(f"Records as stored: {records[0].name} to {records[-1].name}.", messages)
    return sources


def write(folder: Path) -> None:
    for name, source in modules().items():
        (folder / name).write_text(source, encoding="utf-8")
    config = ["--quiet", "--config", str(ROOT / "pyproject.toml"), "--no-cache", str(folder)]
    subprocess.run([sys.executable, "-m", "ruff", "check", "--fix-only", "--select", "I", *config], check=True)
    subprocess.run([sys.executable, "-m", "ruff", "format", *config], check=True)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py") if path.name != "__init__.py"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare")
    with tempfile.TemporaryDirectory() as name:
        fresh = Path(name)
        write(fresh)
        wanted, found = contents(fresh), contents(TARGET)
    stale = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    if parser.parse_args().check:
        for name in stale:
            print(f"{(TARGET / name).relative_to(ROOT)} is not current: run python scripts/generate_messages.py")
        return 1 if stale else 0
    for name in stale:
        if name in wanted:
            (TARGET / name).write_text(wanted[name], encoding="utf-8")
        else:
            (TARGET / name).unlink()
    print(f"{len(wanted)} modules, {len(stale)} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
