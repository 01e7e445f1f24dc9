"""From a data folder to a broker core that has recovered what the folder holds."""

import secrets
from contextlib import ExitStack
from pathlib import Path

from fencepost.broker.core import BrokerCore
from fencepost.journal.config import JournalConfig
from fencepost.journal.journal import Journal
from fencepost.server.clocks import read_clocks
from fencepost.server.file_disk import FileDisk
from fencepost.settings import BrokerSettings


def open_core(folder: Path, settings: BrokerSettings) -> BrokerCore:
    """Take ownership of the folder, recover, and roll forward what a crash left half done."""
    config = JournalConfig(segment_bytes=settings.log_segment_bytes, syncs_commits=settings.fsync == "always")
    journal = Journal.open(FileDisk(folder), config, salt=lambda: secrets.randbits(64))
    core = BrokerCore(journal, settings, random_bytes=secrets.token_bytes)
    core.log_dir = str(folder)
    with ExitStack() as on_failure:
        on_failure.callback(journal.abandon)
        core.recover(read_clocks())
        on_failure.pop_all()
    return core
