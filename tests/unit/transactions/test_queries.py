import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions.queries import TransactionListing, describe_transaction, list_transactions
from fencepost.transactions.states import TransactionState
from tests.unit.transactions.driver import ID, INVOICES, CoordinatorDriver


@pytest.fixture
def driver() -> CoordinatorDriver:
    """`a-empty` is Empty, `b-open` Ongoing since 5 s, `c-done` CompleteCommit."""
    driver = CoordinatorDriver()
    driver.owner("a-empty")
    driver.add(driver.owner("b-open"), INVOICES, transactional_id="b-open")
    done = driver.owner("c-done")
    driver.add(done, INVOICES, transactional_id="c-done")
    driver.end(done, version=4, transactional_id="c-done")
    driver.pass_time(5000)
    return driver


def listed(driver: CoordinatorDriver, **filters: object) -> list[str]:
    listing = list_transactions(driver.state, now_ms=driver.now_ms, **filters)  # type: ignore[arg-type]
    assert isinstance(listing, TransactionListing)
    return [transaction.transactional_id for transaction in listing.transactions]


def test_without_filters_every_id_is_listed_in_order(driver: CoordinatorDriver) -> None:
    assert listed(driver) == ["a-empty", "b-open", "c-done"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"state_filters": ["Ongoing"]}, ["b-open"]),
        ({"state_filters": ["Empty", "CompleteCommit"]}, ["a-empty", "c-done"]),
        ({"state_filters": ["Dead"]}, []),
        ({"state_filters": ["ongoing"]}, []),
        ({"producer_id_filters": [1, 99]}, ["b-open"]),
        ({"state_filters": ["Ongoing"], "duration_filter_ms": 4999}, ["b-open"]),
        ({"state_filters": ["Ongoing"], "duration_filter_ms": 5000}, []),
        ({"duration_filter_ms": 6000}, ["a-empty"]),
        ({"duration_filter_ms": -1}, ["a-empty", "b-open", "c-done"]),
        ({"transactional_id_pattern": "[ab]-.*"}, ["a-empty", "b-open"]),
        ({"transactional_id_pattern": "open"}, []),
        ({"transactional_id_pattern": ""}, ["a-empty", "b-open", "c-done"]),
        ({"transactional_id_pattern": "b-.*", "state_filters": ["Empty"]}, []),
    ],
)
def test_an_id_is_listed_if_it_passes_every_filter(
    driver: CoordinatorDriver, filters: dict[str, object], expected: list[str]
) -> None:
    assert listed(driver, **filters) == expected


def test_state_names_that_do_not_exist_are_named_in_the_answer(driver: CoordinatorDriver) -> None:
    listing = list_transactions(driver.state, state_filters=["Ongoing", "Sleeping"], now_ms=driver.now_ms)
    assert isinstance(listing, TransactionListing)
    assert listing.unknown_state_filters == ["Sleeping"]
    assert [transaction.transactional_id for transaction in listing.transactions] == ["b-open"]


def test_a_bad_pattern_refuses_the_whole_listing(driver: CoordinatorDriver) -> None:
    refusal = list_transactions(driver.state, transactional_id_pattern="(", now_ms=driver.now_ms)
    assert isinstance(refusal, Refusal)
    assert refusal.error_code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_describing_shows_the_open_transaction(driver: CoordinatorDriver) -> None:
    transaction = describe_transaction(driver.state, "b-open")
    assert not isinstance(transaction, Refusal)
    assert transaction.state is TransactionState.ONGOING
    assert transaction.partitions == {INVOICES}


@pytest.mark.parametrize(
    ("transactional_id", "error_code"),
    [("", ErrorCode.INVALID_REQUEST), (ID, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)],
)
def test_an_id_that_is_not_there_cannot_be_described(
    driver: CoordinatorDriver, transactional_id: str, error_code: ErrorCode
) -> None:
    refusal = describe_transaction(driver.state, transactional_id)
    assert isinstance(refusal, Refusal)
    assert refusal.error_code is error_code
