"""Frames that were damaged on the way, or made up: the only error is a `WireError`, time and memory stay bounded.

Memory is bounded by the size of the frame. The factor is that of the worst message, one of many empty structs, where
two or three bytes become an object with its lists; a count that is not backed by bytes takes nothing.
"""

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema

from fencepost.errors import WireError
from fencepost.wire.api import API_TABLE, Api
from fencepost.wire.codec import encode_request, encode_response, read_request, read_response
from tests.unit.wire.trees import to_ours, trees

BYTES_PER_FRAME_BYTE_MAX = 64
BYTES_ALWAYS_ALLOWED = 64 * 1024
SECONDS_MAX = 2.0
HUGE_COUNTS = [
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\x07",
]
APIS = [pytest.param(api, id=api.name) for api in API_TABLE.values()]
ALL_CLASSES = [(api.request_class, api.response_class) for api in API_TABLE.values()]
"""Imported before anything is measured: a flipped bit in a header may lead to any API."""
few_and_unshrunk = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


@st.composite
def damage(draw: st.DrawFn, frame: bytes) -> bytes:
    """Flip a bit, cut the end off, write a huge count over something, repeat a part, or put noise inside."""
    at = draw(st.integers(0, max(0, len(frame) - 1)))
    match draw(st.sampled_from(["flip", "cut", "count", "repeat", "noise"])):
        case "flip":
            flipped = (frame[at] ^ 1 << draw(st.integers(0, 7))) if frame else 0
            return frame[:at] + bytes([flipped]) + frame[at + 1 :]
        case "cut":
            return frame[:at]
        case "count":
            count = draw(st.sampled_from(HUGE_COUNTS))
            return frame[:at] + count + frame[at + len(count) :]
        case "repeat":
            return frame[:at] + frame[at : at + 50] * draw(st.integers(2, 20)) + frame[at:]
        case _:
            return frame[:at] + draw(st.binary(max_size=20)) + frame[at:]


def read_within_bounds(read: Callable[[], object], frame_bytes: int) -> None:
    tracemalloc.start()
    started = time.perf_counter()
    try:
        read()
    except WireError:
        pass
    finally:
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak_bytes <= BYTES_ALWAYS_ALLOWED + BYTES_PER_FRAME_BYTE_MAX * frame_bytes
    assert time.perf_counter() - started < SECONDS_MAX


def read_either(api: Api, version: int, side: str, frame: bytes) -> None:
    if side == "request":
        read_within_bounds(lambda: read_request(frame), len(frame))
    else:
        read_within_bounds(lambda: read_response(api.key, version, frame), len(frame))


def frame_of(api: Api, version: int, side: str, data: Any) -> bytes:
    kio_class = (load_request_schema if side == "request" else load_response_schema)(api.key, version)
    our_class = api.request_class if side == "request" else api.response_class
    message = to_ours(data.draw(trees(kio_class, for_kio=False)), our_class, kio_class)
    if side == "request":
        return b"".join(encode_request(api.key, version, 1, "client", message))[4:]
    return b"".join(encode_response(api.key, version, 1, message))[4:]


@pytest.mark.parametrize("api", APIS)
@few_and_unshrunk
@given(data=st.data(), side=st.sampled_from(["request", "response"]))
def test_a_damaged_frame_is_read_or_refused_within_bounds(api: Api, data: Any, side: str) -> None:
    version = data.draw(st.integers(api.min_version, api.max_version))
    frame = frame_of(api, version, side, data)
    for _ in range(8):
        read_either(api, version, side, data.draw(damage(frame)))


@given(frame=st.binary(max_size=200))
def test_noise_is_read_or_refused_within_bounds(frame: bytes) -> None:
    read_within_bounds(lambda: read_request(frame), len(frame))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("filling", [b"\x00", b"\x01", b"\x02", b"\x00\x01", b"\x7f", b"\xff"])
def test_a_body_of_one_repeated_byte_stays_within_bounds(api: Api, filling: bytes) -> None:
    """Zeros and ones make the longest arrays of the smallest structs."""
    for version in {api.min_version, api.flexible_from, api.max_version}:
        if not api.has_version(version):
            continue
        header = api.key.to_bytes(2, "big") + version.to_bytes(2, "big") + b"\x00\x00\x00\x01\xff\xff\x00"
        for count in (b"", b"\xb0\x09", b"\x00\x00\x03\xe8"):
            body = count + filling * 2500
            read_either(api, version, "request", header + body)
            read_either(api, version, "response", header[4:8] + b"\x00" + body)


@pytest.mark.parametrize(
    ("api_key", "version", "body"),
    [
        pytest.param(3, 9, b"\xff\xff\xff\xff\x0f", id="topics"),
        pytest.param(3, 1, b"\x7f\xff\xff\xff", id="topics before version 9"),
        pytest.param(26, 3, b"\xff\xff\xff\xff\x0f", id="string"),
        pytest.param(18, 3, b"\x01\x01\xff\xff\xff\xff\x0f", id="tagged fields"),
        pytest.param(18, 3, b"\x01\x01\x01\x05\xff\xff\xff\xff\x0f", id="tagged field"),
        pytest.param(0, 3, b"\xff\xff\x00\x01\x00\x00\x00\x00\x7f\xff\xff\xff", id="partitions"),
    ],
)
def test_a_count_that_is_not_backed_by_bytes_takes_no_memory(api_key: int, version: int, body: bytes) -> None:
    tags = b"\x00" if version >= API_TABLE[api_key].flexible_from else b""
    frame = api_key.to_bytes(2, "big") + version.to_bytes(2, "big") + b"\x00\x00\x00\x01\xff\xff" + tags + body
    with pytest.raises(WireError):
        read_request(frame)
    read_within_bounds(lambda: read_request(frame), len(frame))
