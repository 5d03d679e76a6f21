"""Names of rounds and seats, in the order of their numbers."""

from __future__ import annotations

from typing import Literal

ROUND_NAMES = ("preflop", "flop", "turn", "river")


RoundName = Literal["preflop", "flop", "turn", "river"]


PLAYER_NAMES = ("oop", "ip")
