import pytest

from fencepost.pipelines.graph import graph_of
from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline


def stage(name, reads, writes):
    return Pipeline(name=name, reads=tuple(reads.split()), writes=tuple(writes.split()), function=lambda *inputs: {})


def test_stages_come_after_those_that_feed_them_whatever_the_order_of_the_file():
    graph = graph_of([stage("last", "c", "d"), stage("first", "a", "b"), stage("middle", "b", "c")])
    assert [one.name for one in graph.stages] == ["first", "middle", "last"]


def test_inputs_are_what_nobody_here_writes_and_outputs_what_somebody_does():
    graph = graph_of([stage("first", "a x", "b"), stage("second", "b y", "c d")])
    assert graph.inputs == ["a", "x", "y"]
    assert graph.outputs == ["b", "c", "d"]


def test_a_circle_is_refused_and_the_way_round_is_named():
    with pytest.raises(InvalidPipeline, match="in a circle: one -> two -> three -> one"):
        graph_of([stage("one", "a", "b"), stage("two", "b", "c"), stage("three", "c", "a")])


def test_the_drawing_shows_every_stage_under_its_input():
    graph = graph_of([stage("transfer", "transfers", "updates dead"), stage("balances", "updates", "balance")])
    assert graph.draw() == [
        "transfers",
        "└─▶ [transfer]",
        "    ├─▶ updates",
        "    │   └─▶ [balances]",
        "    │       └─▶ balance",
        "    └─▶ dead",
    ]


def test_a_stage_with_two_inputs_is_drawn_once_and_named_twice():
    graph = graph_of([stage("join", "orders payments", "receipts")])
    assert graph.draw() == [
        "orders",
        "└─▶ [join] + payments",
        "    └─▶ receipts",
        "payments",
        "└─▶ [join] + orders (see above)",
    ]


def test_two_readers_of_one_topic_are_drawn_beside_each_other():
    graph = graph_of([stage("one", "a", "b"), stage("two", "a", "c")])
    assert graph.draw() == ["a", "├─▶ [one]", "│   └─▶ b", "└─▶ [two]", "    └─▶ c"]
