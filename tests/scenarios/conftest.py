from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.scenarios.shop import Shop

OpenShop = Callable[..., Shop]


@pytest.fixture
def open_shop() -> Iterator[OpenShop]:
    """Opens shops with settings; after the test the invariants are checked on each of them."""
    shops: list[Shop] = []

    def open_one(**settings: Any) -> Shop:
        shops.append(Shop(**settings))
        return shops[-1]

    yield open_one
    for shop in shops:
        shop.check()


@pytest.fixture
def shop(open_shop: OpenShop) -> Shop:
    return open_shop()


@pytest.fixture(params=[1, 2], ids=["classic flow", "epoch per transaction"])
def flow(request: pytest.FixtureRequest) -> int:
    return int(request.param)
