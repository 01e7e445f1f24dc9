"""From an API key to its handler. What is listed here is what ApiVersions advertises."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.errors import CloseConnection, ErrorCode
from fencepost.wire.api import API_TABLE, API_VERSIONS, advertised
from fencepost.wire.messages.api_versions import ApiVersion, ApiVersionsResponse

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore

Handler = Callable[["BrokerCore", Call], Outcome]

HANDLED = {
    "produce": ("produce",),
    "fetch": ("fetch",),
    "list_offsets": ("list_offsets", "offset_for_leader_epoch"),
    "metadata": (
        "metadata",
        "describe_topic_partitions",
        "describe_cluster",
        "describe_log_dirs",
        "find_coordinator",
    ),
    "api_versions": ("api_versions", "update_features"),
    "topics": ("create_topics", "create_partitions", "delete_topics", "delete_records"),
    "configs": ("describe_configs", "list_config_resources", "alter_configs", "incremental_alter_configs"),
    "transactions": (
        "init_producer_id",
        "add_partitions_to_txn",
        "add_offsets_to_txn",
        "end_txn",
        "write_txn_markers",
    ),
    "describe_transactions": ("describe_transactions", "list_transactions", "describe_producers"),
    "committed_offsets": ("offset_commit", "txn_offset_commit", "offset_fetch", "offset_delete"),
    "groups": (
        "join_group",
        "sync_group",
        "heartbeat",
        "leave_group",
        "consumer_group_heartbeat",
        "consumer_group_describe",
        "describe_groups",
        "list_groups",
        "delete_groups",
    ),
    "unsupported": (
        "list_partition_reassignments",
        "describe_acls",
        "create_acls",
        "delete_acls",
        "describe_client_quotas",
        "describe_user_scram_credentials",
    ),
}
"""Modules of `handlers`, and the APIs that each has a function for, named like the API."""

_KEY_OF = {api.module: api.key for api in API_TABLE.values()}
_HOMES = {_KEY_OF[name]: (module, name) for module, names in HANDLED.items() for name in names}
HANDLED_KEYS = tuple(sorted(_HOMES))
_loaded: dict[int, Handler] = {}


def dispatch(core: "BrokerCore", call: Call) -> Outcome:
    handler = _loaded.get(call.api_key) or _load(call.api_key)
    if call.request is None or handler is None:
        return _refuse_unsupported(call)
    return handler(core, call)


def _load(api_key: int) -> Handler | None:
    """Handlers are imported when first used: a broker that listens soon matters more than a first request that is
    fast."""
    if api_key not in _HOMES:
        return None
    module, name = _HOMES[api_key]
    handler: Handler = getattr(import_module(f"fencepost.broker.handlers.{module}"), name)
    _loaded[api_key] = handler
    return handler


def _refuse_unsupported(call: Call) -> Outcome:
    """KIP-511: an ApiVersions request of a version we do not know is answered in version 0, so that the client can
    ask again."""
    if call.api_key != API_VERSIONS:
        return CloseConnection(f"API key {call.api_key} version {call.api_version} is not supported")
    call.api_version = 0
    rows = [ApiVersion(*row) for row in advertised([API_VERSIONS])]
    return Reply(ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=rows))
