"""The journal against the bare file system, as ratios taken in one run.

Each part says in its module what exactly is compared. Exit code 1 if a goal is missed. `docs/benchmarks.md` explains
the figures.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from journal_parts import append_throughput, group_commit, interleaved_reading, memory, reopening
from support.figures import Figure, run_benchmark
from support.scratch import DEFAULT_FOLDER, scratch_folder

PARTS = {
    "append": append_throughput,
    "group": group_commit,
    "reopen": reopening,
    "interleaved": interleaved_reading,
    "memory": memory,
}


def parts(arguments: argparse.Namespace, _: ExitStack) -> Iterator[tuple[str, list[Figure]]]:
    for name in arguments.part or PARTS:
        part = PARTS[name]
        with scratch_folder(arguments.folder) as folder:
            yield (part.__doc__ or name).strip().splitlines()[0], part.measure(folder, quick=arguments.quick)


OPTIONS: dict[str, dict[str, Any]] = {
    "--folder": {"type": Path, "default": DEFAULT_FOLDER, "help": "where to make the temporary data folder"},
    "--part": {"choices": sorted(PARTS), "action": "append", "help": "only this part; may be repeated"},
}

if __name__ == "__main__":
    sys.exit(run_benchmark(__doc__, parts, OPTIONS))
