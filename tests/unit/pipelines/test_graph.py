from textwrap import dedent

import pytest

from fencepost.client.exceptions import ClientError
from fencepost.errors import ErrorCode
from fencepost.pipelines.graph import ALL, NONE, OUTPUTS, ensure_topics, graph_of
from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline


def stage(name, reads, writes):
    return Pipeline(name=name, reads=tuple(reads.split()), writes=tuple(writes.split()), function=lambda *inputs: {})


def test_stages_come_after_those_that_feed_them_whatever_the_order_of_the_file():
    graph = graph_of([stage("last", "c", "d"), stage("first", "a", "b"), stage("middle", "b", "c")])
    assert [one.name for one in graph.stages] == ["first", "middle", "last"]


def test_inputs_are_written_elsewhere_and_outputs_here():
    graph = graph_of([stage("first", "a x", "b"), stage("second", "b y", "c d")])
    assert graph.inputs == ["a", "x", "y"]
    assert graph.outputs == ["b", "c", "d"]


def test_a_circle_is_refused_and_the_way_round_is_named():
    with pytest.raises(InvalidPipeline, match="in a circle: one -> two -> three -> one"):
        graph_of([stage("one", "a", "b"), stage("two", "b", "c"), stage("three", "c", "a")])


@pytest.mark.parametrize(
    ("stages", "drawing"),
    [
        (
            [stage("transfer", "transfers", "updates dead"), stage("balances", "updates", "balance")],
            """\
            transfers
            └─▶ [transfer]
                ├─▶ updates
                │   └─▶ [balances]
                │       └─▶ balance
                └─▶ dead
            """,
        ),
        (
            [stage("join", "orders payments", "receipts")],
            """\
            orders
            └─▶ [join] + payments
                └─▶ receipts
            payments
            └─▶ [join] + orders (see above)
            """,
        ),
        (
            [stage("one", "a", "b"), stage("two", "a", "c")],
            """\
            a
            ├─▶ [one]
            │   └─▶ b
            └─▶ [two]
                └─▶ c
            """,
        ),
    ],
    ids=["stages under their inputs", "two inputs", "two readers"],
)
def test_the_drawing_shows_every_stage_once_under_each_of_its_inputs(stages, drawing):
    assert graph_of(stages).draw() == dedent(drawing).splitlines()


GRAPH = graph_of([stage("first", "in", "middle"), stage("second", "middle", "out")])


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
    assert ensure_topics(Cluster(), GRAPH, create=ALL) == ["in", "middle", "out"], "inputs only if asked for"


@pytest.mark.parametrize(
    ("there", "create", "message"),
    [
        ("inn", OUTPUTS, "no topic 'in', to be read; did you mean 'inn'"),
        ("in", NONE, "no topic 'middle', 'out', to be written"),
    ],
)
def test_a_missing_topic_that_is_not_to_be_made_is_refused_with_the_nearest_and_nothing_is_made(there, create, message):
    cluster = Cluster(there)
    with pytest.raises(InvalidPipeline, match=message):
        ensure_topics(cluster, GRAPH, create=create)
    assert cluster.topics == [there]


def test_inputs_are_looked_for_on_the_sources_own_cluster():
    source, sink = Cluster("in"), Cluster()
    ensure_topics(sink, GRAPH, create=OUTPUTS, source_admin=source)
    assert (source.topics, sink.topics) == (["in"], ["middle", "out"])


def test_a_topic_that_somebody_else_made_in_between_is_as_good():
    ensure_topics(Cluster("in", refusal=ErrorCode.TOPIC_ALREADY_EXISTS), GRAPH, create=OUTPUTS)
    with pytest.raises(ClientError):
        ensure_topics(Cluster("in", refusal=ErrorCode.TOPIC_AUTHORIZATION_FAILED), GRAPH, create=OUTPUTS)
