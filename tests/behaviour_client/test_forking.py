"""Processes that fork, as Spark's workers do: the child has a producer of its own, the parent's still works."""

import os

import pytest

from fencepost.client import Producer
from fencepost.client.exceptions import IllegalState
from tests.behaviour_client.reading import values


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_makes_its_own_producer_and_leaves_the_parents_alone(fencepost_servers: str, name: str) -> None:
    with Producer(fencepost_servers) as producer:
        producer.send(name, b"parent", partition=0).result(30)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                producer.send(name, b"never")
            except IllegalState as refused:
                producer.close()
                with Producer(fencepost_servers) as own:
                    own.send(name, b"child", partition=0).result(30)
                code = 0 if "fork" in str(refused) else 2
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        producer.send(name, b"parent again", partition=0).result(30)
    assert values(fencepost_servers, name) == [b"parent", b"child", b"parent again"]
