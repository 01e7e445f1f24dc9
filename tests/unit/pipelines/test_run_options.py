import pytest

from fencepost.pipelines.pipeline import pipeline
from fencepost.pipelines.run_options import (
    RunOptions,
    check_source,
    parse_assignments,
    session_options,
    sort_options,
)
from fencepost.settings import InvalidSetting


def test_each_option_goes_to_whom_it_belongs():
    sorted_options = sort_options(
        {
            "spark.sql.shuffle.partitions": "8",
            "maxOffsetsPerTrigger": "1000",
            "STARTINGOFFSETS": "latest",
            "mode": "executors",
            "transaction_timeout_ms": "90000",
            "max.retries": "7",
            "trigger": "1 second",
        }
    )
    assert sorted_options == RunOptions(
        source={"maxOffsetsPerTrigger": "1000", "startingOffsets": "latest"},
        sink={"mode": "executors", "transaction_timeout_ms": 90000, "max_retries": 7},
        trigger="1 second",
    )


def test_a_setting_of_both_clients_reaches_both_and_a_consumers_only_the_source():
    sorted_options = sort_options({"kafka.request.timeout.ms": "5000", "kafka.isolation.level": "read_uncommitted"})
    at_source = {"kafka.request.timeout.ms": "5000", "kafka.isolation.level": "read_uncommitted"}
    assert sorted_options == RunOptions(source=at_source, sink={"request_timeout_ms": "5000"})


def test_a_side_in_front_sends_an_option_to_that_side_only():
    given = {"source.kafka.bootstrap.servers": "other:9092", "sink.kafka.request.timeout.ms": "5000"}
    at_source = {"kafka.bootstrap.servers": "other:9092"}
    assert sort_options(given) == RunOptions(source=at_source, sink={"request_timeout_ms": "5000"})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("maxOffsetPerTrigger", "maxOffsetsPerTrigger"),
        ("transaction_timeout", "transaction_timeout_ms"),
        ("kafka.request.timeout", "kafka.request.timeout.ms"),
        ("kafka.bootstrap.servers", "use --bootstrap-servers"),
        ("subscribe", "what the pipeline reads"),
        ("is_stateful", "read from the plan"),
        ("checkpoint", "use --checkpoint"),
        ("sink.kafka.bootstrap.servers", "use --bootstrap-servers"),
        ("source.kafka.acks", r"'source.kafka.acks'.*the sink's only"),
        ("sink.kafka.isolation.level", r"'sink.kafka.isolation.level'.*the source's only"),
        ("source.mode", r"'source.mode'.*the sink's only"),
        ("max_retries", "max_retries.*whole number"),
        ("kafka.transaction.timeout.ms", "kafka.transaction.timeout.ms.*whole number"),
        ("source.trigger", "leave 'source.' out"),
        ("sink.trigger", "leave 'sink.' out"),
    ],
)
def test_an_option_that_cannot_be_is_refused_with_what_to_do(name, message):
    with pytest.raises(InvalidSetting, match=message):
        sort_options({name: "1 second"})


JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="ann" password="secret";'


def test_credentials_in_the_java_clients_way_reach_both_sides_or_the_one_that_is_named():
    at_source = {"kafka.sasl.username": "ann", "kafka.sasl.password": "secret"}
    at_sink = {"sasl_username": "ann", "sasl_password": "secret"}
    assert sort_options({"kafka.sasl.jaas.config": JAAS}) == RunOptions(source=at_source, sink=at_sink)
    assert sort_options({"source.kafka.sasl.jaas.config": JAAS}) == RunOptions(source=at_source)
    assert sort_options({"sink.kafka.SASL.jaas.config": JAAS}) == RunOptions(sink=at_sink)
    above = sort_options({"kafka.sasl.jaas.config": JAAS})
    assert above.over(sort_options({"kafka.sasl.username": "bob"})) == above
    with pytest.raises(InvalidSetting, match="was not understood"):
        sort_options({"kafka.sasl.jaas.config": "nonsense"})


def test_a_setting_that_the_sink_takes_as_a_number_is_one_under_kafkas_name_too():
    assert sort_options({"kafka.transaction.timeout.ms": "120000"}).sink == {"transaction_timeout_ms": 120000}


@pytest.mark.parametrize(
    "text",
    ["1 second", "500 milliseconds", "interval 2 minutes", "1 MINUTE", "1.5 seconds", "1 second 500 milliseconds"],
)
def test_a_trigger_is_a_time_as_spark_reads_one(text):
    assert sort_options({"trigger": text}).trigger == text


@pytest.mark.parametrize("text", ["soon", "", "5", "1second", "500 ms", "-1 second", "1 month", "1.5 minutes"])
def test_a_trigger_that_spark_would_not_understand_is_refused(text):
    with pytest.raises(InvalidSetting, match=f"option 'trigger' is '{text}'; expected .* such as 500 milliseconds"):
        sort_options({"trigger": text})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maxOffsetsPerTrigger": "abc"}, "maxOffsetsPerTrigger.*whole number"),
        ({"kafka.request.timeout.ms": "abc"}, "request.timeout.ms"),
        ({"endingOffsets": "latest"}, "for batch queries"),
    ],
)
def test_what_the_source_would_refuse_is_refused_before_a_run(options, message):
    with pytest.raises(InvalidSetting, match=message):
        check_source(sort_options(options), topics=["purchases"], bootstrap_servers="127.0.0.1:9092")


def test_a_right_source_is_not_refused():
    given = {"maxOffsetsPerTrigger": "5", "source.kafka.bootstrap.servers": "other:9092"}
    check_source(sort_options(given), topics=["purchases", "returns"], bootstrap_servers="127.0.0.1:9092")


def test_what_is_set_later_wins_and_the_rest_stays():
    below = RunOptions(source={"startingOffsets": "latest"}, trigger="5 seconds")
    above = RunOptions(source={"startingOffsets": "earliest"}, sink={"mode": "driver"})
    assert above.over(below) == RunOptions(above.source, {"mode": "driver"}, "5 seconds")


@pytest.mark.parametrize("text", ["mode", "=driver"])
def test_an_assignment_without_a_name_or_a_value_is_refused(text):
    with pytest.raises(InvalidSetting, match="OPTION=VALUE"):
        parse_assignments([text])


def asking(name, **options):
    return pipeline(name=name, reads="a", writes=name, options=options)(lambda a: a)


def test_the_session_is_made_with_what_the_pipelines_and_over_them_the_command_line_ask_of_spark():
    pipelines = [
        asking("one", **{"spark.sql.shuffle.partitions": "8", "mode": "driver"}),
        asking("two", **{"spark.sql.shuffle.partitions": "8", "spark.driver.memory": "1g"}),
    ]
    assert session_options({}, pipelines) == {"spark.sql.shuffle.partitions": "8", "spark.driver.memory": "1g"}
    given = {"spark.driver.memory": "4g", "mode": "executors", "spark.ui.enabled": "true"}
    assert session_options(given, pipelines) == {
        "spark.sql.shuffle.partitions": "8",
        "spark.driver.memory": "4g",
        "spark.ui.enabled": "true",
    }


def test_pipelines_that_want_their_session_differently_are_refused_until_the_command_line_decides():
    pipelines = [asking("one", **{"spark.driver.memory": "1g"}), asking("two", **{"spark.driver.memory": "2g"})]
    with pytest.raises(InvalidSetting, match=r"'one' and 'two' share.*=1g and .*=2g.*--set spark.driver.memory="):
        session_options({}, pipelines)
    assert session_options({"spark.driver.memory": "3g"}, pipelines) == {"spark.driver.memory": "3g"}
