"""Hooks of the site: files of the repository that pages link to become pages, and diagrams become pictures.

A page in docs/ may link to a test, an example or another page of the repository (`../tests/...`), as it does where
the repository is read. On the site such a file is a page below `source/`, in no menu and not searched; a link from
there leads on in the same way, and back into docs/. Diagrams are written in Mermaid, whose program would have to be
fetched: they are drawn when the site is built.
"""

import posixpath
import re
import sys
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# A hook is loaded by its path: what lies beside it has to be found first.
sys.path.append(str(Path(__file__).parent))
from site_diagrams import with_pictures
from site_notebook import page_of_notebook

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs"
SOURCE = "source"
MARKDOWN, NOTEBOOK = ".md", ".ipynb"
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)((?:#[^)\s]*)?)\)")
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n"
LANGUAGES = {".py": "python", ".java": "java", ".toml": "toml", ".yml": "yaml"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every file that a page links to, and that those link to in turn."""
    waiting = [f"{DOCS}/{file.src_uri}" for file in files.documentation_pages()]
    seen = set(waiting)
    while waiting:
        origin = waiting.pop()
        for path in linked_files(origin):
            if path not in seen and not is_in_docs(path):
                seen.add(path)
                waiting.append(path)
                files.append(File.generated(config, page_of(path), content=text_of(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    origin = origin_of(page.file.src_uri)
    if not has_links(origin):
        return markdown
    return with_site_links(with_pictures(markdown), origin, page.file.src_uri)


def linked_files(origin: str) -> list[str]:
    """Repository paths of what a page or a notebook links to. A program links to nothing."""
    if not has_links(origin):
        return []
    text = FENCED.sub("", text_of(origin))
    return [resolve(origin, target) for target, _ in LINK.findall(text)]


def resolve(origin: str, target: str) -> str:
    """The repository path that a link means; a folder means its README."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    if (ROOT / path).is_dir():
        path = f"{path}/README.md"
    if not (ROOT / path).is_file():
        raise PluginError(f"{origin} links to {target}, which is not there")
    return path


def with_site_links(markdown: str, origin: str, page: str) -> str:
    def on_site(link: re.Match[str]) -> str:
        path = resolve(origin, link[1])
        uri = path.removeprefix(f"{DOCS}/") if is_in_docs(path) else page_of(path)
        return f"]({posixpath.relpath(uri, posixpath.dirname(page) or '.')}{link[2]})"

    pieces, end = [], 0
    for block in FENCED.finditer(markdown):
        pieces += [LINK.sub(on_site, markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*pieces, LINK.sub(on_site, markdown[end:])])


def has_links(path: str) -> bool:
    return path.endswith((MARKDOWN, NOTEBOOK))


def is_in_docs(path: str) -> bool:
    return path.startswith(f"{DOCS}/")


def page_of(path: str) -> str:
    return f"{SOURCE}/{path}" if path.endswith(MARKDOWN) else f"{SOURCE}/{path}{MARKDOWN}"


def origin_of(page: str) -> str:
    """The repository path of what a page shows."""
    if not page.startswith(f"{SOURCE}/"):
        return f"{DOCS}/{page}"
    path = page.removeprefix(f"{SOURCE}/")
    return path if (ROOT / path).is_file() else path.removesuffix(MARKDOWN)


def text_of(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(MARKDOWN):
        return NOT_SEARCHED + text
    if path.endswith(NOTEBOOK):
        return NOT_SEARCHED + page_of_notebook(text)
    language = LANGUAGES.get(PurePosixPath(path).suffix, "text")
    return f"{NOT_SEARCHED}# {path}\n\n``````{language}\n{text}``````\n"
