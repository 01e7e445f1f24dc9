"""Settings as administrators see and alter them: value, where it comes from, what stands behind it.

A topic's own value comes first, then the broker's (if it is not the default), then the default. A broker that gets
its settings at the start has no dynamic ones, so all of its own are read-only: only topics have settings to alter. An
incremental change works on the topic's own values; appending to one that it does not have starts from the value in
force, as in Kafka. A plain change replaces all of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple, Protocol

from fencepost.broker.catalogue import Catalogue, CatalogueRecord, Topic, decide_change_settings
from fencepost.errors import ErrorCode, Refusal
from fencepost.settings import BrokerSettings, Declaration, TopicSettings, as_text, declarations


class ConfigSource(IntEnum):
    TOPIC = 1
    STATIC_BROKER = 4
    DEFAULT = 5


class ConfigType(IntEnum):
    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


class ResourceType(IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Operation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    name: str
    operation: int
    value: str | None


class NamedResource(Protocol):
    resource_type: int
    resource_name: str


BROKER_SYNONYMS = {
    "cleanup.policy": "log.cleanup.policy",
    "compression.type": "compression.type",
    "max.message.bytes": "message.max.bytes",
    "message.timestamp.type": "log.message.timestamp.type",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
}
"""Which setting of the broker each setting of a topic falls back to; the others only have a default."""

LIST_SETTINGS = frozenset({"cleanup.policy", "log.cleanup.policy"})

LONG_SETTINGS = frozenset(
    {
        "connections.max.idle.ms",
        "delete.retention.ms",
        "file.delete.delay.ms",
        "flush.messages",
        "flush.ms",
        "log.retention.bytes",
        "log.retention.check.interval.ms",
        "log.retention.ms",
        "min.compaction.lag.ms",
        "offsets.retention.check.interval.ms",
        "retention.bytes",
        "retention.ms",
        "segment.jitter.ms",
        "segment.ms",
    }
)
"""Numbers that Kafka calls LONG; all others are INT."""


class Synonym(NamedTuple):
    name: str
    value: str
    source: ConfigSource


class DescribedSetting(NamedTuple):
    name: str
    value: str
    is_read_only: bool
    synonyms: tuple[Synonym, ...]
    """The one that counts is first; there is always one."""
    config_type: ConfigType
    documentation: str

    @property
    def source(self) -> ConfigSource:
        return self.synonyms[0].source


def describe_topic_settings(topic: Topic, broker: BrokerSettings) -> list[DescribedSetting]:
    return [
        _describe(declaration, topic.settings, _topic_synonyms(topic, declaration, broker), is_read_only=False)
        for declaration in declarations(TopicSettings).values()
    ]


def describe_broker_settings(broker: BrokerSettings) -> list[DescribedSetting]:
    return [
        _describe(declaration, broker, _broker_synonyms(declaration, broker), is_read_only=True)
        for declaration in declarations(BrokerSettings).values()
    ]


def _describe(
    declaration: Declaration, settings: object, synonyms: Iterable[Synonym], *, is_read_only: bool
) -> DescribedSetting:
    return DescribedSetting(
        name=declaration.name,
        value=as_text(getattr(settings, declaration.field_name)),
        is_read_only=is_read_only,
        synonyms=tuple(synonyms),
        config_type=_type_of(declaration),
        documentation=f"{declaration.help} ({declaration.unit})" if declaration.unit else declaration.help,
    )


def _topic_synonyms(topic: Topic, declaration: Declaration, broker: BrokerSettings) -> Iterator[Synonym]:
    name = declaration.name
    if name in topic.overrides:
        yield Synonym(name, as_text(getattr(topic.settings, declaration.field_name)), ConfigSource.TOPIC)
    if name in BROKER_SYNONYMS:
        yield from _broker_synonyms(declarations(BrokerSettings)[BROKER_SYNONYMS[name]], broker)
    else:
        yield Synonym(name, as_text(declaration.default), ConfigSource.DEFAULT)


def _broker_synonyms(declaration: Declaration, broker: BrokerSettings) -> Iterator[Synonym]:
    value = getattr(broker, declaration.field_name)
    if value != declaration.default:
        yield Synonym(declaration.name, as_text(value), ConfigSource.STATIC_BROKER)
    yield Synonym(declaration.name, as_text(declaration.default), ConfigSource.DEFAULT)


def _type_of(declaration: Declaration) -> ConfigType:
    if declaration.name in LIST_SETTINGS:
        return ConfigType.LIST
    if declaration.value_type is bool:
        return ConfigType.BOOLEAN
    if declaration.value_type is int:
        return ConfigType.LONG if declaration.name in LONG_SETTINGS else ConfigType.INT
    if declaration.value_type is float:
        return ConfigType.DOUBLE
    return ConfigType.STRING


def refuse_resource(resource: NamedResource, others: Iterable[NamedResource]) -> Refusal | None:
    """Why the settings of this resource cannot be altered, whatever they are. `others` are all of the request's."""
    same = [each for each in others if _key(each) == _key(resource)]
    if len(same) > 1:
        return Refusal(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
    if resource.resource_type == ResourceType.BROKER:
        return Refusal(
            ErrorCode.INVALID_REQUEST,
            "the broker takes its settings at the start only: change its command line, environment or file",
        )
    if resource.resource_type != ResourceType.TOPIC:
        return Refusal(
            ErrorCode.INVALID_REQUEST,
            f"resources of type {resource.resource_type} have no settings here: only topics ({ResourceType.TOPIC}) do",
        )
    if not resource.resource_name:
        return Refusal(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    return None


def _key(resource: NamedResource) -> tuple[int, str]:
    return resource.resource_type, resource.resource_name


def decide_replace(
    catalogue: Catalogue, name: str, values: Iterable[tuple[str, str | None]]
) -> CatalogueRecord | Refusal:
    """All of the topic's own settings anew (AlterConfigs)."""
    changes = [Change(setting, Operation.SET, value) for setting, value in values]
    return _decide(catalogue, name, changes, base={})


def decide_increment(catalogue: Catalogue, name: str, changes: list[Change]) -> CatalogueRecord | Refusal:
    """The named settings changed, the others kept (IncrementalAlterConfigs)."""
    topic = catalogue.topics.get(name)
    return _decide(catalogue, name, changes, base=topic.overrides if topic is not None else {})


def _decide(
    catalogue: Catalogue, name: str, changes: list[Change], *, base: Mapping[str, str]
) -> CatalogueRecord | Refusal:
    topic = catalogue.topics.get(name)
    if topic is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    if topic.is_internal:
        return Refusal(ErrorCode.POLICY_VIOLATION, f"'{name}' is an internal topic: the broker lives on its settings")
    names = [change.name for change in changes]
    if len(set(names)) < len(names):
        return Refusal(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    overrides = dict(base)
    for change in changes:
        if (refusal := _change(overrides, topic, change)) is not None:
            return refusal
    return decide_change_settings(catalogue, name, overrides=overrides)


def _change(overrides: dict[str, str], topic: Topic, change: Change) -> Refusal | None:
    if change.operation == Operation.DELETE:
        overrides.pop(change.name, None)
        return None
    if change.value is None:
        return Refusal(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {change.name}")
    if change.operation == Operation.SET:
        overrides[change.name] = change.value
        return None
    if change.operation not in (Operation.APPEND, Operation.SUBTRACT):
        return Refusal(ErrorCode.INVALID_REQUEST, f"operation {change.operation} on {change.name}: expected 0 to 3")
    if change.name not in LIST_SETTINGS:
        return Refusal(
            ErrorCode.INVALID_CONFIG,
            f"Can't {Operation(change.operation).name} to key {change.name} because its type is not LIST.",
        )
    inherited: str = getattr(topic.settings, declarations(TopicSettings)[change.name].field_name)
    overrides[change.name] = _edited(overrides.get(change.name, inherited), change)
    return None


def _edited(current: str, change: Change) -> str:
    """A list with elements added, each once, or taken away."""
    elements = dict.fromkeys(filter(None, current.split(",")))
    for element in filter(None, (change.value or "").split(",")):
        if change.operation == Operation.APPEND:
            elements[element] = None
        else:
            elements.pop(element, None)
    return ",".join(elements)
