import threading

import pytest

from fencepost.pipelines.stage import SinkDoor, Stopping


def test_the_sinks_own_exception_is_kept():
    def sink(batch, batch_id):
        raise LookupError(f"micro-batch {batch_id}")

    door = SinkDoor(sink)
    with pytest.raises(LookupError):
        door("batch", 7)
    assert isinstance(door.problem, LookupError)


def test_a_closed_door_lets_nobody_in_and_is_no_problem_of_the_sink():
    seen = []
    door = SinkDoor(lambda batch, batch_id: seen.append(batch_id))
    door("batch", 1)
    assert door.close(timeout_s=1)
    with pytest.raises(Stopping):
        door("batch", 2)
    assert seen == [1]
    assert door.problem is None


def test_closing_waits_for_the_micro_batch_inside_and_says_if_it_did_not_come_out():
    inside, may_leave = threading.Event(), threading.Event()

    def sink(batch, batch_id):
        inside.set()
        may_leave.wait()

    door = SinkDoor(sink)
    thread = threading.Thread(target=door, args=("batch", 1))
    thread.start()
    inside.wait()
    assert not door.close(timeout_s=0.01)
    may_leave.set()
    assert door.close(timeout_s=60)
    thread.join()
