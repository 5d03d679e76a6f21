"""The page of notebooks lists every notebook, and the copies in the site have links and fresh outputs."""

import json
import re
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from pages import ROOT

sys.path.insert(0, str(ROOT / "docs/extensions"))
sys.path.insert(0, str(ROOT / "notebooks"))

import notebook_pages
import run

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


def test_a_notebook_has_outputs_and_is_small():
    for name in NAMES:
        path = ROOT / "notebooks" / f"{name}.ipynb"
        assert path.stat().st_size <= run.MOST_BYTES
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert sum(bool(cell.outputs) for cell in cells) > len(cells) / 2


@pytest.mark.parametrize(
    ("before", "now", "tags", "differs"),
    [
        ("value -0.0856", "value   -0.0857", [], False),  # 2 %, and other spaces
        ("value -0.0856", "value -0.09", [], True),
        ("in 1.2 s", "in 4.7 s", ["varies"], False),
        ("in 1.2 s", "took 1.2 s", ["varies"], True),
        ("a\n", "", [], True),
    ],
)
def test_other_outputs_are_found(before, now, tags, differs):
    def notebook(text):
        outputs = [new_output("stream", text=text)] if text else []
        return new_notebook(cells=[new_code_cell("print()", outputs=outputs, metadata={"tags": tags})])

    assert bool(list(run.differences(notebook(before), notebook(now)))) == differs
