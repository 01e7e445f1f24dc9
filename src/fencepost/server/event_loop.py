"""The event loop that the broker runs on: uvloop where it can be had."""

import asyncio
from importlib.util import find_spec


def new_event_loop() -> asyncio.AbstractEventLoop:
    if find_spec("uvloop") is None:  # not built for this platform
        return asyncio.new_event_loop()
    import uvloop

    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
