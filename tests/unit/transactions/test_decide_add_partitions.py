from fencepost.errors import ErrorCode
from fencepost.transactions.states import TransactionState
from fencepost.types import TopicPartition
from tests.unit.transactions.driver import INVOICES, SHIPMENTS, CoordinatorDriver


def test_partitions_accumulate_and_the_start_is_the_time_of_the_first() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    started_ms = driver.now_ms
    driver.add(owner, INVOICES)
    driver.pass_time(500)
    driver.add(owner, SHIPMENTS)
    assert driver.transaction.partitions == {INVOICES, SHIPMENTS}
    assert driver.transaction.start_timestamp_ms == started_ms
    assert driver.transaction.last_update_timestamp_ms == started_ms + 500


def test_partitions_that_are_all_there_cost_no_record() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner, INVOICES, SHIPMENTS)
    entries_before = len(driver.journal)
    assert driver.add(owner, SHIPMENTS) is ErrorCode.NONE
    assert len(driver.journal) == entries_before


def test_a_request_with_one_new_partition_among_known_ones_is_recorded() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner, INVOICES)
    driver.add(owner, INVOICES, SHIPMENTS)
    assert driver.crashed().transaction.partitions == {INVOICES, SHIPMENTS}


def test_the_next_transaction_starts_without_the_partitions_of_the_last() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner, INVOICES)
    driver.end(owner, version=4)
    driver.pass_time(10)
    driver.add(owner, SHIPMENTS)
    assert driver.transaction.partitions == {SHIPMENTS}
    assert driver.transaction.start_timestamp_ms == driver.now_ms


def test_the_record_remembers_which_flow_the_client_speaks() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner, INVOICES, version=2)
    assert driver.crashed().transaction.client_transaction_version == 2
    driver.add(owner, SHIPMENTS, version=0)
    assert driver.crashed().transaction.client_transaction_version == 0


def test_a_transaction_of_thousands_of_partitions_marks_each_of_them_once() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    partitions = [TopicPartition(f"topic-{number % 7}", number) for number in range(5000)]
    driver.add(owner, *partitions)
    driver.end(owner, version=5)
    assert [marker.topic_partition for marker in driver.markers] == sorted(partitions)


def test_verifying_never_adds() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    entries_before = len(driver.journal)
    assert driver.verify(owner, INVOICES) == [ErrorCode.TRANSACTION_ABORTABLE]
    assert len(driver.journal) == entries_before
    assert driver.transaction.state is TransactionState.EMPTY
