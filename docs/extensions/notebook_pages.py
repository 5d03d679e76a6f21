"""Copies the notebooks into ``docs/notebooks`` before Sphinx reads the pages; git ignores the copies.

Links from pages to notebooks lead to ``../../notebooks/NAME.ipynb``, which is right for readers of the repository; in
the site they lead to the copies.

The notebooks in git have their outputs (`notebooks/run.py`), so nothing is executed here.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/notebooks"


def copy_notebooks(app: Sphinx) -> None:
    """Write the copies that differ from those of the last build, and delete copies of notebooks that are gone."""
    sources = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for page in set(PAGES.glob("*.ipynb")) - {PAGES / source.name for source in sources}:
        page.unlink()
    for source in sources:
        text = page_text(source)
        page = PAGES / source.name
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


def page_text(path: Path) -> str:
    """Read a notebook, and turn the names of pages and notebooks in its text into links."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"`docs/(\S+?)\.md`", r"[docs/\1.md](../\1.md)", cell.source)
            cell.source = re.sub(r"`(\w+)\.ipynb`", r"[\1.ipynb](\1.ipynb)", cell.source)
    return nbformat.writes(notebook)


def link_copies(app: Sphinx, page: str, source: list[str]) -> None:
    """Make a page's links to notebooks lead to the copies, in place."""
    source[0] = source[0].replace("](../../notebooks/", "](../notebooks/")


def setup(app: Sphinx) -> dict[str, bool]:
    """Copy the notebooks before Sphinx lists its pages."""
    app.connect("source-read", link_copies)
    app.connect("builder-inited", copy_notebooks)
    return {"parallel_read_safe": True}
