"""What IncrementalAlterConfigs and AlterConfigs make of a topic's settings. Only topics have settings to alter.

An incremental change works on the topic's own values; appending to one that it does not have starts from the value in
force, as in Kafka. A plain change replaces all of them.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple, Protocol

from fencepost.broker.catalogue import Catalogue, CatalogueRecord, Topic, decide_change_settings
from fencepost.broker.described_settings import LIST_SETTINGS
from fencepost.errors import ErrorCode, Refusal
from fencepost.settings import TopicSettings, declarations


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
    overrides[change.name] = _edited(_in_force(overrides, topic, change.name), change)
    return None


def _in_force(overrides: Mapping[str, str], topic: Topic, name: str) -> str:
    inherited: str = getattr(topic.settings, declarations(TopicSettings)[name].field_name)
    return overrides.get(name, inherited)


def _edited(current: str, change: Change) -> str:
    """A list with elements added, each once, or taken away."""
    elements = dict.fromkeys(filter(None, current.split(",")))
    for element in filter(None, (change.value or "").split(",")):
        if change.operation == Operation.APPEND:
            elements[element] = None
        else:
            elements.pop(element, None)
    return ",".join(elements)
