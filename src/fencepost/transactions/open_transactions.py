"""What is remembered about an open transaction, in memory only: its connections, and since when it has been seen.

**Delayed EndTxn.** Up to v4 an EndTxn names no transaction, only an epoch that many transactions share. One that
comes late, from a connection whose client has long moved on to another, would end the wrong transaction. So: an
EndTxn whose connection is older than the one that opened the current transaction, and has carried nothing for this id
since, is not answered and its connection is closed. A living client asks again on a new connection; a late packet has
nobody behind it. After a restart every connection is new and the opener is unknown, so nobody is turned away.
"""

from fencepost.transactions.log_entries import NO_CONNECTION


class OpenTransaction:
    __slots__ = ("connections_since", "first_seen_monotonic_ms", "opened_on")

    def __init__(self, opened_on: int) -> None:
        self.opened_on = opened_on
        self.connections_since: set[int] = set()
        self.first_seen_monotonic_ms: int | None = None

    def carried_on(self, connection_id: int) -> None:
        """Only older connections can ever be turned away, so only they are worth remembering."""
        if connection_id < self.opened_on:
            self.connections_since.add(connection_id)

    def is_stranger(self, connection_id: int) -> bool:
        """The connection is older than this transaction and nothing of it came through there."""
        if connection_id == NO_CONNECTION:
            return False
        return connection_id < self.opened_on and connection_id not in self.connections_since
