"""The crux: what a peer and a zombie can do under three schemes of transactional ids."""

from collections import Counter

from examples.documents.programs import HARM
from examples.documents.squares.__main__ import INPUT_TOPIC, OUTPUT_TOPIC, PARTITIONS, Squares, play
from examples.documents.waiting import wait_for
from fencepost.client.serializers import deserialize_integer
from tests.documents_running.playing import OpenStage


def test_peers_that_share_a_transactional_id_fence_each_other(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        outcome = play(stage, "shared")
    assert outcome.fenced == 2
    assert outcome.account.anomalies == HARM["squares", "shared"]


def test_with_random_ids_a_zombie_blocks_readers_and_repeats(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        outcome = play(stage, "random")
    assert outcome.has_blocked_readers
    assert outcome.account.anomalies == HARM["squares", "random"]
    assert not outcome.fenced


def test_with_ids_pinned_to_the_input_partition_a_zombie_does_neither_and_is_fenced(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        outcome = play(stage, "pinned")
    assert not outcome.has_blocked_readers
    assert outcome.account.anomalies == HARM["squares", "pinned"]
    assert outcome.fenced == 1


def test_the_three_stages_run_in_any_order_and_the_output_stage_shows_each_square_once(open_stage: OpenStage) -> None:
    count = 4 * PARTITIONS
    with open_stage() as stage:
        squares = Squares(stage, "pinned")
        stage.skip_backlog("output-stage", OUTPUT_TOPIC)
        output = stage.start("examples.documents.squares.output_stage")
        squares.feed(count)
        squares.start()
        expected = Counter(value * value for value in range(count))
        wait_for("every square is shown", lambda: output.said.count("Got record") >= count, lambda: output.said)
        shown = Counter(int(line.rsplit(" ", 1)[1]) for line in output.said.splitlines() if line.startswith("Got"))
        assert shown == expected
        inputs = sorted(deserialize_integer(record.value) or 0 for record in stage.read(INPUT_TOPIC))
        assert inputs == list(range(count))
