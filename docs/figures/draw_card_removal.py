"""A river with three hearts: how often the opponent has a flush, and a bluff that depends on one card."""

from __future__ import annotations

from typing import Any

import common
import numpy as np

import spewy
from buckets.cards import Deck, blocked, hands, parse_cards, strengths
from spewy.game.ranges import parse_range

BOARD = "Kh 9h 4h 7c 2s"
RANGE = "22+,A2s+,K8s+,Q9s+,J9s+,T8s+,97s+,86s+,75s+,65s,54s,ATo+,KTo+,QTo+,JTo"
HOLDINGS = ("QsJs", "QhJs", "AhQs", "AhQh")
FLUSH = 5
BLUFFS = ("AcTd", "AcTh", "AhTc")


def figure() -> tuple[Any, dict[str, str]]:
    """Draw the share of flushes in ip's range by oop's hand, and ip's bets with an ace and a ten in a solve."""
    shares = [flushes(parse_cards(hand)) for hand in HOLDINGS]
    bets = bluffs()
    picture = common.new(7.2, 3.1)
    left, right = picture.subplots(1, 2)
    bars = left.bar(HOLDINGS, [100 * share for share in shares], color=common.OOP, width=0.6)
    left.bar_label(bars, [f"{100 * share:.1f} %" for share in shares], padding=2)
    left.set(title="ip has a flush, if oop holds ...", ylabel="% of ip's hands", yticks=())
    bars = right.bar(list(bets), [100 * share for share in bets.values()], color=common.IP, width=0.5)
    right.bar_label(bars, [f"{100 * share:.0f} %" for share in bets.values()], padding=2)
    right.set(title="ip bets after a check with ...", ylabel="% of the time", yticks=())
    for axis in (left, right):
        axis.spines["left"].set_visible(False)
        axis.margins(y=0.15)
    return picture, {
        **{
            f"flushes against {hand}": f"{100 * share:.1f} %"
            for hand, share in zip(HOLDINGS, shares, strict=True)
        },
        **{f"bets {name}": f"{100 * share:.0f} %" for name, share in bets.items()},
    }


def flushes(own: tuple[int, ...]) -> float:
    """Share of flushes among the hands of ip's range that a hand and the board leave."""
    combos = hands(Deck(), 2)
    board = parse_cards(BOARD)
    weights = np.where(blocked(combos, (*board, *own)), 0.0, parse_range(RANGE).weights)
    strength = strengths(np.array([board]), combos)[0]
    is_flush = np.maximum(strength, 0) >> 26 == FLUSH
    return float(weights[is_flush].sum() / weights.sum())


def bluffs() -> dict[str, float]:
    """How often ip bets with an ace and a ten after oop's check, by the heart among these cards."""
    job = spewy.Job.of(
        {
            "name": "hearts",
            "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
            "spot": {"board": BOARD, "pot": 100, "stack": 200, "oop": RANGE, "ip": RANGE},
            "bets": {"river": {"bet": "75%, a", "raise": "a"}},
            "solve": {"target": "0.05%"},
        }
    )
    node = spewy.solve(job).node("x")
    return {hand: 1 - node.action_probabilities(hand)["check"] for hand in BLUFFS}
