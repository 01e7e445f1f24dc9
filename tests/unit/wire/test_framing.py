import struct
import time
import tracemalloc
from itertools import chain, pairwise, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import WireError
from fencepost.wire.framing import GROWTH, FrameReader


def framed(*frames: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)


def pull_all(reader: FrameReader) -> list[bytes]:
    frames = []
    while (frame := reader.pull()) is not None:
        frames.append(bytes(frame))
    return frames


@given(
    frames=st.lists(st.binary(max_size=50), max_size=20), cuts=st.lists(st.integers(0, 1100)), is_eager=st.booleans()
)
def test_frames_come_out_whole_however_the_bytes_are_cut(frames: list[bytes], cuts: list[int], is_eager: bool) -> None:
    stream, reader, pulled = framed(*frames), FrameReader(100), []
    edges = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    for start, end in pairwise(edges):
        reader.feed(stream[start:end])
        if is_eager:
            pulled += pull_all(reader)
    assert pulled + pull_all(reader) == frames


@settings(deadline=None)
@given(
    sizes=st.lists(st.sampled_from([0, 1, 100, 16_380, 20_000, 300_000]), max_size=5),
    steps=st.lists(st.integers(1, 200_000), max_size=20),
)
def test_frames_come_out_whole_whether_fed_or_received_into_their_room(sizes: list[int], steps: list[int]) -> None:
    frames = [bytes([number]) * size for number, size in enumerate(sizes)]
    stream, reader, pulled, at = framed(*frames), FrameReader(2**30), [], 0
    for step in chain(steps, repeat(65_536)):
        if at == len(stream):
            break
        room = reader.room()
        if room is None:
            received = min(step, len(stream) - at)
            reader.feed(stream[at : at + received])
        else:
            received = min(step, len(room), len(stream) - at)
            room[:received] = stream[at : at + received]
            reader.took(received)
        at += received
        pulled += pull_all(reader)
    assert pulled == frames
    assert not reader.has_partial_frame


def test_the_room_of_a_large_frame_is_what_is_missing_of_it_and_becomes_the_frame() -> None:
    reader = FrameReader(2**30)
    reader.feed(framed(bytes(1_000_000))[:50_004])
    assert reader.pull() is None
    room = reader.room()
    assert room is not None
    assert len(room) == 950_000
    reader.took(len(room))
    frame = reader.pull()
    assert frame is not None
    assert frame.obj is room.obj
    assert reader.room() is None


def test_room_grows_with_what_has_arrived_not_with_what_was_promised() -> None:
    reader = FrameReader(2**30)
    reader.feed(struct.pack(">i", 2**30) + bytes(996))
    assert reader.pull() is None
    taken = 1000
    for _ in range(3):
        room = reader.room()
        assert room is not None
        assert len(room) <= GROWTH * (taken + 1)
        reader.took(len(room))
        taken += len(room)
        assert reader.pull() is None


def test_a_frame_inside_one_chunk_is_a_view_of_it() -> None:
    chunk = framed(b"first", b"second")
    reader = FrameReader(100)
    reader.feed(chunk)
    frame = reader.pull()
    assert frame is not None
    assert frame.obj is chunk


def test_a_buffer_that_the_caller_uses_again_does_not_change_a_frame() -> None:
    buffer = bytearray(framed(b"before"))
    reader = FrameReader(100)
    reader.feed(buffer)
    buffer[4:] = b"AFTER!"
    assert reader.pull() == b"before"


def test_frames_stay_as_they_were_when_more_is_fed() -> None:
    stream = framed(b"first", b"second")
    reader = FrameReader(100)
    reader.feed(stream[:6])
    reader.feed(stream[6:])
    first = reader.pull()
    second = reader.pull()
    assert (first, second) == (b"first", b"second")
    assert first is not None
    assert first.readonly


@pytest.mark.parametrize("length", [-1, -(2**31), 101, 2**31 - 1])
@pytest.mark.parametrize("is_cut", [False, True])
def test_a_length_outside_the_limit_is_refused_as_soon_as_it_is_known(length: int, is_cut: bool) -> None:
    prefix = struct.pack(">i", length)
    reader = FrameReader(100)
    for piece in (prefix[:2], prefix[2:]) if is_cut else (prefix,):
        reader.feed(piece)
    with pytest.raises(WireError, match=str(length)):
        reader.pull()


def test_a_frame_at_the_limit_is_accepted() -> None:
    reader = FrameReader(100)
    reader.feed(framed(bytes(100)))
    assert reader.pull() == bytes(100)


def test_a_promised_length_takes_no_memory_before_the_bytes_arrive() -> None:
    tracemalloc.start()
    try:
        reader = FrameReader(2**30)
        reader.feed(struct.pack(">i", 2**30) + b"only this")
        assert reader.pull() is None
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_large_frame_in_pieces_is_gathered_without_copying_it_again_and_again() -> None:
    piece, count = bytes(64 * 1024), 1024
    reader = FrameReader(2**30)
    started = time.perf_counter()
    reader.feed(struct.pack(">i", len(piece) * count))
    for _ in range(count):
        assert reader.pull() is None
        reader.feed(piece)
    frame = reader.pull()
    assert frame is not None
    assert len(frame) == len(piece) * count
    # Copying what was gathered at each piece would move 32 GB.
    assert time.perf_counter() - started < 3
