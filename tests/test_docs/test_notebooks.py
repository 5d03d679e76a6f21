"""The page of notebooks lists every notebook, and the copies in the site have links and fresh outputs."""

import json
import os
import re
import sys

import pytest
from pages import ROOT

sys.path.insert(0, str(ROOT / "docs/extensions"))

import notebook_pages

NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_the_page_lists_every_notebook():
    page = (ROOT / "docs/notebooks/index.md").read_text()
    assert re.findall(r"^\| \[.*?\]\(\.\./\.\./notebooks/(\w+)\.ipynb\)", page, re.MULTILINE) == NAMES
    assert re.findall(r"^\d\d_\w+$", page, re.MULTILINE) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_names_of_pages_become_links_to_pages(name):
    text = notebook_pages.page_text(ROOT / "notebooks" / f"{name}.ipynb")
    for target in re.findall(r"\]\((\S+?\.(?:md|ipynb))\)", text):
        place = "notebooks" if target.endswith(".ipynb") else "docs/notebooks"
        assert (ROOT / place / target).exists(), target
    words = "".join("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown")
    assert not re.search(r"`docs/\S+\.md`|`\w+\.ipynb`", words)


def test_an_executed_notebook_is_shown_until_its_source_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(notebook_pages, "EXECUTED", tmp_path / "build")
    source, executed = tmp_path / "a.ipynb", tmp_path / "build/a.ipynb"
    source.touch()
    assert notebook_pages.newest(source) == source
    executed.parent.mkdir()
    executed.touch()
    os.utime(source, (1000, 1000))
    assert notebook_pages.newest(source) == executed
    os.utime(source, (1e10, 1e10))
    assert notebook_pages.newest(source) == source
