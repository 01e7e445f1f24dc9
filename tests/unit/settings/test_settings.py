import pytest

from fencepost.settings import (
    BrokerSettings,
    InvalidSetting,
    TopicSettings,
    as_text,
    declarations,
    parse_settings,
    parse_value,
    topic_defaults,
)


def test_names_are_kafkas_own() -> None:
    names = declarations(BrokerSettings)
    assert {"num.partitions", "auto.create.topics.enable", "transaction.max.timeout.ms", "fsync"} <= set(names)


def test_every_default_is_a_value_that_the_setting_accepts() -> None:
    for settings_class in (BrokerSettings, TopicSettings):
        for declaration in declarations(settings_class).values():
            assert parse_value(declaration, as_text(declaration.default)) == declaration.default


def test_every_setting_has_help_that_says_something() -> None:
    for settings_class in (BrokerSettings, TopicSettings):
        for declaration in declarations(settings_class).values():
            assert len(declaration.help) > 10, declaration.name


def test_given_values_are_parsed_by_type() -> None:
    given = {"num.partitions": "12", "auto.create.topics.enable": "false", "fsync": "never"}
    settings = parse_settings(BrokerSettings, given)
    assert (settings.num_partitions, settings.auto_create_topics_enable, settings.fsync) == (12, False, "never")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("num.partition", "3", "did you mean 'num.partitions'?"),
        ("num.partitions", "three", "expected a whole number at least 1"),
        ("num.partitions", "0", "at least 1"),
        ("auto.create.topics.enable", "yes", "expected true or false"),
        ("fsync", "sometimes", "one of always, never"),
        ("transaction.version", "3", "at most 2"),
    ],
)
def test_a_bad_setting_is_refused_by_name_with_what_was_expected(name: str, text: str, said: str) -> None:
    with pytest.raises(InvalidSetting) as refusal:
        parse_settings(BrokerSettings, {name: text})
    assert name in str(refusal.value)
    assert said in str(refusal.value)


def test_a_topic_takes_its_defaults_from_the_broker() -> None:
    broker = parse_settings(BrokerSettings, {"log.retention.ms": "1000", "message.max.bytes": "2000"})
    topic = parse_settings(TopicSettings, {"retention.bytes": "5"}, base=topic_defaults(broker))
    assert (topic.retention_ms, topic.max_message_bytes, topic.retention_bytes) == (1000, 2000, 5)
