"""The same history writes the same log, whatever seed Python hashes strings with."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

HISTORY = """
import hashlib
from fencepost.groups.checkpoint import dump_state
from tests.unit.groups.coordinator import Consumer, Coordinator

coordinator = Coordinator()
coordinator.stable_group(5)
for name in ("orders", "returns", "payments"):
    coordinator.create_topic(name, 7)
consumers = [
    Consumer(coordinator, f"member-{n}", topics, group_id=f"modern-{n % 2}")
    for n, topics in enumerate([("orders", "returns"), ("returns",), ("orders", "payments"), ("payments",)] * 3)
]
for _ in range(6):
    for consumer in consumers:
        consumer.beat(group_id=consumer.fields["group_id"])
for n in range(40):
    coordinator.txn_commit(n % 3, n, topic=f"topic-{n % 5}", group_id=f"simple-{n % 4}")
coordinator.marker(1, is_commit=True)
coordinator.delete_group("simple-2")
coordinator.advance(10**7)
digest = hashlib.sha256(repr(coordinator.log).encode())
digest.update(repr(list(coordinator.answered.values())).encode())
digest.update(dump_state(coordinator.state))
print(digest.hexdigest(), len(coordinator.log))
"""


def test_the_log_and_the_answers_do_not_depend_on_the_hash_seed():
    outputs = []
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", HISTORY]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT)
        outputs.append(done.stdout)
    assert len(set(outputs)) == 1
    assert int(outputs[0].split()[1]) > 100
