"""A run that is started ahead: it has its JVM, its session and its modules, and waits on standard input for the
arguments of `fencepost`. From then on it is that command.
"""

import json
import sys
from pathlib import Path

from fencepost.cli.main import main
from fencepost.lab.apache_kafka import SHORT_LIVED
from fencepost.pipelines.loading import SessionStarter
from fencepost.pipelines.session import DEFAULT_MASTER, JAVA_OPTIONS

if __name__ == "__main__":
    settings = {JAVA_OPTIONS: " ".join(SHORT_LIVED)}
    starter = SessionStarter(master=DEFAULT_MASTER, app_name="spare", settings=settings, folder=Path.cwd())
    starter.begin()
    starter()
    if arguments := sys.stdin.readline():
        main(json.loads(arguments), prog_name="fencepost")
