"""Offsets of a group within a transaction: pending, visible, dropped, fenced, deleted."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.delete_groups import DeleteGroupsRequest
from tests.scenarios.shop import GROUP, Shop
from tests.unit.broker.handlers.members import join, sync

UNSTABLE = ErrorCode.UNSTABLE_OFFSET_COMMIT


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_pending_offsets_are_unstable_or_unseen_until_the_end_also_across_restarts(
    shop: Shop, flow: int, committed: bool
) -> None:
    """Scenario 37."""
    shop.commit_offset(3)
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    assert producer.send_offset(7) == ErrorCode.NONE
    for come_back in (shop.kill, shop.restart, shop.kill):
        assert shop.offset() == (UNSTABLE, -1)
        assert shop.offset(require_stable=False) == (ErrorCode.NONE, 3)
        come_back()
    producer.end(committed=committed)
    for _ in range(2):
        assert shop.offset() == shop.offset(require_stable=False) == (ErrorCode.NONE, 7 if committed else 3)
        shop.kill()


def test_a_plain_commit_between_the_transactional_one_and_its_marker_stays(shop: Shop, flow: int) -> None:
    """Scenario 38."""
    producer = shop.producer(flow=flow)
    producer.send_offset(7)
    assert shop.commit_offset(5) == ErrorCode.NONE
    assert shop.offset(require_stable=False) == (ErrorCode.NONE, 5)
    producer.commit()
    for _ in range(2):
        assert shop.offset() == (ErrorCode.NONE, 5)
        shop.kill()


def test_a_member_that_is_not_the_current_one_commits_nothing(shop: Shop, flow: int) -> None:
    """Scenario 39."""
    joined = join(shop.broker, group_instance_id="till-1")
    sync(shop.broker, joined, {joined.member_id: b""})
    producer = shop.producer(flow=flow)
    current = {"member_id": joined.member_id, "generation_id": joined.generation_id}
    old_generation = {**current, "generation_id": joined.generation_id - 1}
    assert producer.send_offset(7, **old_generation) == ErrorCode.ILLEGAL_GENERATION
    assert producer.send_offset(7, **{**current, "member_id": "ghost"}) == ErrorCode.UNKNOWN_MEMBER_ID
    wrong_instance = {**current, "member_id": "ghost", "group_instance_id": "till-1"}
    assert producer.send_offset(7, **wrong_instance) == ErrorCode.FENCED_INSTANCE_ID
    assert shop.offset() == (ErrorCode.NONE, -1)
    assert producer.send_offset(7, **current) == ErrorCode.NONE
    assert shop.offset() == (UNSTABLE, -1)
    producer.commit()
    assert shop.offset() == (ErrorCode.NONE, 7)


def test_offsets_of_a_deleted_group_do_not_come_back_with_their_transaction(shop: Shop, flow: int) -> None:
    """Scenario 41."""
    shop.commit_offset(3)
    producer = shop.producer(flow=flow)
    producer.send_offset(7)
    (deleted,) = shop.broker.ask(DeleteGroupsRequest([GROUP])).results
    assert deleted.error_code == ErrorCode.NONE
    assert producer.commit().error_code == ErrorCode.NONE
    for _ in range(2):
        assert shop.offset() == (ErrorCode.NONE, -1)
        shop.kill()
