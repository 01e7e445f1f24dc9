"""Holds back the first record of a transaction while the markers of the last one are still being written.

In the second flow Apache Kafka answers EndTxn before it has written the markers. A Produce that comes meanwhile is put
aside by the broker for 20 ms (its `add.partitions.to.txn.retry.backoff.ms`), when one or two would be enough. So the
coordinator is asked how far it is, at most for as long as the broker would wait. One that is never found busy at first
answers after its markers, as ours does: it is not asked any more.
"""

import time

from fencepost.client.transaction_control import TransactionControl

BROKER_PAUSE_S = 0.02
ASK_AGAIN_S = 0.0003
TRIALS = 32
"""After so many transactions that all found the markers written, the coordinator is believed."""


class MarkerWait:
    def __init__(self, control: TransactionControl) -> None:
        self._control = control
        self._ended_s = float("-inf")
        self._trials_left = TRIALS
        self._was_ever_busy = False

    def transaction_ended(self) -> None:
        self._ended_s = time.monotonic()

    def wait(self) -> None:
        """Before the first request of a transaction."""
        give_up_s = self._ended_s + BROKER_PAUSE_S
        if not self._trials_left or time.monotonic() >= give_up_s:
            return
        was_busy = False
        while time.monotonic() < give_up_s and self._control.is_ending():
            was_busy = True
            time.sleep(ASK_AGAIN_S)
        self._was_ever_busy |= was_busy
        self._trials_left -= not self._was_ever_busy
