"""What the name of Spark's master says. Imports nothing: whoever starts a session asks before there is a Spark."""


def is_local(master: str) -> bool:
    """Whether tasks are threads of the driver's JVM, and their workers processes beside it."""
    return master == "local" or master.startswith("local[")
