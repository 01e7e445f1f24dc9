"""Writes docs/documents-running.md from what examples/documents declares. `--check` fails if it is not current.

The tests in tests/documents_running hold the programs to the same declarations, so the page says what is seen.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from examples.documents.accounts import ANOMALIES  # noqa: E402
from examples.documents.failures import BOOK, DEEP_DIVE, IDEMPOTENCE, Failure  # noqa: E402
from examples.documents.programs import VERSIONS  # noqa: E402

PAGE = ROOT / "docs" / "documents-running.md"
TESTS = "../tests/documents_running"
INTRODUCTION = """# The documents, running

<!-- Written by scripts/generate_documents_page.py; do not edit. -->

Fencepost implements what [five articles on Kafka's transactions](explanation/documents-disagree.md) describe, called
*the documents* here. Their programs are in [examples/documents](../examples/documents/README.md), and every failure
that they list can be seen there: real processes, real SIGKILL, a network that loses answers. The tables say what
comes of it without the feature and with it. *Repeated*: an output is there twice. *Torn*: outputs that belong
together are not. *One to one*: neither, and nothing is lost.

```bash
python -m examples.documents                  # every failure of the three lists below, with the figures
python -m examples.documents --only case_4    # one of them
python -m examples.documents.shop             # a program in all its versions; so squares, transfer, delivery, database
```

`make test` runs this against our broker: all of the first and the third list, and most of the programs. The rest, the
same against Apache Kafka, and three instances of each stage under random kills need `TEST_DEPTH=full`, as `.ci/run`
sets it. Headings and their numbers are the documents' own; the deep dive has two fours.
"""

EXAMPLES = "../examples/documents"
SHOP, TRANSACTIONAL = f"{EXAMPLES}/shop/service.py", f"{EXAMPLES}/shop/service_transactional.py"
DATABASE = f"[database]({EXAMPLES}/database/README.md)"
CONTENTS = {
    "deep dive: the first shop loop; its idempotent producer": f"[service.py]({SHOP}), with `--idempotent`",
    "deep dive: the transactional shop loop": f"[service_transactional.py]({TRANSACTIONAL})",
    "deep dive: a hung producer and its successor, epochs 0 and 1": "squares, `pinned`: the zombie is fenced",
    "deep dive: isolation levels": f"[billing.py]({EXAMPLES}/shop/billing.py)",
    "deep dive: the last stable offset": "squares, `random`: readers are held back",
    "deep dive: the flow in twelve steps; KIP-98 in thirteen": "[step by step](transaction-walkthrough.md)",
    "notes on transactions: Alice gives $10 to Bob": f"[transfer]({EXAMPLES}/transfer/README.md)",
    "notes on transactions: the acknowledgement that is lost": "`KafkaProducer.send()` failure, above",
    "book: input, transform and output stage, pinned producers": f"[squares]({EXAMPLES}/squares/README.md)",
    "book: a common id, a random id, an id of the input partition": "squares: `shared`, `random`, `pinned`",
    "book: bound to Kafka resources; incomplete exactly-once semantics": DATABASE,
    "MQ notes: what producers and consumers promise": f"[delivery]({EXAMPLES}/delivery/README.md)",
    "MQ notes: two messages in one transaction; read-process-write": f"[basics]({EXAMPLES}/basics/README.md)",
    "MQ notes: a database and a log are two transactions; RocketMQ": DATABASE,
    "MQ notes: states and requests of a transaction": "[transactions](transactions.md), [APIs](apis.md)",
}
NOT_PLAYED = """
Transactions that would span clusters or producers, and what is lost with the only copy, are played among the
[limitations](explanation/limitations.md); what the documents say differently from one another, or not at all, stands
[on its own page](explanation/documents-disagree.md)."""


def harm_of(harm: Iterable[str]) -> str:
    return ", ".join(name for name in ANOMALIES if name in harm) or "one to one"


def failures_table(title: str, failures: Iterable[Failure], test_file: str) -> list[str]:
    lines = ["", f"## {title}", "", "| failure | what is done | without | with | test |", "|---|---|---|---|---|"]
    for failure in failures:
        without = f"{failure.without}: {harm_of(failure.harm)}"
        with_it = f"{failure.feature}: one to one"
        test = f"[test_{failure.name}]({TESTS}/{test_file})"
        lines.append(f"| {failure.heading} | {failure.strike} | {without} | {with_it} | {test} |")
    return lines


def programs_table() -> list[str]:
    lines = ["", "## The programs, under strikes of their own", ""]
    lines += ["| program | version | what arrives | |", "|---|---|---|---|"]
    for version in VERSIONS:
        program = f"[{version.program}](../examples/documents/{version.program}/README.md)"
        lines.append(f"| {program} | {version.name} | {harm_of(version.harm)} | {version.remark} |")
    return lines


def contents_table() -> list[str]:
    lines = ["", "## Where to find what the documents have", "", "| the documents | here |", "|---|---|"]
    return [*lines, *(f"| {part} | {place} |" for part, place in CONTENTS.items()), NOT_PLAYED]


def page() -> str:
    lines = [
        INTRODUCTION.rstrip("\n"),
        *failures_table(
            "The deep dive: guarantees in failure scenarios",
            DEEP_DIVE,
            "test_deep_dive_guarantees_in_failure_scenarios.py",
        ),
        *failures_table("The deep dive: the idempotent producer", IDEMPOTENCE, "test_deep_dive_idempotent_producer.py"),
        *failures_table("The book: where a process can fail", BOOK, "test_book_cases_of_process_failure.py"),
        *programs_table(),
        *contents_table(),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    text = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in sys.argv[1:]:
        print("docs/documents-running.md is not current: run `make docs`")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
