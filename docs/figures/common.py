"""Colours, sizes and the file format that the figures of the concept pages share."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

import spewy
from spewy.look.colours import SEATS, hex_colour

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/concepts"
OOP, IP = (hex_colour(colour) for colour in SEATS)
RED, GREY, GOLD = "#8e161c", "#9aa3ab", "#e2a336"
STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "spewy",
    "font.family": "DejaVu Sans",
}
"""Text stays text in the picture, and equal figures are equal files."""


def new(width: float, height: float) -> Figure:
    """Make an empty figure of a size in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Any, path: Path) -> None:
    """Write a figure to a file without the time and the program's version; pictures of pixels get few colours."""
    if path.suffix == ".svg":
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        return
    pixels = BytesIO()
    figure.savefig(pixels, dpi=130)
    Image.open(pixels).convert("RGB").quantize(96).save(path, optimize=True)


def example(name: str, *changes: str) -> spewy.Job:
    """Load an example job with changes, such as ``rows.river=40``."""
    return spewy.Job.load(ROOT / f"examples/{name}.toml", list(changes))


def styled() -> Any:
    """Return a context manager in which figures have the style of the pages."""
    return mpl.rc_context(STYLE)
