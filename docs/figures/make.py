"""Draws the figures of the concept pages, and prints the numbers that the pages quote.

    python docs/figures/make.py [NAME...] [--out FOLDER]

Without NAME it draws all figures, in a few minutes. A test compares the printed numbers with the pages.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

import common

NAMES = (
    "ranges",
    "regret",
    "chunks",
    "visits",
    "buckets",
    "board-buckets",
    "exploitability",
    "card-removal",
    "sampled-boards",
    "re-solving",
    "luck-and-skill",
)
"""Pages in the order in which they are read; the module of the page re-solving is draw_re_solving."""


def main() -> None:
    """Draw the figures that the command line names, or all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"figures to draw: {', '.join(NAMES)}")
    parser.add_argument(
        "--out", type=Path, default=common.PAGES, help="folder into which the pictures are written"
    )
    options = parser.parse_args()
    for name in options.names or NAMES:
        print(f"{name}:")
        for what, text in draw(name, options.out).items():
            print(f"  {what}: {text}")


def draw(name: str, folder: Path) -> dict[str, str]:
    """Draw the figure of a page into a folder, and return the numbers that the page quotes, as the page writes them."""
    with common.styled():
        module = importlib.import_module(f"draw_{name.replace('-', '_')}")
        figure, numbers = module.figure()
        common.save(figure, folder / f"{name}.{getattr(module, 'SUFFIX', 'svg')}")
    return dict(numbers)


if __name__ == "__main__":
    main()
