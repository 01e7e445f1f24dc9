"""Every API that is advertised answers in every version that is, and the answer can be written and read back."""

import pytest

from fencepost.broker.call import Reply
from fencepost.broker.dispatch import HANDLED_KEYS
from fencepost.wire.api import API_TABLE, API_VERSIONS, INIT_PRODUCER_ID, PRODUCE, advertised
from fencepost.wire.messages.api_versions import ApiVersionsRequest
from tests.unit.broker.builders import Broker

NEVER_SERVED = {"sasl_handshake", "sasl_authenticate"}

EVERY_VERSION = [
    pytest.param(key, version, id=f"{API_TABLE[key].name}-v{version}")
    for key in HANDLED_KEYS
    for version in range(API_TABLE[key].min_version, API_TABLE[key].max_version + 1)
]


@pytest.fixture(scope="module")
def shared() -> Broker:
    broker = Broker(group_initial_rebalance_delay_ms="0")
    broker.create_topic("orders", 2)
    return broker


@pytest.mark.parametrize(("api_key", "version"), EVERY_VERSION)
def test_a_request_with_nothing_in_it_is_answered(shared: Broker, api_key: int, version: int) -> None:
    request = API_TABLE[api_key].request_class()
    if api_key == PRODUCE:
        request.acks = -1  # type: ignore[attr-defined]
    assert type(shared.ask(request, version)).__name__ == f"{API_TABLE[api_key].name}Response"


@pytest.mark.parametrize("version", range(5))
def test_api_versions_lists_exactly_the_handlers_that_there_are(broker: Broker, version: int) -> None:
    reply = broker.ask(ApiVersionsRequest("a client", "1"), version)
    assert [row.api_key for row in reply.api_keys] == list(HANDLED_KEYS)
    assert not NEVER_SERVED & {API_TABLE[key].module for key in HANDLED_KEYS}


def test_versions_that_are_not_stable_are_not_advertised(broker: Broker) -> None:
    rows = {row.api_key: row for row in broker.ask(ApiVersionsRequest(), 4).api_keys}
    assert rows[INIT_PRODUCER_ID].max_version == 5


@pytest.mark.parametrize(("setting", "level"), [("1", 1), ("2", 2)])
def test_the_transaction_version_that_was_set_is_the_one_that_is_finalized(setting: str, level: int) -> None:
    reply = Broker(transaction_version=setting).ask(ApiVersionsRequest(), 4)
    finalized = {feature.name: feature.max_version_level for feature in reply.finalized_features}
    assert finalized == {"transaction.version": level, "group.version": 1}


def test_features_whose_minimum_is_zero_are_kept_from_clients_that_cannot_read_them(broker: Broker) -> None:
    assert broker.ask(ApiVersionsRequest(), 3).supported_features == []
    assert len(broker.ask(ApiVersionsRequest(), 4).supported_features) == 2


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(broker: Broker) -> None:
    sent = broker.send(ApiVersionsRequest(), 0)
    sent.call.api_version, sent.call.request = 99, None
    outcome = broker.core.handle(sent.call)
    assert isinstance(outcome, Reply)
    assert (outcome.message.error_code, sent.call.api_version) == (35, 0)
    assert [row.api_key for row in outcome.message.api_keys] == [API_VERSIONS]


def test_an_api_that_is_not_served_closes_the_connection(broker: Broker) -> None:
    sent = broker.send(ApiVersionsRequest(), 0)
    sent.call.api_key = next(api.key for api in API_TABLE.values() if api.module == "sasl_handshake")
    sent.outcome = broker.core.handle(sent.call)
    assert broker.is_closed(sent)


def test_advertised_ranges_are_those_of_the_table() -> None:
    for row in advertised(HANDLED_KEYS):
        api = API_TABLE[row.api_key]
        assert row.min_version <= api.min_version <= row.max_version <= api.max_version
