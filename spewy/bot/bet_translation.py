"""Translate the opponent's bets into bets of the betting tree, and the tree's bets into bets at the table.

The pseudo-harmonic mapping (S. Ganzfried and T. Sandholm, "Action Translation in Extensive-Form Games with Large
Action Spaces", IJCAI 2013) translates a bet of size x between the tree's neighbouring bet sizes a < b. The translation
is a with probability

``f(x) = (b - x) (1 + a) / ((b - a) (1 + x))``

and b otherwise. The size of a bet is its share of the pot; the size of a raise is the share of the pot after a call. A
check or call is a bet of size 0, so a bet that is smaller than all bets of the tree is translated into the smallest bet
or into a check. The deterministic variant takes the likelier of the two.

A bluff of size s breaks even if the answer to it continues (calls or raises) with frequency 1 / (1 + s). If the answers
to all bets of the tree do so, the answers to translated bets do so, too. (A check is a bet with s = 0: nobody folds.)
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from solvers.tree import Floats
from spewy.game.betting import Betting
from spewy.game.nodes import Node

if TYPE_CHECKING:
    from spewy.bot.options import Translation


def probability_of_smaller(x: float, smaller: float, larger: float) -> float:
    """Probability that a bet of size x is translated into the smaller of its two neighbouring sizes.

    >>> f = probability_of_smaller
    >>> f(1.0, 0.5, 1.0), f(0.5, 0.5, 1.0), round(f(0.75, 0.5, 1.0), 3)
    (0.0, 1.0, 0.429)
    """
    return (larger - x) * (1 + smaller) / ((larger - smaller) * (1 + x))


def nearest_size(x: float, sizes: Sequence[float], draw: float = 0.5) -> int:
    """Return the index in ``sizes`` of the size into which a bet of size ``x`` is translated.

    A bet that is smaller or larger than all sizes is translated into the nearest size.

    Args:
        x: the bet as a share of the pot.
        sizes: the sizes to choose from as shares of the pot, ascending; at least one.
        draw: a random number from [0, 1); 0.5 selects the likelier size.
    """
    above = int(np.searchsorted(sizes, x))
    if above == 0 or above == len(sizes):
        return min(above, len(sizes) - 1)
    return above - 1 if draw < probability_of_smaller(x, sizes[above - 1], sizes[above]) else above


def pot_share(total: int, spent: tuple[int, int]) -> float:
    """Return the size of a bet or raise as a share of the pot after a call of the previous bet.

    Args:
        total: chips that the player has put in after the bet or raise.
        spent: chips that each player has put in before the bet or raise.
    """
    highest = max(spent)
    return (total - highest) / max(2 * highest, 1)


def raise_total(action: str, betting: Betting) -> int:
    """Return the chips that the player to act has put in, in the whole hand, after a legal bet or raise."""
    if action != "r":
        return int(action[1:])
    bounds = betting.raise_bounds()
    assert bounds is not None
    return bounds[0]


def translations(
    action: str, actions: Sequence[str], betting: Betting, how: Translation
) -> list[tuple[int, float]]:
    """Translate a legal action into one or two of ``actions``, which a betting tree has at the same decision.

    Args:
        how: "random" translates a bet into both neighbouring bets, each with its probability; "likelier" takes only the
            more probable one.

    Returns:
        Indices in ``actions`` with positive probabilities, which add up to 1; empty if ``actions`` has no fold, call or
        raise to match the action.
    """
    if action in actions:
        return [(actions.index(action), 1.0)]
    menu = sorted((_share(text, betting), i) for i, text in enumerate(actions) if text != "f")
    if action[0] != "r" or not any(text[0] == "r" for text in actions):
        return []
    sizes, numbers = zip(*menu, strict=True)
    share = _share(action, betting)
    if how == "likelier":
        return [(numbers[nearest_size(share, sizes)], 1.0)]
    smaller, larger = nearest_size(share, sizes, 0.0), nearest_size(share, sizes, 1.0)
    if smaller == larger:
        return [(numbers[smaller], 1.0)]
    often = probability_of_smaller(share, sizes[smaller], sizes[larger])
    both = (numbers[smaller], often), (numbers[larger], 1.0 - often)
    return [(number, probability) for number, probability in both if probability > 0]


def translate_action(action: str, actions: Sequence[str], betting: Betting) -> int | None:
    """Return the index in ``actions`` of the likeliest translation of a legal action; None: no match."""
    found = translations(action, actions, betting, "likelier")
    return found[0][0] if found else None


def _share(action: str, betting: Betting) -> float:
    return 0.0 if action == "c" else pot_share(raise_total(action, betting), betting.spent)


def legal_actions(node: Node, betting: Betting) -> list[str]:
    """Convert the actions of a decision in a betting tree to legal actions at the table.

    Bets keep their share of the pot. A fold when nobody has bet becomes a check, and a raise that is not legal becomes
    a call.

    Returns:
        A legal ACPC action for each action of the decision, in the same order.
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


def uniform_draw(seed: int, text: str) -> float:
    """Return a pseudo-random number from [0, 1) that depends only on a seed and a text."""
    return float(np.random.default_rng([abs(seed), zlib.crc32(text.encode())]).random())


def draw_action(frequencies: Floats, seed: int, text: str) -> int:
    """Draw an action by a seed and a text; return its index. The sum of the frequencies may differ from 1."""
    cuts = np.cumsum(frequencies)
    number = int(np.searchsorted(cuts, uniform_draw(seed, text) * cuts[-1], side="right"))
    return min(number, len(cuts) - 1)


def _mover(betting: Betting) -> int:
    assert betting.to_act is not None
    return betting.to_act
