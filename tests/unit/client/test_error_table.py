"""The table of error codes: complete, and of one mind with the classes that it raises."""

import pytest

from fencepost.client.error_table import (
    BY_REQUEST,
    FIND_COORDINATOR_AGAIN,
    REFRESH_METADATA,
    Category,
    category_of,
    error_of,
    meaning_of,
)
from fencepost.client.exceptions import (
    Authorization,
    ClientError,
    DuplicateSequence,
    FatalError,
    IllegalState,
    OutOfOrderSequence,
    ProducerFenced,
    UnsupportedVersion,
)
from fencepost.errors import ErrorCode


@pytest.mark.parametrize("code", [code for code in ErrorCode if code is not ErrorCode.NONE])
def test_every_code_has_an_exception_that_says_what_was_refused_and_why(code: ErrorCode) -> None:
    error = error_of(code, "AnyRequest", what="topic 'x'", explanation="because")
    assert error.error_code is code
    assert str(error) == f"topic 'x': AnyRequest was answered with {code.name}: because"


@pytest.mark.parametrize(("api_name", "code"), BY_REQUEST)
def test_a_code_that_means_something_else_in_a_request_differs_there(api_name: str, code: ErrorCode) -> None:
    assert meaning_of(code, api_name) != meaning_of(code)


@pytest.mark.parametrize("code", sorted(FIND_COORDINATOR_AGAIN | REFRESH_METADATA))
def test_what_is_looked_for_again_is_tried_again(code: ErrorCode) -> None:
    assert category_of(code) is Category.RETRIABLE


def test_the_categories_are_those_of_the_specification() -> None:
    assert category_of(ErrorCode.CONCURRENT_TRANSACTIONS) is Category.RETRIABLE
    assert category_of(ErrorCode.INVALID_PRODUCER_EPOCH, "Produce") is Category.ABORTABLE
    assert category_of(ErrorCode.INVALID_PRODUCER_EPOCH, "EndTxn") is Category.FENCED
    assert category_of(ErrorCode.PRODUCER_FENCED, "InitProducerId") is Category.FENCED
    assert category_of(ErrorCode.INVALID_TXN_STATE, "AddPartitionsToTxn") is Category.FATAL
    assert category_of(ErrorCode.TRANSACTION_ABORTABLE) is Category.ABORTABLE
    assert category_of(ErrorCode.FENCED_INSTANCE_ID, "TxnOffsetCommit") is Category.ABORTABLE


def test_a_code_that_is_newer_than_the_table_is_fatal_and_shown_as_a_number() -> None:
    error = error_of(9999, "Produce")
    assert isinstance(error, FatalError)
    assert "9999" in str(error)


@pytest.mark.parametrize(
    "name", [ProducerFenced, OutOfOrderSequence, DuplicateSequence, IllegalState, UnsupportedVersion]
)
def test_the_documents_names_are_below_one_category_each(name: type[ClientError]) -> None:
    assert sum(issubclass(name, category.value) for category in Category) == 1


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ],
)
def test_missing_rights_can_be_caught_as_one(code: ErrorCode) -> None:
    assert isinstance(error_of(code, "AnyRequest"), Authorization)
