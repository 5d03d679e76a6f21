"""Bets between those of a tree: which of them they are taken for, and what the tree's bets are at a table.

The pseudo-harmonic mapping (S. Ganzfried and T. Sandholm, "Action Translation in Extensive-Form Games with Large
Action Spaces", IJCAI 2013) takes a bet of x between the tree's a < b for a with probability

``f(x) = (b - x) (1 + a) / ((b - a) (1 + x))``

Sizes are shares of the pot after a call. The deterministic twin takes the likelier of the two.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from spewy.bot.options import Translation
from spewy.game.betting import Betting
from spewy.game.nodes import Node


def share_of_smaller(x: float, smaller: float, larger: float) -> float:
    """The probability that a bet of x is taken for the smaller one.

    >>> share_of_smaller(1.0, 0.5, 1.0), share_of_smaller(0.5, 0.5, 1.0), round(share_of_smaller(0.75, 0.5, 1.0), 3)
    (0.0, 1.0, 0.429)
    """
    return (larger - x) * (1 + smaller) / ((larger - smaller) * (1 + x))


def taken_for(x: float, sizes: Sequence[float], draw: float = 0.5) -> int:
    """The number of the size that x is taken for; the nearest where x lies outside of them all.

    Args:
        x: the bet.
        sizes: from 1 on, ascending.
        draw: a number from [0, 1) drawn at random; 0.5: the likelier size.
    """
    above = int(np.searchsorted(sizes, x))
    if above == 0 or above == len(sizes):
        return min(above, len(sizes) - 1)
    return above - 1 if draw < share_of_smaller(x, sizes[above - 1], sizes[above]) else above


def pot_share(total: int, spent: tuple[int, int]) -> float:
    """A bet or raise to a total as a share of the pot after a call."""
    highest = max(spent)
    return (total - highest) / max(2 * highest, 1)


def raise_total(action: str, betting: Betting) -> int:
    """The total that a legal bet or raise goes to."""
    if action != "r":
        return int(action[1:])
    bounds = betting.raise_bounds()
    assert bounds is not None
    return bounds[0]


def translated(action: str, menu: Sequence[str], betting: Betting, seed: int, how: Translation) -> int | None:
    """The number of the action of a menu that a legal action is taken for; None: there is none of its kind.

    What is drawn at random depends on the seed and the line alone.
    """
    if action in menu:
        return menu.index(action)
    if action[0] != "r":
        return None
    raises = sorted((raise_total(text, betting), i) for i, text in enumerate(menu) if text[0] == "r")
    if not raises:
        return None
    sizes = [pot_share(total, betting.spent) for total, _ in raises]
    draw = drawn(seed, betting.line + action) if how == "random" else 0.5
    return raises[taken_for(pot_share(raise_total(action, betting), betting.spent), sizes, draw)][1]


def at_table(node: Node, betting: Betting) -> list[str]:
    """A legal action of the betting for each of a tree's decision, whose bets have the same shares of the pot.

    What cannot be done any more becomes the next best: a fold where nobody bet is a check, a raise that is not legal
    a call.
    """
    out = []
    bounds = betting.raise_bounds()
    for action in node.actions:
        if action.kind == "fold":
            out.append("f" if betting.can_fold else "c")
        elif action.acpc == "c" or bounds is None:
            out.append("c")
        elif betting.game.limit:
            out.append("r")
        else:
            most = min(bounds[1], max(betting.stack(1 - _mover(betting)), bounds[0]))
            total = most
            if node.put_in == betting.spent:
                total = int(action.acpc[1:])
            elif action.kind != "allin":
                highest = max(betting.spent)
                share = pot_share(int(action.acpc[1:]), node.put_in)
                total = highest + round(share * 2 * highest)
            out.append(f"r{min(max(total, bounds[0]), most)}")
    return out


def drawn(seed: int, text: str) -> float:
    """A number from [0, 1) that a seed and a text stand for."""
    return float(np.random.default_rng([abs(seed), zlib.crc32(text.encode())]).random())


def _mover(betting: Betting) -> int:
    assert betting.to_act is not None
    return betting.to_act
