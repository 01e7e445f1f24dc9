"""Writes the pages that list what the code declares: settings, APIs, commands. `--check` fails if one is stale."""

import sys
from collections.abc import Mapping
from pathlib import Path

from fencepost.broker.dispatch import HANDLED_KEYS
from fencepost.cli.main import help_text, walk_commands
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.settings import ClientSettings, ProducerSettings
from fencepost.settings import BrokerSettings, Declaration, TopicSettings, as_text, declarations, describe_values
from fencepost.wire.api import API_TABLE, advertised

DOCS = Path(__file__).resolve().parent.parent / "docs"
WRITTEN_BY = "<!-- Written by scripts/generate_docs.py; do not edit. -->"


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        WRITTEN_BY,
        "",
        "Names are Kafka's own where Kafka has the setting. The broker takes them from a TOML file (`--config`), then",
        "from the environment (`FENCEPOST_NUM_PARTITIONS=4` is `num.partitions=4`), then from `--set`; a topic takes",
        "its own when it is created or altered. Clients take theirs as keyword arguments, with underscores:",
        '`Producer("localhost:9092", linger_ms=20)`. Producers, consumers and administrators share those under Client.',
    ]
    shared = declarations(ClientSettings)
    lines += settings_table("Broker", declarations(BrokerSettings))
    lines += settings_table("Topic", declarations(TopicSettings))
    lines += settings_table("Client", shared)
    for title, settings_class in (("Producer", ProducerSettings), ("Consumer", ConsumerSettings)):
        own = {name: found for name, found in declarations(settings_class).items() if name not in shared}
        lines += settings_table(title, own)
    return "\n".join(lines) + "\n"


def settings_table(title: str, declared: Mapping[str, Declaration]) -> list[str]:
    lines = ["", f"## {title}", "", "| setting | default | values | meaning |", "|---|---|---|---|"]
    for declaration in declared.values():
        default = f"{as_text(declaration.default)} {declaration.unit}".strip()
        lines.append(f"| `{declaration.name}` | {default} | {describe_values(declaration)} | {declaration.help} |")
    return lines


def apis_page() -> str:
    lines = [
        "# APIs",
        "",
        WRITTEN_BY,
        "",
        "What the broker serves and advertises in ApiVersions. Each has a file in `src/fencepost/broker/handlers/`",
        "that says what its versions add and where it differs from Kafka on purpose.",
        "",
        "| key | API | versions |",
        "|---|---|---|",
    ]
    for row in advertised(HANDLED_KEYS):
        lines.append(f"| {row.api_key} | {API_TABLE[row.api_key].name} | {row.min_version} to {row.max_version} |")
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    lines = [
        "# Commands",
        "",
        WRITTEN_BY,
        "",
        "Every command says all of this with `--help`. Those that talk to a cluster work on any Kafka cluster,",
        "ours or Apache's; they find it with `--bootstrap-servers` or the environment variable",
        "`KAFKA_BOOTSTRAP_SERVERS`, and take client settings, security included, from `--command-config FILE`",
        "(lines of `name=value`, as for Kafka's own tools) and `-X NAME=VALUE`. With `--json` they print one JSON",
        "document, or one object a line where they print as they go (`consume`, `log dump`). In a terminal tables",
        "fit its width; elsewhere nothing is wrapped or coloured. What changes something for good shows a preview",
        "first and asks; where nobody can be asked it stops there, unless `--yes` is given.",
    ]
    for name, command in walk_commands():
        lines += ["", f"## {name}", "", "```text", help_text(name, command), "```"]
    return "\n".join(lines) + "\n"


PAGES = {"settings.md": settings_page, "apis.md": apis_page, "commands.md": commands_page}


def main() -> int:
    stale = [name for name, page in PAGES.items() if not _is_current(name, page())]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"docs/{name} is not current: run `make docs`")
        return 1 if stale else 0
    for name in stale:
        (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
    return 0


def _is_current(name: str, text: str) -> bool:
    path = DOCS / name
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
