import threading

import pytest

from fencepost.pipelines.stage import SinkGate, Stopping


def test_the_sinks_own_exception_is_kept():
    def sink(batch, batch_id):
        raise LookupError(f"micro-batch {batch_id}")

    gate = SinkGate(sink)
    with pytest.raises(LookupError):
        gate("batch", 7)
    assert isinstance(gate.problem, LookupError)


def test_a_closed_gate_lets_nothing_in_and_is_no_problem_of_the_sink():
    seen = []
    gate = SinkGate(lambda batch, batch_id: seen.append(batch_id))
    gate("batch", 1)
    assert gate.close(timeout_s=1)
    with pytest.raises(Stopping):
        gate("batch", 2)
    assert seen == [1]
    assert gate.problem is None


def test_closing_waits_for_the_micro_batch_inside_and_says_if_it_did_not_come_out():
    inside, may_leave = threading.Event(), threading.Event()

    def sink(batch, batch_id):
        inside.set()
        may_leave.wait()

    gate = SinkGate(sink)
    thread = threading.Thread(target=gate, args=("batch", 1))
    thread.start()
    inside.wait()
    assert not gate.close(timeout_s=0.01)
    may_leave.set()
    assert gate.close(timeout_s=60)
    thread.join()
