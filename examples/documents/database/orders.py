"""The database of the order service, an SQLite file: orders, and an outbox for what is to be told of them."""

import sqlite3
from pathlib import Path

TOPIC = "orders"
RELAY_GROUP_ID = "outbox-relay"


def open_database(path: str | Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=30)
    with database:
        database.execute("CREATE TABLE IF NOT EXISTS orders (name TEXT PRIMARY KEY)")
        database.execute("CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY, message TEXT)")
    return database
