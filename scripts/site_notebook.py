"""A notebook as a page of the site: its text, its programs and what they printed or drew when it was saved."""

import json
from typing import Any

PICTURE = "image/svg+xml"
TEXT = "text/plain"


def page_of_notebook(notebook: str) -> str:
    return "\n\n".join(part for cell in json.loads(notebook)["cells"] for part in parts_of(cell)) + "\n"


def parts_of(cell: dict[str, Any]) -> list[str]:
    source = joined(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [fenced("python", source), *[shown(output) for output in cell["outputs"]]]


def shown(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if PICTURE in data:
        # In one line: Markdown takes an empty one for the end of the picture.
        return f"<div>{joined(data[PICTURE]).replace(chr(10), '')}</div>"
    return fenced("text", joined(data.get(TEXT) or output.get("text", "")))


def fenced(language: str, text: str) -> str:
    return f"``````{language}\n{text.rstrip()}\n``````"


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
