"""Assignors on random problems: complete, exclusive, within subscriptions, balanced, sticky, blind to order."""

from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.groups.assignors import ASSIGNORS, AssignmentProblem, assign_uniform

TOPIC_IDS = [UUID(int=number) for number in range(1, 5)]
counts = st.fixed_dictionaries({topic_id: st.integers(0, 12) for topic_id in TOPIC_IDS})
members = st.text("abcdef", min_size=1, max_size=3)
subscriptions = st.dictionaries(members, st.frozensets(st.sampled_from(TOPIC_IDS)), min_size=1, max_size=8)


def problem(subscribed, partition_counts, current=None):
    return AssignmentProblem(
        subscriptions=subscribed, instance_ids={}, partition_counts=partition_counts, current=current or {}
    )


@given(subscriptions, subscriptions, counts, st.sampled_from(sorted(ASSIGNORS)))
@settings(max_examples=300, deadline=None)
def test_every_subscribed_partition_goes_to_one_subscriber_whatever_was_before(before, after, partition_counts, name):
    assign = ASSIGNORS[name]
    target = assign(problem(after, partition_counts, assign(problem(before, partition_counts))))
    assert target.keys() == after.keys()
    given_out = [each for partitions in target.values() for each in partitions]
    assert len(given_out) == len(set(given_out))
    expected = {topic_id for topics in after.values() for topic_id in topics}
    assert set(given_out) == {
        each for topic_id in expected for each in problem(after, partition_counts).partitions_of(topic_id)
    }
    for member_id, partitions in target.items():
        assert all(each.topic_id in after[member_id] for each in partitions)


@given(st.sets(members, min_size=1, max_size=8), st.sets(members, min_size=1, max_size=8), counts)
@settings(max_examples=300, deadline=None)
def test_uniform_is_balanced_and_moves_as_little_as_it_can(before, after, partition_counts):
    everything = frozenset(TOPIC_IDS)
    first = assign_uniform(problem(dict.fromkeys(sorted(before), everything), partition_counts))
    second = assign_uniform(problem(dict.fromkeys(sorted(after), everything), partition_counts, first))
    sizes = [len(partitions) for partitions in second.values()]
    assert max(sizes) - min(sizes) <= 1
    # What stays could hardly be more: every member keeps what it had, up to the larger share, which only some may have.
    quota, extra = divmod(sum(partition_counts.values()), len(after))
    had = sorted((len(first.get(member_id, ())) for member_id in after), reverse=True)
    could_stay = sum(min(size, quota + (position < extra)) for position, size in enumerate(had))
    stayed = sum(len(partitions & first.get(member_id, frozenset())) for member_id, partitions in second.items())
    assert stayed == could_stay


@given(subscriptions, counts, st.sampled_from(sorted(ASSIGNORS)), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_the_order_in_which_members_are_listed_does_not_matter(subscribed, partition_counts, name, random):
    shuffled = list(subscribed.items())
    random.shuffle(shuffled)
    assign = ASSIGNORS[name]
    assert assign(problem(dict(shuffled), partition_counts)) == assign(problem(subscribed, partition_counts))


@given(subscriptions, counts)
@settings(max_examples=200, deadline=None)
def test_uniform_leaves_no_single_move_that_would_balance_better(subscribed, partition_counts):
    target = assign_uniform(problem(subscribed, partition_counts))
    for heavy, partitions in target.items():
        for light, topics in subscribed.items():
            if len(target[light]) + 2 <= len(partitions):
                assert not any(each.topic_id in topics for each in partitions), f"{heavy} could help {light}"
