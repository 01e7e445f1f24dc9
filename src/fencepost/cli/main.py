"""The `fencepost` command: one line for each subcommand, which lives in a file of its own."""

import click

from fencepost.cli.lazy_group import LazyGroup

COMMANDS = {
    "demo": ("fencepost.cli.demo", "See exactly-once survive kill -9, on this machine."),
    "serve": ("fencepost.cli.serve", "Run the broker."),
    "run": ("fencepost.cli.run", "Run pipelines on Spark, exactly once."),
    "audit": ("fencepost.cli.audit", "Prove exactly-once between topics, or name the offending offsets."),
    "topics": ("fencepost.cli.topics", "Create, list, describe, alter and delete topics."),
    "produce": ("fencepost.cli.produce", "Write records, in a transaction if asked."),
    "consume": ("fencepost.cli.consume", "Read records; markers and aborted ones if asked."),
    "groups": ("fencepost.cli.groups", "Consumer groups: true lag, offsets, resets."),
    "txn": ("fencepost.cli.txn", "Transactions: list, describe, find blockers, abort."),
    "log": ("fencepost.cli.log", "A data folder, read offline: dump, export, verify."),
    "warm-up": ("fencepost.cli.warm_up", "Make later starts quick: kernels compiled, Spark's classes at hand."),
    "completion": ("fencepost.cli.completion", "Print what makes a shell complete commands and names."),
}


@click.group(cls=LazyGroup, commands=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fencepost")
def main() -> None:
    """Exactly-once messaging: an embedded broker that speaks Kafka's protocol, and tools for any Kafka cluster.

    \b
    Exit codes:
      0    done
      1    refused, not found, or failed; the message says what and why
      2    the command line is wrong
      3    no broker could be reached, or it did not answer in time
      4    a check found what it looks for (txn blockers --check, log verify)
      130  interrupted
    """
