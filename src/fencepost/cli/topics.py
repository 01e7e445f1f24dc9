"""`fencepost topics`: create, list, describe, alter, delete."""

from collections import Counter
from collections.abc import Sequence

import click

from fencepost.cli.arguments import complete_topics
from fencepost.cli.failures import Failure
from fencepost.cli.main import LazyGroup
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.cli.output import Row, confirm, json_option, print_json, print_rows, print_table, yes_option
from fencepost.client.admin.admin import Admin
from fencepost.client.admin.topics import BROKER_CHOOSES, NewTopic
from fencepost.client.net.metadata import TopicMetadata
from fencepost.settings import parse_assignments
from fencepost.types import TopicPartition

COMMANDS = {
    "create": ("fencepost.cli.topics:create", "Create topics."),
    "list": ("fencepost.cli.topics:list_command", "List topics, and how many offsets they hold."),
    "describe": ("fencepost.cli.topics:describe", "Show the partitions of a topic and its settings."),
    "alter": ("fencepost.cli.topics:alter", "Change settings, or give a topic more partitions."),
    "delete": ("fencepost.cli.topics:delete", "Delete topics and all that is in them."),
}
COLUMNS = {"TOPIC": "name", "PARTITIONS": "partitions", "OFFSETS": "offsets"}
PARTITION_COLUMNS = {
    "PARTITION": "partition",
    "LEADER": "leader",
    "REPLICAS": "replicas",
    "IN SYNC": "in_sync",
    "START": "start_offset",
    "STABLE": "last_stable_offset",
    "END": "end_offset",
}
EXAMPLE_SETTING = "retention.ms=86400000"


@click.group("topics", cls=LazyGroup, commands=COMMANDS)
def command() -> None:
    """Create, list, describe, alter and delete topics, on any Kafka cluster."""


@click.command("create")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("-p", "--partitions", type=click.IntRange(min=1), help="How many; the broker's default if not given.")
@click.option("--replication-factor", type=click.IntRange(min=1), help="Copies; the broker's default if not given.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A topic setting; may be repeated.")
@click.option("--if-not-exists", is_flag=True, help="Leave a topic that is there as it is.")
@json_option
@connection_options
def create(
    names: tuple[str, ...],
    partitions: int | None,
    replication_factor: int | None,
    settings: tuple[str, ...],
    if_not_exists: bool,
    as_json: bool,
    connection: ClusterAccess,
) -> None:
    """Create topics.

    \b
    Examples:
      fencepost topics create purchases --partitions 3
      fencepost topics create ledger --set cleanup.policy=compact --if-not-exists
    """
    chosen = parse_assignments("--set", settings, example=EXAMPLE_SETTING)
    count = BROKER_CHOOSES if partitions is None else partitions
    copies = BROKER_CHOOSES if replication_factor is None else replication_factor
    with connection.admin() as admin:
        there = set(admin.describe_topics()) if if_not_exists else set()
        wanted = [name for name in names if name not in there]
        admin.create_topics([NewTopic(name, count, copies, chosen) for name in wanted])
    if as_json:
        print_json({"created": wanted, "there_already": [name for name in names if name in there]})
        return
    for name in names:
        click.echo(f"{name} is there already" if name in there else f"created {name}")


@click.command("list")
@click.option("--internal", is_flag=True, help="Kafka's own topics too.")
@json_option
@connection_options
def list_command(internal: bool, as_json: bool, connection: ClusterAccess) -> None:
    """List topics, with the offsets that they hold: markers and aborted records take offsets too.

    \b
    Examples:
      fencepost topics list
      fencepost topics list --internal --json
    """
    with connection.admin() as admin:
        topics = [topic for _, topic in sorted(admin.describe_topics().items()) if internal or not is_internal(topic)]
        rows = topic_rows(admin, topics)
    print_rows(COLUMNS, rows, as_json=as_json, empty="There are no topics.")


