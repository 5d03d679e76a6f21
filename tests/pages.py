"""The Markdown pages of the project: their files, headings and links."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(DOCS.rglob("*.md")),
)
FENCE = re.compile(r"^(`{3,}|~{3,}|:{3,}).*?^\1$", re.DOTALL | re.MULTILINE)


def prose(page):
    """A page's text without its fenced blocks and its inline code."""
    return re.sub(r"(`+)[^`].*?\1", "", FENCE.sub("", page.read_text()))


def links(page):
    """Targets of a page's links and pictures."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page):
    """Anchors of a page's headings, as GitHub and MyST make them."""
    text = FENCE.sub("", page.read_text())
    headings = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    return {slug(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)) for heading in headings}


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
