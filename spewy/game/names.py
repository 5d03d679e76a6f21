"""Names of rounds and seats, in the order of their numbers."""

from __future__ import annotations

from typing import Literal, get_args

RoundName = Literal["preflop", "flop", "turn", "river"]
ROUND_NAMES: tuple[RoundName, ...] = get_args(RoundName)

SEAT_NAMES = ("oop", "ip")
"""Names of player 0 (oop, out of position), who acts first after the flop, and player 1 (ip), who is the button."""