@click.command("describe")
@click.argument("name", shell_complete=complete_topics)
@click.option("--all-settings", is_flag=True, help="Settings with the broker's defaults too.")
@json_option
@connection_options
def describe(name: str, all_settings: bool, as_json: bool, connection: ClusterAccess) -> None:
    """Show the partitions of a topic and its settings.

    STABLE is the last stable offset: where it is less than END, an open transaction holds readers back
    (`fencepost txn blockers` says whose).

    \b
    Examples:
      fencepost topics describe purchases
      fencepost topics describe purchases --all-settings --json
    """
    with connection.admin() as admin:
        replicas = admin.topic_replicas(name)
        partitions = {index: TopicPartition(name, index) for index in replicas}
        starts = admin.earliest_offsets(partitions.values())
        stable = admin.latest_offsets(partitions.values(), read_committed=True)
        ends = admin.latest_offsets(partitions.values())
        settings = admin.topic_settings(name, overrides_only=not all_settings)
    rows = [
        {
            "partition": index,
            "leader": row.leader_id,
            "replicas": row.replica_ids,
            "in_sync": row.in_sync_ids,
            "start_offset": starts[partitions[index]],
            "last_stable_offset": stable[partitions[index]],
            "end_offset": ends[partitions[index]],
        }
        for index, row in replicas.items()
    ]
    if as_json:
        print_json({"name": name, "partitions": rows, "settings": settings})
        return
    print_table(PARTITION_COLUMNS, rows, empty=f"{name} has no partitions.")
    click.echo()
    columns = {"SETTING" if all_settings else "SET FOR THIS TOPIC": "name", "VALUE": "value"}
    chosen = [{"name": key, "value": value} for key, value in sorted(settings.items())]
    print_table(columns, chosen, empty="All settings are the broker's defaults.")


@click.command("alter")
@click.argument("name", shell_complete=complete_topics)
@click.option("-p", "--partitions", type=click.IntRange(min=1), help="Grow to this many; there is no way back.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A topic setting; may be repeated.")
@click.option("--unset", "unset", multiple=True, metavar="NAME", help="Back to the broker's default; may be repeated.")
@json_option
@connection_options
def alter(
    name: str,
    partitions: int | None,
    settings: tuple[str, ...],
    unset: tuple[str, ...],
    as_json: bool,
    connection: ClusterAccess,
) -> None:
    """Change the settings of a topic, or give it more partitions.

    More partitions move keys: records with the same key no longer lie in one partition.

    \b
    Examples:
      fencepost topics alter purchases --set retention.ms=86400000
      fencepost topics alter purchases --unset retention.ms --partitions 4
    """
    changes: dict[str, str | None] = {
        **parse_assignments("--set", settings, example=EXAMPLE_SETTING),
        **dict.fromkeys(unset),
    }
    if not changes and partitions is None:
        raise click.UsageError("nothing to do: give --partitions, --set or --unset")
    with connection.admin() as admin:
        if changes:
            admin.alter_topic_settings(name, changes)
        if partitions is not None:
            admin.create_partitions({name: partitions})
    if as_json:
        print_json({"name": name, "partitions": partitions, "settings": changes})
    else:
        click.echo(f"altered {name}")


@click.command("delete")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_topics)
@yes_option
@json_option
@connection_options
def delete(names: tuple[str, ...], is_sure: bool, as_json: bool, connection: ClusterAccess) -> None:
    """Delete topics and all that is in them. Shows what would go, and asks; where it cannot ask, --yes does it.

    \b
    Examples:
      fencepost topics delete ledger
      fencepost topics delete ledger --yes
    """
    with connection.admin() as admin:
        topics = list(admin.describe_topics(names).values())
        if internal := [topic.name for topic in topics if is_internal(topic)]:
            raise Failure(f"{', '.join(internal)}: the cluster lives on it; it is not deleted")
        rows = topic_rows(admin, topics)
        if not as_json:
            print_table(COLUMNS, rows)
        is_done = confirm("Delete all of it?", is_sure=is_sure)
        if is_done:
            admin.delete_topics(names)
            admin.await_no_topics(names)
    if as_json:
        print_json({"is_done": is_done, "topics": rows})
    elif is_done:
        click.echo(f"deleted {', '.join(names)}")


def is_internal(topic: TopicMetadata) -> bool:
    return topic.is_internal or topic.name.startswith("__")


def topic_rows(admin: Admin, topics: Sequence[TopicMetadata]) -> list[Row]:
    """With how many offsets there are between the starts and the ends of the partitions."""
    partitions = [TopicPartition(topic.name, index) for topic in topics for index in topic.available_partitions]
    starts, ends = admin.earliest_offsets(partitions), admin.latest_offsets(partitions)
    counts: Counter[str] = Counter()
    for each in partitions:
        counts[each.topic] += ends[each] - starts[each]
    return [
        {"name": topic.name, "partitions": topic.partition_count, "offsets": counts[topic.name]} for topic in topics
    ]
