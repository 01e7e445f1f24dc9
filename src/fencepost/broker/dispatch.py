"""From an API key to its handler. What is listed here is what ApiVersions advertises."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from fencepost.broker.call import Call, CloseConnection, Outcome, Reply
from fencepost.errors import ErrorCode
from fencepost.wire.api import API_TABLE, API_VERSIONS, advertised
from fencepost.wire.messages.api_versions import ApiVersion, ApiVersionsResponse

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore

Handler = Callable[["BrokerCore", Call], Outcome]

HANDLED = (
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
    "api_versions",
    "create_topics",
    "delete_topics",
    "init_producer_id",
    "add_partitions_to_txn",
    "add_offsets_to_txn",
    "end_txn",
    "txn_offset_commit",
    "write_txn_markers",
    "describe_producers",
    "describe_transactions",
    "list_transactions",
    "offset_for_leader_epoch",
    "create_partitions",
    "delete_records",
    "describe_configs",
    "alter_configs",
    "incremental_alter_configs",
    "list_config_resources",
    "describe_cluster",
    "describe_topic_partitions",
    "describe_log_dirs",
    "offset_delete",
    "delete_groups",
    "consumer_group_heartbeat",
    "consumer_group_describe",
    "describe_acls",
    "create_acls",
    "delete_acls",
    "describe_client_quotas",
    "describe_user_scram_credentials",
    "elect_leaders",
    "alter_partition_reassignments",
    "list_partition_reassignments",
    "update_features",
)
"""Modules of `handlers`, each named like its API."""

_KEY_OF = {api.module: api.key for api in API_TABLE.values()}
HANDLED_KEYS = tuple(sorted(_KEY_OF[name] for name in HANDLED))
_MODULE_OF = {_KEY_OF[name]: name for name in HANDLED}
_loaded: dict[int, Handler] = {}


def dispatch(core: "BrokerCore", call: Call) -> Outcome:
    handler = _loaded.get(call.api_key) or _load(call.api_key)
    if call.request is None or handler is None:
        return _refuse_unsupported(call)
    return handler(core, call)


def _load(api_key: int) -> Handler | None:
    """Handlers are imported when first used: a broker that listens soon matters more than a first request that is
    fast."""
    module = _MODULE_OF.get(api_key)
    if module is None:
        return None
    handler: Handler = import_module(f"fencepost.broker.handlers.{module}").handle
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
