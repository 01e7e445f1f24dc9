"""Runs the notebook from its first cell to its last, and says where it shows something else than what is saved in it.

`--save` saves what it shows instead, and one of its pictures for the page in `docs/`. What depends on the machine
(times, the version of Python) is not kept, so that a run that shows the same leaves the same file.
"""

import argparse
import difflib
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

FOLDER = Path(__file__).resolve().parent
NOTEBOOK = FOLDER / "transactions.ipynb"
PICTURE = FOLDER.parents[1] / "docs" / "notebook.svg"
CELL_OF_PICTURE = "held-back"
CELL_TIMEOUT_S = 300
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
SVG = "image/svg+xml"


def load(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def run(notebook: NotebookNode) -> NotebookNode:
    """The same cells with what they show here and now."""
    cells = [{**cell, "outputs": []} if cell.cell_type == "code" else cell for cell in notebook.cells]
    fresh = nbformat.from_dict({**notebook, "cells": cells})
    with tempfile.TemporaryDirectory() as sockets:
        # Sockets of the file system: no port that another process may take, nobody who can connect from elsewhere.
        connection = Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"})
        nbclient.NotebookClient(
            fresh,
            config=connection,
            kernel_name=KERNEL["name"],
            timeout=CELL_TIMEOUT_S,
            record_timing=False,
            coalesce_streams=True,  # a print may arrive in two pieces
            resources={"metadata": {"path": str(FOLDER)}},
        ).execute()
    fresh.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    return fresh


def shown(notebook: NotebookNode) -> dict[str, list[str]]:
    """Cell id -> everything that it shows, text and pictures, line by line."""
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts = [text for output in cell.outputs for text in _texts(output)]
            found[cell.id] = "\n".join(texts).splitlines()
    return found


def _texts(output: NotebookNode) -> list[str]:
    return [output.text] if "text" in output else [output.data[kind] for kind in sorted(output.get("data", {}))]


def differences(saved: NotebookNode, fresh: NotebookNode) -> list[str]:
    before, after = shown(saved), shown(fresh)
    return [
        line
        for cell in after
        for line in difflib.unified_diff(before[cell], after[cell], f"{cell}, saved", f"{cell}, shown", lineterm="")
    ]


def picture(notebook: NotebookNode) -> str:
    """The last picture of the cell that the page in `docs/` shows."""
    [cell] = [cell for cell in notebook.cells if cell.id == CELL_OF_PICTURE]
    return str([output.data[SVG] for output in cell.outputs if SVG in output.get("data", {})][-1]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.notebook", description=__doc__)
    parser.add_argument("--save", action="store_true", help="save what the notebook shows")
    parser.add_argument("notebook", nargs="?", type=Path, default=NOTEBOOK)
    arguments = parser.parse_args()
    saved = load(arguments.notebook)
    fresh = run(saved)
    if arguments.save:
        nbformat.write(fresh, arguments.notebook)
        PICTURE.write_text(picture(fresh), encoding="utf-8")
        return 0
    found = differences(saved, fresh)
    if found:
        print("\n".join(found))
        return 1
    print(f"{len(shown(fresh))} cells show what is saved in {arguments.notebook.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
