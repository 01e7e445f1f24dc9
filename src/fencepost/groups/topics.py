"""Topics as KIP-848 groups see them: which exist, and which of them a regular expression names.

Expressions are matched by RE2, which comes with Arrow: it is Kafka's dialect, and it takes linear time whatever a
client sends.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fencepost.groups.consumer_group import ConsumerMember, TopicMetadata

REGEX_CHARACTERS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class TopicImage:
    """All topics at one moment. `version` differs whenever they do. Expressions never name `internal` topics."""

    version: int
    topics: Mapping[str, TopicMetadata]
    internal: frozenset[str] = frozenset()


def is_regex_legal(regex: str) -> bool:
    return len(regex) <= REGEX_CHARACTERS_MAX and _match(regex, ["any"]) is not None


def _match(regex: str, names: list[str]) -> list[str] | None:
    """Names that the whole expression matches; None if it is not an expression."""
    # Arrow takes a while to load, and most groups name their topics.
    import pyarrow
    import pyarrow.compute

    try:
        matches = pyarrow.compute.match_substring_regex(
            pyarrow.array(names, pyarrow.string()), rf"\A(?:{regex})\z"
        ).to_pylist()
    except pyarrow.ArrowInvalid:
        return None
    return [name for name, is_match in zip(names, matches, strict=True) if is_match]


def subscribed_topics(member: ConsumerMember, names: Iterable[str]) -> frozenset[str]:
    """Which of these topics the member consumes."""
    candidates = list(names)
    subscribed = frozenset(member.subscribed_topic_names) & frozenset(candidates)
    if member.subscribed_topic_regex:
        subscribed |= frozenset(_match(member.subscribed_topic_regex, candidates) or ())
    return subscribed


def subscription_metadata(members: Iterable[ConsumerMember], image: TopicImage) -> dict[str, TopicMetadata]:
    """Every existing topic that somebody consumes."""
    named: set[str] = set()
    expressions: dict[str, None] = {}
    for member in members:
        named.update(member.subscribed_topic_names)
        if member.subscribed_topic_regex:
            expressions[member.subscribed_topic_regex] = None
    public = [name for name in image.topics if name not in image.internal]
    for regex in expressions:
        named.update(_match(regex, public) or ())
    return {name: image.topics[name] for name in sorted(named) if name in image.topics}
