"""What a view looks at: the object below it, and where in that object the view begins.

CPython copies every n-th byte of a `bytes` or `bytearray` ten times as fast as of a `memoryview`, and a view does not
tell where it begins: the addresses of both do.
"""

import ctypes

from fencepost.types import Buffer


class _Buffer(ctypes.Structure):
    """CPython's `Py_buffer`."""

    _fields_ = (
        ("address", ctypes.c_void_p),
        ("owner", ctypes.c_void_p),
        ("size_bytes", ctypes.c_ssize_t),
        ("item_bytes", ctypes.c_ssize_t),
        ("is_readonly", ctypes.c_int),
        ("dimensions", ctypes.c_int),
        ("format", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )
    address: int | None


_CONTIGUOUS = 0
_get_buffer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int)(
    ("PyObject_GetBuffer", ctypes.pythonapi)
)
_release_buffer = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_Buffer))(("PyBuffer_Release", ctypes.pythonapi))


def underlying(data: Buffer) -> tuple[bytes | bytearray, int]:
    """The bytes below a contiguous view and where it begins in them; a copy where there is something else below."""
    if isinstance(data, memoryview):
        below = data.obj
        if isinstance(below, bytes | bytearray):
            return below, _address(data) - _address(below)
        return bytes(data), 0
    return data, 0


def _address(data: Buffer) -> int:
    """Good as long as nobody resizes what is there."""
    found = _Buffer()
    _get_buffer(data, found, _CONTIGUOUS)
    try:
        return found.address or 0
    finally:
        _release_buffer(found)
