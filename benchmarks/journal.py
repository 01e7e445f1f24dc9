"""The journal against the bare file system, as ratios taken in one run.

Each part says in its module what exactly is compared. Exit code 1 if a goal is missed. `docs/benchmarks.md` explains
the figures.
"""

import argparse
import sys
from pathlib import Path

from journal_parts import append_throughput, group_commit, interleaved_reading, memory, reopening
from support.figures import Figure, add_arguments, exit_code, print_figures, print_heading
from support.scratch import DEFAULT_FOLDER, scratch_folder

PARTS = {
    "append": append_throughput,
    "group": group_commit,
    "reopen": reopening,
    "interleaved": interleaved_reading,
    "memory": memory,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="where to make the temporary data folder")
    parser.add_argument("--part", choices=sorted(PARTS), action="append", help="only this part; may be repeated")
    arguments = parser.parse_args()
    figures: list[Figure] = []
    for name in arguments.part or PARTS:
        part = PARTS[name]
        print_heading((part.__doc__ or name).strip().splitlines()[0], as_json=arguments.json)
        with scratch_folder(arguments.folder) as folder:
            found = part.measure(folder, quick=arguments.quick)
        print_figures(found, as_json=arguments.json)
        figures += found
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())
