"""Spots as the text that PioViewer copies and pastes: lines ``#Key#Value``."""

from __future__ import annotations

from buckets.cards import card_name
from spewy.game.ranges.text import format_range
from spewy.job.job import SpotJob


def pioviewer_text(job: SpotJob) -> str:
    """Write a spot as lines ``#Key#Value``, with amounts in chips."""
    config = job.tree_config
    rows = {
        "Type": "NoLimit",
        "Range0": format_range(job.ranges[0]),
        "Range1": format_range(job.ranges[1]),
        "Board": " ".join(map(card_name, job.board)),
        "Pot": str(config.pot),
        "EffectiveStacks": str(config.stack),
    }
    return "".join(f"#{key}#{value}\n" for key, value in rows.items())
