"""Ranges of hold'em hands: their text, their weights, and the names of their made hands and draws."""

from spewy.game.ranges.range import Range
from spewy.game.ranges.text import format_range, parse_range

__all__ = ["Range", "format_range", "parse_range"]
