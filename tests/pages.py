"""The Markdown pages of the project: their files, headings and links."""

import re
from pathlib import Path
from typing import NamedTuple

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


class Block(NamedTuple):
    """A fenced block of a page: its language, the words behind the language, and its lines."""

    language: str
    words: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def text(self):
        return "\n".join(self.lines)

    @property
    def typed(self):
        """Return the lines that a user types; of a console, those behind the prompt. Continued lines are joined."""
        lines = self.lines
        if any(line.startswith("$ ") for line in lines):
            lines = [line[2:] for line in lines if line.startswith(("$ ", "> "))]
        return "\n".join(lines).replace("\\\n", " ").split("\n")


def blocks(page):
    """The fenced blocks of a page."""
    for match in FENCE.finditer(page.read_text()):
        first, *lines, _ = match[0].split("\n")
        language, *words = first.lstrip("`~:").split() or [""]
        yield Block(language, tuple(words), tuple(lines))


def inline(page):
    """The inline code of a page."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", FENCE.sub("", page.read_text()))
