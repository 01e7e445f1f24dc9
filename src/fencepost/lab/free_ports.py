"""Ports for servers that are started on loopback, and started again on the same port after a kill."""

import contextlib
import random
import socket

SERVER_PORTS = (15_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Ports that the system does not give to outgoing connections: those could take one before its server does."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(*SERVER_PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            if port not in ports:
                ports.append(port)
    return ports
