"""How a sleeping sender is woken: a pipe that it polls, written to only if it would sleep too long otherwise."""

import contextlib
import os

NEVER_S = float("inf")
AT_ONCE_S = float("-inf")


class Alarm:
    """`set`, `ring_before` and `clear` are called with the lock held that guards what is slept for."""

    def __init__(self) -> None:
        self._receiver, self._sender = os.pipe()
        os.set_blocking(self._receiver, False)
        os.set_blocking(self._sender, False)
        self._sleeps_until_s = AT_ONCE_S
        self._is_closed = False

    def fileno(self) -> int:
        return self._receiver

    def set(self, until_s: float) -> None:
        self._sleeps_until_s = until_s

    def ring_before(self, moment_s: float) -> None:
        """Make sure that the sleeper looks again by then."""
        if self._sleeps_until_s > moment_s and not self._is_closed:
            self._sleeps_until_s = AT_ONCE_S
            with contextlib.suppress(BlockingIOError):
                os.write(self._sender, b"\x00")

    def clear(self) -> None:
        self._sleeps_until_s = AT_ONCE_S
        with contextlib.suppress(BlockingIOError):
            os.read(self._receiver, 4096)

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            os.close(self._receiver)
            os.close(self._sender)
