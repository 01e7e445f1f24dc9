"""Whole frames over a blocking socket, for what stands between client and broker. An end is an answer, no error."""

import contextlib
import socket
import struct

from fencepost.types import Buffer


def read_frame(sock: socket.socket) -> bytes | None:
    """The next frame without its length; None at the end of the connection, however it came."""
    prefix = _read(sock, 4)
    return None if prefix is None else _read(sock, struct.unpack(">i", prefix)[0])


def write_pieces(sock: socket.socket, pieces: list[Buffer]) -> bool:
    """Whether the other side could be reached."""
    try:
        sock.sendall(b"".join(pieces))
    except OSError:
        return False
    return True


def end(sock: socket.socket) -> None:
    """Shut down before closing: another thread may be waiting on it."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()


def _read(sock: socket.socket, size_bytes: int) -> bytes | None:
    data = bytearray()
    while len(data) < size_bytes:
        try:
            piece = sock.recv(size_bytes - len(data))
        except OSError:
            return None
        if not piece:
            return None
        data += piece
    return bytes(data)
