"""Both flows on one broker, and a client that changes from one to the other."""

from fencepost.errors import ErrorCode
from fencepost.types import ProducerIdentity
from fencepost.wire.messages.api_versions import ApiVersionsRequest
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import SETTINGS, Shop
from tests.unit.broker.builders import Broker


def finalized_transaction_version(shop: Shop) -> int:
    reply = shop.broker.ask(ApiVersionsRequest("test", "1"), 4)
    (level,) = [each.max_version_level for each in reply.finalized_features if each.name == "transaction.version"]
    return int(level)


def test_clients_of_both_flows_work_side_by_side_on_the_same_partitions(shop: Shop) -> None:
    """Scenario 43, with requests in the versions that the clients choose."""
    classic, bumping = shop.producer("classic", flow=1), shop.producer("bumping", flow=2)
    for number in range(3):
        for producer in (classic, bumping):
            producer.send(f"{producer.transactional_id}-{number}".encode())
        classic.commit()
        bumping.end(committed=number != 1)
    assert shop.committed() == [b"classic-0", b"bumping-0", b"classic-1", b"classic-2", b"bumping-2"]
    assert (classic.identity.producer_epoch, bumping.identity.producer_epoch) == (0, 3)


def test_a_client_goes_on_with_an_epoch_per_transaction_when_the_broker_comes_back_with_level_2(
    open_shop: OpenShop,
) -> None:
    """Scenario 44. The level is a setting given at the start, so raising it is a restart. The client sees the higher
    level, ends what it has open in the old way, initialises with its identity and goes on in the other flow."""
    shop = open_shop(transaction_version="1")
    assert finalized_transaction_version(shop) == 1
    old = shop.producer(flow=1)
    old.send(b"a")
    shop.broker.core.close()
    shop.broker = Broker(disk=shop.broker.disk, now=shop.broker.now, transaction_version="2", **SETTINGS)
    assert finalized_transaction_version(shop) == 2
    assert old.commit().error_code == ErrorCode.NONE
    new = shop.producer(flow=2, presented=old.identity)
    assert new.identity == (old.identity.producer_id, old.identity.producer_epoch + 1)
    new.send(b"b")
    new.commit()
    assert new.identity == ProducerIdentity(old.identity.producer_id, old.identity.producer_epoch + 2)
    assert shop.committed() == [b"a", b"b"]
