import pytest
from kio.index import load_request_schema, load_response_schema

from fencepost.wire.api import API_TABLE, Api, advertised
from tests.unit.wire import kafka_python

APIS = [pytest.param(api, id=api.name) for api in API_TABLE.values()]


@pytest.mark.parametrize("api", APIS)
def test_header_versions_are_those_of_kio(api: Api) -> None:
    for version in range(api.min_version, api.max_version + 1):
        request, response = load_request_schema(api.key, version), load_response_schema(api.key, version)
        assert api.request_header_version(version) == request.__header_schema__.__version__
        assert api.response_header_version(version) == response.__header_schema__.__version__


@pytest.mark.parametrize("api", APIS)
def test_message_classes_have_the_versions_of_the_table(api: Api) -> None:
    for message in (api.request_class, api.response_class):
        assert (api.min_version, api.max_version) == (message.MIN_VERSION, message.MAX_VERSION)


def test_field_names_are_those_of_kafkas_own_schemas() -> None:
    """kafka-python carries Kafka's schema files; three messages are renamed there by hand."""
    checked = 0
    for api in API_TABLE.values():
        for message in (api.request_class, api.response_class):
            known = kafka_python.message_classes().get(message.__name__)
            if known is None:
                continue
            ours = set(message.__dataclass_fields__)  # type: ignore[attr-defined]
            theirs = {name for name, field in known._struct.fields.items() if field._versions[1] >= api.min_version}
            assert ours >= theirs - {"authorized_operations"}
            checked += len(theirs)
    assert checked > 200


def test_only_what_the_broker_handles_is_advertised_in_the_order_of_the_keys() -> None:
    assert advertised([26, 3]) == [(3, 0, 13), (26, 0, 5)]


def test_produce_is_advertised_from_zero_although_versions_below_three_are_not_read() -> None:
    assert advertised([0]) == [(0, 0, 13)]
    assert not API_TABLE[0].has_version(2)


def test_the_unstable_version_of_init_producer_id_is_advertised_only_on_request() -> None:
    assert advertised([22]) == [(22, 0, 5)]
    assert advertised([22], with_unstable=True) == [(22, 0, 6)]
    assert API_TABLE[22].has_version(6)
