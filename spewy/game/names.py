"""Names of rounds and seats, in the order of their numbers."""

from __future__ import annotations

from typing import Literal, get_args

RoundName = Literal["preflop", "flop", "turn", "river"]
ROUND_NAMES: tuple[RoundName, ...] = get_args(RoundName)

SEAT_NAMES = ("oop", "ip")
"""Player 0, out of position, acts first after the flop; player 1, in position, is the button."""
