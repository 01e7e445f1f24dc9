"""Lists and descriptions of groups."""

from fencepost.errors import ErrorCode
from fencepost.groups.listing import describe_consumer_group, describe_group, list_groups
from fencepost.wire.messages.list_groups import ListedGroup
from tests.unit.groups.coordinator import GROUP, Consumer, Coordinator


def three_kinds() -> Coordinator:
    """A simple group, a classic one that is stable, a KIP-848 one."""
    coordinator = Coordinator()
    coordinator.create_topic("purchases", 2)
    coordinator.commit(1, group_id="simple")
    coordinator.stable_group(2)
    Consumer(coordinator, "a", ("purchases",), group_id="modern").beat()
    return coordinator


def test_every_group_is_listed_once_with_state_and_type():
    assert sorted(list_groups(three_kinds().state), key=lambda group: group.group_id) == [
        ListedGroup(GROUP, "consumer", "Stable", "classic"),
        ListedGroup("modern", "consumer", "Stable", "consumer"),
        ListedGroup("simple", "", "Empty", "classic"),
    ]


def test_a_group_shows_metadata_and_assignments_unless_they_are_about_to_change():
    coordinator = three_kinds()
    ids = list(coordinator.state.classic[GROUP].members)
    described = describe_group(coordinator.state, GROUP, api_version=6)
    assert (described.group_state, described.protocol_type, described.protocol_data) == ("Stable", "consumer", "range")
    assert [(m.member_metadata, m.member_assignment, m.client_id) for m in described.members] == [
        (b"range metadata", member_id.encode(), "client") for member_id in ids
    ]
    coordinator.join(ids[0])
    described = describe_group(coordinator.state, GROUP, api_version=6)
    assert (described.group_state, described.protocol_data) == ("PreparingRebalance", "")
    assert [(m.member_metadata, m.member_assignment) for m in described.members] == [(b"", b"")] * 2


def test_no_such_group_is_dead_to_old_clients_and_an_error_to_newer_ones():
    state = three_kinds().state
    for group_id in ("nobody", "modern"):
        assert describe_group(state, group_id, api_version=5).error_code == ErrorCode.NONE
        assert describe_group(state, group_id, api_version=5).group_state == "Dead"
        assert describe_group(state, group_id, api_version=6).error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_consumer_group_shows_epochs_assignments_and_targets():
    coordinator = three_kinds()
    Consumer(coordinator, "b", ("purchases",), group_id="modern", server_assignor="range").beat()
    described = describe_consumer_group(coordinator.state, "modern")
    assert (described.group_state, described.group_epoch, described.assignment_epoch) == ("Reconciling", 2, 2)
    assert described.assignor_name == "range"
    first, second = described.members
    assert [topic.topic_name for topic in first.assignment.topic_partitions] == ["purchases"]
    assert first.assignment.topic_partitions[0].partitions == [0, 1]
    assert second.assignment.topic_partitions == []
    assert second.target_assignment.topic_partitions[0].partitions == [1]


def test_only_consumer_groups_are_described_as_such():
    state = three_kinds().state
    for group_id in ("nobody", GROUP, "simple"):
        assert describe_consumer_group(state, group_id).error_code == ErrorCode.GROUP_ID_NOT_FOUND
