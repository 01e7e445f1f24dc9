"""The `fencepost` command: one line for each subcommand, which lives in a file of its own."""

import click

from fencepost.cli.lazy_group import LazyGroup

COMMANDS = {
    "serve": ("fencepost.cli.serve", "Run the broker."),
    "topics": ("fencepost.cli.topics", "Create, list, describe, alter and delete topics."),
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
