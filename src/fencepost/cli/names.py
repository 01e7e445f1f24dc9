"""Names that a shell completes by asking the cluster: topics, groups, transactional ids. Silence if nobody answers."""

import os
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from fencepost.cli.connection import DEFAULT_SERVERS, SERVERS_VARIABLE
from fencepost.client.admin import Admin
from fencepost.errors import FencepostError

PATIENCE_MS = 1000

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completing(names_of: Callable[[Admin], Iterable[str]]) -> Complete:
    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        servers = ctx.params.get("bootstrap_servers") or os.environ.get(SERVERS_VARIABLE) or DEFAULT_SERVERS
        try:
            with Admin(
                servers, request_timeout_ms=PATIENCE_MS, socket_connection_setup_timeout_ms=PATIENCE_MS
            ) as admin:
                return [CompletionItem(name) for name in names_of(admin) if name.startswith(incomplete)]
        except FencepostError:
            return []

    return complete


complete_topics = _completing(lambda admin: admin.describe_topics())
complete_groups = _completing(lambda admin: (group.group_id for group in admin.list_groups()))
complete_transactional_ids = _completing(lambda admin: (row.transactional_id for row in admin.list_transactions()))
