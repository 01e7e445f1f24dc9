"""What one node without an authorizer, quotas or other nodes answers to administrators who ask about them."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages import (
    create_acls,
    delete_acls,
    describe_acls,
    describe_client_quotas,
    describe_user_scram_credentials,
    list_partition_reassignments,
    update_features,
)
from tests.unit.broker.builders import Broker, versions_of


@pytest.mark.parametrize("version", versions_of("DescribeAcls"))
def test_there_are_no_access_rules(broker: Broker, version: int) -> None:
    described = broker.ask(describe_acls.DescribeAclsRequest(1, None, 1, None, None, 1, 1), version)
    assert (described.error_code, described.resources) == (ErrorCode.SECURITY_DISABLED, [])
    rule = create_acls.AclCreation(2, "orders", 3, "User:bob", "*", 3, 3)
    created = broker.ask(create_acls.CreateAclsRequest([rule, rule]), version)
    assert [result.error_code for result in created.results] == [ErrorCode.SECURITY_DISABLED] * 2
    rules = delete_acls.DeleteAclsFilter(2, "orders", 3, None, None, 1, 1)
    deleted = broker.ask(delete_acls.DeleteAclsRequest([rules]), version)
    assert [result.error_code for result in deleted.filter_results] == [ErrorCode.SECURITY_DISABLED]


@pytest.mark.parametrize("version", versions_of("DescribeClientQuotas"))
@pytest.mark.parametrize(
    ("component", "error_code", "entries"),
    [
        (("user", 2, None), ErrorCode.NONE, []),
        (("client-id", 0, "x"), ErrorCode.NONE, []),
        (("planet", 2, None), ErrorCode.UNSUPPORTED_VERSION, None),
        (("user", 7, None), ErrorCode.INVALID_REQUEST, None),
    ],
)
def test_nobody_has_a_quota(
    broker: Broker, version: int, component: tuple[Any, ...], error_code: ErrorCode, entries: list[Any] | None
) -> None:
    components = [describe_client_quotas.ComponentData(*component)]
    reply = broker.ask(describe_client_quotas.DescribeClientQuotasRequest(components), version)
    assert (reply.error_code, reply.entries) == (error_code, entries)


def test_nobody_has_credentials(broker: Broker) -> None:
    def described(*users: str) -> list[tuple[str, int]]:
        wanted = [describe_user_scram_credentials.UserName(user) for user in users]
        request = describe_user_scram_credentials.DescribeUserScramCredentialsRequest(wanted or None)
        reply = broker.ask(request)
        assert reply.error_code == ErrorCode.NONE
        return [(result.user, result.error_code) for result in reply.results]

    assert described() == []
    assert described("bob", "al", "bob") == [
        ("bob", ErrorCode.DUPLICATE_RESOURCE),
        ("al", ErrorCode.RESOURCE_NOT_FOUND),
    ]


def test_no_partition_is_being_moved(broker: Broker) -> None:
    reply = broker.ask(list_partition_reassignments.ListPartitionReassignmentsRequest(topics=None))
    assert (reply.error_code, reply.topics) == (ErrorCode.NONE, [])


@pytest.mark.parametrize("version", versions_of("UpdateFeatures"))
@pytest.mark.parametrize(
    ("feature", "level", "error_code"),
    [
        ("transaction.version", 2, ErrorCode.NONE),
        ("transaction.version", 1, ErrorCode.INVALID_UPDATE_VERSION),
        ("group.version", 0, ErrorCode.INVALID_UPDATE_VERSION),
        ("metadata.version", 1, ErrorCode.INVALID_UPDATE_VERSION),
    ],
)
def test_feature_levels_stay_as_they_were_set_at_the_start(
    broker: Broker, version: int, feature: str, level: int, error_code: ErrorCode
) -> None:
    update = update_features.FeatureUpdateKey(feature, level)
    reply = broker.ask(update_features.UpdateFeaturesRequest(feature_updates=[update]), version)
    assert reply.error_code == error_code
    assert bool(reply.error_message) == bool(error_code)
