"""Options: what is accepted, what is refused and with which words. No broker: nothing is asked of one here."""

import pickle

import pytest

from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.settings import InvalidSetting
from fencepost.spark.options import InvalidOption, kafka_options
from fencepost.spark.source import FencepostDataSource
from fencepost.spark.source.options import DEFAULTS, source_options
from fencepost.types import TopicPartition

NEEDED = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "purchases"}
JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="shop" password="s3cret";'


def without(name: str) -> dict[str, str]:
    return {key: value for key, value in NEEDED.items() if key != name}


def test_names_are_compared_without_case() -> None:
    options = source_options({"KAFKA.Bootstrap.Servers": "a:1", "SUBSCRIBE": "t", "IncludeHEADERS": "TRUE"})
    assert options.kafka.bootstrap_servers == "a:1"
    assert options.topics.names == ("t",)
    assert options.include_headers


def test_committed_records_are_read_unless_asked_otherwise() -> None:
    assert ConsumerSettings().is_read_committed
    assert "isolation_level" not in source_options(NEEDED).kafka.keywords()
    chosen = source_options({**NEEDED, "kafka.isolation.level": "read_uncommitted"})
    assert chosen.kafka.keywords()["isolation_level"] == "read_uncommitted"


def test_any_setting_of_the_consumer_can_be_given() -> None:
    given = {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.username": "shop",
        "kafka.sasl.password": "s3cret",
        "kafka.ssl.truststore.location": "ca.pem",
        "kafka.ssl.truststore.type": "PEM",
        "kafka.request.timeout.ms": "1234",
    }
    assert source_options({**NEEDED, **given}).kafka.keywords() == {
        **DEFAULTS,
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "shop",
        "sasl_password": "s3cret",
        "ssl_truststore_location": "ca.pem",
        "request_timeout_ms": "1234",
    }


def test_credentials_may_be_written_as_the_java_client_takes_them() -> None:
    keywords = source_options({**NEEDED, "kafka.sasl.jaas.config": JAAS}).kafka.keywords()
    assert (keywords["sasl_username"], keywords["sasl_password"]) == ("shop", "s3cret")


def test_no_text_of_the_options_shows_a_secret() -> None:
    options = source_options({**NEEDED, "kafka.sasl.password": "s3cret", "kafka.ssl.key.password": "s3cret"})
    for shown in (repr(options), str(options), str(options.kafka), repr(options.kafka)):
        assert "s3cret" not in shown
    assert "sasl_password=********" in str(options.kafka)


def test_options_of_sparks_source_without_a_meaning_here_are_accepted() -> None:
    given = {"groupIdPrefix": "x", "kafkaConsumer.pollTimeoutMs": "512", "fetchOffset.numRetries": "3"}
    assert source_options({**NEEDED, **given, "kafka.group.id": "g"}) == source_options(NEEDED)


def test_the_source_can_be_pickled_and_stays_itself() -> None:
    made = FencepostDataSource({**NEEDED, "startingOffsets": '{"purchases": {"0": 3}}'})
    assert pickle.loads(pickle.dumps(made))._options == made._options


def test_assigned_partitions_are_sorted_and_each_there_once() -> None:
    options = source_options({**without("subscribe"), "assign": '{"b": [1, 0, 1], "a": ["0"]}'})
    assert options.topics.assigned == (TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("b", 1))


@pytest.mark.parametrize(("text", "expected"), [("15m", 900_000), ("500ms", 500), ("2 min", 120_000), ("7", 7)])
def test_durations_are_read_as_spark_reads_them(text: str, expected: int) -> None:
    assert source_options({**NEEDED, "maxTriggerDelay": text}).max_trigger_delay_ms == expected


