"""Run every benchmark of this folder, one after the other. Arguments (--quick, --json) are handed on.

Exit code 1 if one of them missed a goal or failed.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    missed = []
    for path in sorted(FOLDER.glob("*.py")):
        if path == Path(__file__).resolve():
            continue
        if "--json" not in sys.argv:
            print(f"\n=== benchmarks/{path.name} {'=' * (60 - len(path.name))}", flush=True)
        if subprocess.run([sys.executable, str(path), *sys.argv[1:]], check=False).returncode:
            missed.append(path.name)
    if missed:
        print(f"\nmissed a goal or failed: {', '.join(missed)}", file=sys.stderr)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
