import pytest

from fencepost.client.exceptions import ClientError
from fencepost.errors import ErrorCode
from fencepost.pipelines.graph import ALL, NONE, OUTPUTS, ensure_topics, graph_of
from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline

GRAPH = graph_of(
    [
        Pipeline(name="first", reads=("in",), writes=("middle",), function=lambda one: {}),
        Pipeline(name="second", reads=("middle",), writes=("out",), function=lambda one: {}),
    ]
)


class Cluster:
    """Answers as an `Admin` does, from the names that it was made with."""

    def __init__(self, *topics, refusal=None):
        self.topics, self.refusal = list(topics), refusal

    def describe_topics(self):
        return dict.fromkeys(self.topics)

    def create_topic(self, name):
        if self.refusal is not None:
            raise ClientError("no", error_code=self.refusal)
        self.topics.append(name)


def test_what_the_run_itself_writes_is_made_where_it_is_missing():
    cluster = Cluster("in", "out")
    assert ensure_topics(cluster, GRAPH, create=OUTPUTS) == ["middle"]
    assert cluster.topics == ["in", "out", "middle"]
    assert ensure_topics(cluster, GRAPH, create=OUTPUTS) == []


def test_a_missing_input_is_refused_with_the_nearest_and_nothing_is_made():
    cluster = Cluster("inn")
    with pytest.raises(InvalidPipeline, match="no topic 'in', to be read; did you mean 'inn'"):
        ensure_topics(cluster, GRAPH, create=OUTPUTS)
    assert cluster.topics == ["inn"]


def test_missing_inputs_are_made_only_if_asked_for():
    cluster = Cluster()
    assert ensure_topics(cluster, GRAPH, create=ALL) == ["in", "middle", "out"]


def test_with_none_a_missing_output_is_refused():
    with pytest.raises(InvalidPipeline, match="no topic 'middle', 'out', to be written"):
        ensure_topics(Cluster("in"), GRAPH, create=NONE)


def test_inputs_are_looked_for_on_the_sources_own_cluster():
    source, sink = Cluster("in"), Cluster()
    ensure_topics(sink, GRAPH, create=OUTPUTS, source_admin=source)
    assert (source.topics, sink.topics) == (["in"], ["middle", "out"])


def test_a_topic_that_somebody_else_made_in_between_is_as_good():
    ensure_topics(Cluster("in", refusal=ErrorCode.TOPIC_ALREADY_EXISTS), GRAPH, create=OUTPUTS)
    with pytest.raises(ClientError):
        ensure_topics(Cluster("in", refusal=ErrorCode.TOPIC_AUTHORIZATION_FAILED), GRAPH, create=OUTPUTS)