REFUSED = [
    (without("kafka.bootstrap.servers"), "'kafka.bootstrap.servers' is missing: expected host:port"),
    ({**NEEDED, "kafka.bootstrap.servers": "localhost"}, "expected host:port"),
    (without("subscribe"), "exactly one of subscribe, subscribePattern and assign .* none of them is given"),
    ({**NEEDED, "assign": '{"t": [0]}'}, "subscribe and assign are given"),
    ({**NEEDED, "subscribe": " , "}, "'subscribe' is empty"),
    ({**without("subscribe"), "subscribePattern": "("}, "no regular expression"),
    ({**without("subscribe"), "assign": "purchases"}, r"'assign' is 'purchases': expected JSON such as"),
    ({**without("subscribe"), "assign": '{"t": [-1]}'}, "expected JSON such as"),
    ({**NEEDED, "startingOffset": "earliest"}, "unknown option 'startingoffset'; did you mean 'startingOffsets'"),
    ({**NEEDED, "path": "/x"}, "unknown option 'path'; expected one of subscribe,"),
    ({**NEEDED, "startingOffsets": "erliest"}, "'startingOffsets' is 'erliest': expected JSON .* or earliest"),
    ({**NEEDED, "startingOffsets": '{"t": 4}'}, "expected JSON such as"),
    ({**NEEDED, "startingOffsets": '{"t": {"0": -3}}'}, "expected at least -2"),
    ({**NEEDED, "startingOffsets": '{"t": {"0": "x"}}'}, "'startingOffsets' has 'x': expected a whole number"),
    ({**NEEDED, "startingTimestamp": "yesterday"}, "'startingTimestamp' has 'yesterday': expected a whole number"),
    ({**NEEDED, "startingTimestamp": "-5"}, "expected at least 0"),
    ({**NEEDED, "startingOffsetsByTimestampStrategy": "skip"}, "expected error or latest"),
    ({**NEEDED, "failOnDataLoss": "maybe"}, "'failOnDataLoss' is 'maybe': expected true or false"),
    ({**NEEDED, "maxOffsetsPerTrigger": "0"}, "'maxOffsetsPerTrigger' is '0': expected a whole number of at least 1"),
    ({**NEEDED, "minPartitions": "many"}, "'minPartitions' is 'many'"),
    ({**NEEDED, "maxTriggerDelay": "15 fortnights"}, "'maxTriggerDelay' is '15 fortnights': expected a number and"),
    ({**NEEDED, "minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"}, "=9 is more than maxOffsetsPerTrigger=8"),
    ({**NEEDED, "kafka.isolation.level": "committed"}, r"isolation.level=committed: expected .*read_committed"),
    ({**NEEDED, "kafka.isolaton.level": "x"}, "'kafka.isolaton.level'; did you mean 'kafka.isolation.level'"),
    ({**NEEDED, "kafka.auto.offset.reset": "latest"}, "'kafka.auto.offset.reset' cannot be set: .*startingOffsets"),
    ({**NEEDED, "kafka.value.deserializer": "x"}, "'kafka.value.deserializer' cannot be set: values are bytes"),
    ({**NEEDED, "kafka.enable.auto.commit": "true"}, "the checkpoint says"),
    ({**NEEDED, "kafka.ssl.truststore.type": "JKS"}, "'kafka.ssl.truststore.type' is JKS: only PEM"),
    ({**NEEDED, "kafka.sasl.jaas.config": "Krb5LoginModule s3cret"}, "'kafka.sasl.jaas.config' was not understood"),
    ({**NEEDED, "kafka.security.protocol": "SASL"}, "security.protocol=SASL: expected"),
]


@pytest.mark.parametrize(("options", "complaint"), REFUSED)
def test_a_bad_option_is_refused_when_the_data_frame_is_made(options: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidSetting, match=complaint) as problem:
        FencepostDataSource(options)
    assert "s3cret" not in str(problem.value)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"startingOffsets": "latest"}, "'startingOffsets' is latest"),
        ({"startingOffsets": '{"purchases": {"0": -1}}'}, "'startingOffsets' is latest"),
        ({"endingOffsets": "earliest"}, "'endingOffsets' is earliest"),
        ({"endingOffsets": '{"purchases": {"0": -2}}'}, "'endingOffsets' is earliest"),
        (
            {"startingOffsets": '{"purchases": {"0": 5}}', "endingOffsets": '{"purchases": {"0": 4}}'},
            "begins purchases-0 at offset 5, behind its end 4 in 'endingOffsets'",
        ),
    ],
)
def test_a_batch_query_with_bounds_the_wrong_way_round_is_refused(options: dict[str, str], complaint: str) -> None:
    made = FencepostDataSource({**NEEDED, **options})
    with pytest.raises(InvalidOption, match=complaint):
        made.reader(made.schema())


@pytest.mark.parametrize("option", ["endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"])
def test_a_stream_has_no_end(option: str) -> None:
    value = "1" if option == "endingTimestamp" else '{"purchases": {"0": 1}}'
    made = FencepostDataSource({**NEEDED, option: value})
    with pytest.raises(InvalidOption, match=f"'{option}' is for batch queries"):
        made.streamReader(made.schema())


def test_a_schema_cannot_be_chosen() -> None:
    made = FencepostDataSource(NEEDED)
    with pytest.raises(InvalidOption, match="the schema of this source is fixed: struct<key:binary"):
        made.reader(FencepostDataSource({**NEEDED, "includeHeaders": "true"}).schema())


def test_a_producers_options_are_checked_as_such() -> None:
    from fencepost.client.settings import ProducerSettings

    options = {"kafka.bootstrap.servers": "a:1", "kafka.linger.ms": "3", "subscribe": "not looked at"}
    assert kafka_options(options, ProducerSettings).keywords() == {"linger_ms": "3"}
    with pytest.raises(InvalidOption, match=r"unknown option 'kafka\.isolation\.level'"):
        kafka_options({**options, "kafka.isolation.level": "read_committed"}, ProducerSettings)
