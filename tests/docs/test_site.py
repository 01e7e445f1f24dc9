"""The site: it builds without a warning, every link in it leads somewhere, and reading it needs no other host."""

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
from mkdocs.exceptions import PluginError

from tests.peers import ROOT

DOCS = ROOT / "docs"
FETCHED_BY_STYLES = re.compile(r"url\(['\"]?(?:https?:)?//|@import\s+['\"]?(?:https?:)?//")
ASSET_ATTRIBUTES = ("src", "srcset", "poster", "data")
LINK_RELATIONS_THAT_FETCH_NOTHING = {"canonical", "next", "prev", "license"}


@dataclass(slots=True)
class Found:
    """What a page of HTML refers to, and what can be referred to in it."""

    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)


class Finder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = Found()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.found.names |= {given[name] for name in ("id", "name") if name in given}
        self.found.classes |= set(given.get("class", "").split())
        self.found.assets += [given[name] for name in ASSET_ATTRIBUTES if name in given]
        if tag == "a" and "href" in given:
            self.found.links.append(given["href"])
        if tag == "link" and given.get("rel") not in LINK_RELATIONS_THAT_FETCH_NOTHING:
            self.found.assets.append(given["href"])


@cache
def look_into(page: Path) -> Found:
    finder = Finder()
    finder.feed(page.read_text(encoding="utf-8"))
    return finder.found


def is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def leads_nowhere(page: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return True
    return bool(parts.fragment) and unquote(parts.fragment) not in look_into(target).names


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_document_is_a_page_and_in_the_menu(site: Path) -> None:
    menu = look_into(site / "index.html").links
    documents = [path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")]
    assert len(documents) > 30
    assert [name for name in documents if name not in menu] == []
    named = re.findall(r"[\w/-]+\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(set(named)) == sorted(named)


def test_every_link_leads_somewhere(pages: list[Path]) -> None:
    links = [(page, link) for page in pages if page.name != "404.html" for link in look_into(page).links]
    assert len(links) > 1000
    assert [(page.name, link) for page, link in links if leads_nowhere(page, link)] == []


def test_no_page_needs_another_host(site: Path, pages: list[Path]) -> None:
    assets = [(page.name, asset) for page in pages for asset in look_into(page).assets]
    assert assets
    assert [one for one in assets if is_elsewhere(one[1])] == []
    sheets = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert sheets
    assert [found for sheet in sheets for found in FETCHED_BY_STYLES.findall(sheet)] == []


def test_no_page_asks_for_mermaid_which_would_be_fetched(pages: list[Path]) -> None:
    assert [page.name for page in pages if {"mermaid", "language-mermaid"} & look_into(page).classes] == []


def test_the_search_knows_the_pages_but_not_the_sources(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert '"location":"tutorial.html' in index
    assert '"location":"source/' not in index


def test_the_checks_find_what_they_look_for(tmp_path: Path) -> None:
    other, page = tmp_path / "other.html", tmp_path / "page.html"
    other.write_text('<h2 id="here">x</h2>')
    page.write_text('<script src="//far.example/x.js"></script><link rel="icon" href="https://far.example/i.png">')
    assert [link for link in ("other.html#here", "other.html", "#") if leads_nowhere(page, link)] == []
    assert leads_nowhere(page, "missing.html")
    assert leads_nowhere(page, "other.html#there")
    assert [is_elsewhere(asset) for asset in look_into(page).assets] == [True, True]
    assert FETCHED_BY_STYLES.search("@font-face { src: url(https://far.example/f.woff) }")


@pytest.fixture
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "scripts" / "site_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_link_out_of_docs_leads_to_a_page_of_that_file(hooks: ModuleType) -> None:
    text = "[map](../ARCHITECTURE.md#rooms) [test](../tests/peers.py) [page](client.md) [far](https://far.example/)"
    assert hooks.with_site_links(text, "docs/index.md", "index.md") == (
        "[map](source/ARCHITECTURE.md#rooms) [test](source/tests/peers.py.md) [page](client.md) [far](https://far.example/)"
    )


def test_a_link_from_such_a_page_leads_back(hooks: ModuleType) -> None:
    text = "[page](../../docs/client.md) [program](averages.py)\n```\n[in](code.py)\n```\n"
    assert hooks.with_site_links(text, "examples/arrow/README.md", "source/examples/arrow/README.md") == (
        "[page](../../../client.md) [program](averages.py.md)\n```\n[in](code.py)\n```\n"
    )


def test_a_link_to_a_file_that_is_not_there_stops_the_build(hooks: ModuleType) -> None:
    with pytest.raises(PluginError, match=r"docs/index\.md links to \.\./gone\.py"):
        hooks.with_site_links("[gone](../gone.py)", "docs/index.md", "index.md")


def test_a_diagram_is_drawn_and_its_arrows_are_explained(hooks: ModuleType) -> None:
    arrows = (
        "[*] --> Empty: begun\nEmpty --> Empty: kept\nEmpty --> Open\nOpen --> Empty: ended\nEmpty --> Open: again\n"
    )
    picture, table = hooks.with_pictures(f"```mermaid\nstateDiagram-v2\n{arrows}```\n").split("\n\n")
    assert re.findall(r"<text x[^>]*>(\w+)</text>", picture) == ["Empty", "Open"]
    assert re.findall(r'class="number"[^>]*>([\d, ]+)<', picture) == ["1", "2", "3, 5", "4"]
    assert picture.count("marker-end") == 4
    assert table.splitlines()[2:] == [
        "| 1 | - | Empty | begun |",
        "| 2 | Empty | Empty | kept |",
        "| 3 | Empty | Open |  |",
        "| 4 | Open | Empty | ended |",
        "| 5 | Empty | Open | again |",
    ]


def test_a_notebook_is_shown_with_its_text_programs_and_pictures(site: Path) -> None:
    page = (site / "source" / "examples" / "notebook" / "transactions.ipynb.html").read_text(encoding="utf-8")
    assert page.count("<svg xmlns") > 5
    assert "EmbeddedBroker" in page
    assert "cell_type" not in page
