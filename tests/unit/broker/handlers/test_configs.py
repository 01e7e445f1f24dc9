"""DescribeConfigs, IncrementalAlterConfigs, AlterConfigs and ListConfigResources."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.settings import BrokerSettings, TopicSettings, declarations
from fencepost.wire.messages import alter_configs, incremental_alter_configs
from fencepost.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fencepost.wire.messages.list_config_resources import ListConfigResourcesRequest
from tests.unit.broker.builders import Broker, batch_of, produce_request, versions_of

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
DYNAMIC_TOPIC, STATIC, DEFAULT = 1, 4, 5


@pytest.fixture
def shop(broker: Broker) -> Broker:
    broker.create_topic("orders")
    return broker


def describe(
    broker: Broker,
    name: str = "orders",
    kind: int = TOPIC,
    *,
    keys: list[str] | None = None,
    version: int = 4,
    **more: bool,
) -> Any:
    resource = DescribeConfigsResource(kind, name, keys)
    return broker.ask(DescribeConfigsRequest([resource], **more), version).results[0]


def setting(broker: Broker, key: str, **more: Any) -> Any:
    (found,) = describe(broker, keys=[key], **more).configs
    return found


def alter(
    broker: Broker, *changes: tuple[str, int, str | None], name: str = "orders", kind: int = TOPIC, **more: Any
) -> Any:
    configs = [incremental_alter_configs.AlterableConfig(*change) for change in changes]
    resource = incremental_alter_configs.AlterConfigsResource(kind, name, configs)
    version = more.pop("version", 1)
    request = incremental_alter_configs.IncrementalAlterConfigsRequest([resource] * more.pop("times", 1), **more)
    return broker.ask(request, version).responses[0]


def replace(
    broker: Broker, *values: tuple[str, str | None], name: str = "orders", kind: int = TOPIC, **more: Any
) -> Any:
    configs = [alter_configs.AlterableConfig(*value) for value in values]
    resource = alter_configs.AlterConfigsResource(kind, name, configs)
    version = more.pop("version", 2)
    request = alter_configs.AlterConfigsRequest([resource] * more.pop("times", 1), **more)
    return broker.ask(request, version).responses[0]


@pytest.mark.parametrize("version", versions_of("DescribeConfigs"))
def test_every_setting_of_a_topic_is_described(shop: Broker, version: int) -> None:
    result = describe(shop, version=version)
    assert result.error_code == ErrorCode.NONE
    assert [config.name for config in result.configs] == list(declarations(TopicSettings))
    assert not any(config.read_only or config.is_sensitive for config in result.configs)
    found = {config.name: config for config in result.configs}["retention.ms"]
    assert (found.value, found.config_source) == ("604800000", DEFAULT)


@pytest.mark.parametrize("version", versions_of("DescribeConfigs"))
def test_every_setting_of_the_broker_is_described_as_read_only(shop: Broker, version: int) -> None:
    result = describe(shop, "1", BROKER, version=version)
    assert [config.name for config in result.configs] == list(declarations(BrokerSettings))
    assert all(config.read_only for config in result.configs)


def test_a_value_names_its_source_and_what_stands_behind_it() -> None:
    broker = Broker(log_retention_ms="5000")
    broker.create_topic("orders", retention_ms="1000")
    found = setting(broker, "retention.ms", include_synonyms=True)
    assert (found.value, found.config_source) == ("1000", DYNAMIC_TOPIC)
    assert [(each.name, each.value, each.source) for each in found.synonyms] == [
        ("retention.ms", "1000", DYNAMIC_TOPIC),
        ("log.retention.ms", "5000", STATIC),
        ("log.retention.ms", "604800000", DEFAULT),
    ]
    assert setting(broker, "retention.ms").synonyms == []


@pytest.mark.parametrize(
    ("key", "config_type"),
    [("retention.ms", 5), ("max.message.bytes", 3), ("cleanup.policy", 7), ("compression.type", 2)],
)
def test_types_and_documentation_are_told_from_v3_on(shop: Broker, key: str, config_type: int) -> None:
    found = setting(shop, key, include_documentation=True)
    assert found.config_type == config_type
    assert declarations(TopicSettings)[key].help in found.documentation
    assert setting(shop, key).documentation is None


@pytest.mark.parametrize(
    ("kind", "name", "error_code"),
    [
        (TOPIC, "nowhere", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "7", ErrorCode.INVALID_REQUEST),
        (BROKER, "x", ErrorCode.INVALID_REQUEST),
        (BROKER_LOGGER, "1", ErrorCode.INVALID_REQUEST),
        (3, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_has_no_settings_is_refused(shop: Broker, kind: int, name: str, error_code: ErrorCode) -> None:
    result = describe(shop, name, kind)
    assert (result.error_code, result.configs, result.resource_name) == (error_code, [], name)


def test_there_are_no_defaults_for_all_brokers(shop: Broker) -> None:
    result = describe(shop, "", BROKER)
    assert (result.error_code, result.configs) == (ErrorCode.NONE, [])


@pytest.mark.parametrize("version", versions_of("IncrementalAlterConfigs"))
def test_a_set_value_is_in_force_and_survives_a_kill(shop: Broker, version: int) -> None:
    assert alter(shop, ("max.message.bytes", SET, "100"), version=version).error_code == ErrorCode.NONE
    for broker in (shop, shop.after_kill()):
        assert setting(broker, "max.message.bytes").value == "100"
        request = produce_request("orders", batch_of(b"a" * 200))
        answer = broker.ask(request, 12).responses[0].partition_responses[0]
        assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_a_deleted_value_falls_back_to_the_default(shop: Broker) -> None:
    alter(shop, ("retention.ms", SET, "1"), ("segment.ms", SET, "9"))
    assert alter(shop, ("retention.ms", DELETE, None), ("foo", DELETE, None)).error_code == ErrorCode.NONE
    assert setting(shop, "retention.ms").config_source == DEFAULT
    assert setting(shop, "segment.ms").value == "9"


def test_lists_are_appended_to_and_subtracted_from(shop: Broker) -> None:
    alter(shop, ("cleanup.policy", APPEND, "compact"))
    assert setting(shop, "cleanup.policy").value == "delete,compact"
    alter(shop, ("cleanup.policy", APPEND, "compact"))
    assert setting(shop, "cleanup.policy").value == "delete,compact"
    alter(shop, ("cleanup.policy", SUBTRACT, "delete"))
    assert setting(shop, "cleanup.policy").value == "compact"


@pytest.mark.parametrize(
    ("changes", "more", "error_code"),
    [
        pytest.param([("retention.ms", SET, "x")], {}, ErrorCode.INVALID_CONFIG, id="bad value"),
        pytest.param([("retention.mss", SET, "1")], {}, ErrorCode.INVALID_CONFIG, id="unknown setting"),
        pytest.param([("retention.ms", APPEND, "1")], {}, ErrorCode.INVALID_CONFIG, id="not a list"),
        pytest.param([("cleanup.policy", SUBTRACT, "delete")], {}, ErrorCode.INVALID_CONFIG, id="no policy left"),
        pytest.param([("retention.ms", SET, None)], {}, ErrorCode.INVALID_REQUEST, id="null"),
        pytest.param([("retention.ms", 9, "1")], {}, ErrorCode.INVALID_REQUEST, id="unknown operation"),
        pytest.param([("retention.ms", SET, "1")] * 2, {}, ErrorCode.INVALID_REQUEST, id="setting twice"),
        pytest.param([("retention.ms", SET, "1")], {"times": 2}, ErrorCode.INVALID_REQUEST, id="resource twice"),
        pytest.param(
            [("retention.ms", SET, "1")], {"name": "nowhere"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, id="unknown topic"
        ),
        pytest.param([("retention.ms", SET, "1")], {"name": ""}, ErrorCode.INVALID_REQUEST, id="all topics"),
        pytest.param([("retention.ms", SET, "1")], {"kind": 3}, ErrorCode.INVALID_REQUEST, id="unknown type"),
        pytest.param(
            [("cleanup.policy", SET, "delete")],
            {"name": "__consumer_offsets"},
            ErrorCode.POLICY_VIOLATION,
            id="internal topic",
        ),
        pytest.param(
            [("message.max.bytes", SET, "1")], {"kind": BROKER, "name": "1"}, ErrorCode.INVALID_REQUEST, id="broker"
        ),
    ],
)
def test_a_change_that_cannot_be_is_refused_with_a_reason_and_changes_nothing(
    shop: Broker, changes: list[tuple[str, int, str | None]], more: dict[str, Any], error_code: ErrorCode
) -> None:
    before = [(config.name, config.value) for config in describe(shop).configs]
    response = alter(shop, ("segment.ms", SET, "7"), *changes, **more)
    assert response.error_code == error_code
    assert response.error_message
    assert [(config.name, config.value) for config in describe(shop).configs] == before


@pytest.mark.parametrize("validate", [True, False])
def test_validation_changes_nothing(shop: Broker, validate: bool) -> None:
    assert alter(shop, ("retention.ms", SET, "1"), validate_only=validate).error_code == ErrorCode.NONE
    assert (setting(shop, "retention.ms").value == "1") != validate
    assert replace(shop, ("segment.ms", "5"), validate_only=validate).error_code == ErrorCode.NONE
    assert (setting(shop, "segment.ms").value == "5") != validate


@pytest.mark.parametrize("version", versions_of("AlterConfigs"))
def test_a_plain_change_replaces_everything_that_was_set(shop: Broker, version: int) -> None:
    replace(shop, ("retention.ms", "1"), version=version)
    assert replace(shop, ("segment.ms", "5"), version=version).error_code == ErrorCode.NONE
    assert setting(shop, "segment.ms").value == "5"
    assert setting(shop, "retention.ms").config_source == DEFAULT


@pytest.mark.parametrize(
    ("value", "more", "error_code"),
    [
        (("retention.ms", "x"), {}, ErrorCode.INVALID_CONFIG),
        (("retention.ms", None), {}, ErrorCode.INVALID_REQUEST),
        (("retention.ms", "1"), {"times": 2}, ErrorCode.INVALID_REQUEST),
        (("retention.ms", "1"), {"name": "nowhere"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (("message.max.bytes", "1"), {"kind": BROKER, "name": "1"}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_plain_change_that_cannot_be_is_refused(
    shop: Broker, value: tuple[str, str | None], more: dict[str, Any], error_code: ErrorCode
) -> None:
    assert replace(shop, value, **more).error_code == error_code
    assert setting(shop, "retention.ms").config_source == DEFAULT


def test_resources_with_settings_are_listed_by_type(shop: Broker) -> None:
    def listed(*types: int, version: int = 1) -> list[tuple[str, int]]:
        reply = shop.ask(ListConfigResourcesRequest(list(types)), version)
        assert reply.error_code == ErrorCode.NONE
        return [(each.resource_name, each.resource_type) for each in reply.config_resources]

    assert ("orders", TOPIC) in listed(TOPIC)
    assert listed(BROKER) == [("1", BROKER)]
    assert set(listed()) == set(listed(TOPIC) + listed(BROKER))
    assert listed(CLIENT_METRICS, GROUP) == listed(version=0) == []
    assert shop.ask(ListConfigResourcesRequest([3]), 1).error_code == ErrorCode.UNSUPPORTED_VERSION
