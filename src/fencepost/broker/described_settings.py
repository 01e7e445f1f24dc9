"""Settings as DescribeConfigs and CreateTopics show them: value, where it comes from, what stands behind it.

A topic's own value comes first, then the broker's (if it is not the default), then the default. A broker that is
told its settings at the start has no dynamic ones, so all of its own are read-only.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from fencepost.broker.catalogue import Topic
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
        DescribedSetting(
            name=name,
            value=as_text(getattr(topic.settings, declaration.field_name)),
            is_read_only=False,
            synonyms=tuple(_topic_synonyms(topic, declaration, broker)),
            config_type=_type_of(declaration),
            documentation=_documentation(declaration),
        )
        for name, declaration in declarations(TopicSettings).items()
    ]


def describe_broker_settings(broker: BrokerSettings) -> list[DescribedSetting]:
    return [
        DescribedSetting(
            name=name,
            value=as_text(getattr(broker, declaration.field_name)),
            is_read_only=True,
            synonyms=tuple(_broker_synonyms(declaration, broker)),
            config_type=_type_of(declaration),
            documentation=_documentation(declaration),
        )
        for name, declaration in declarations(BrokerSettings).items()
    ]


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


def _documentation(declaration: Declaration) -> str:
    return f"{declaration.help} ({declaration.unit})" if declaration.unit else declaration.help
