"""The bets of a betting tree, decision by decision, by the sizes of a job or by the rules of another program."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.treeconfig import TreeConfig, may_donk, raise_totals

MOST_DECISIONS = 50_000
"""Largest number of decisions with bets whose bets are listed."""

Rule: TypeAlias = Callable[[Betting, int, bool], tuple[int, ...]]
"""Returns the bets and raises at a decision as ascending totals in chips since the root. The arguments are the betting
so far, the chips that each player had put in before this round, and whether the player starts a round after calling
the last bet of the round before."""
Bets: TypeAlias = dict[str, tuple[int, ...]]
"""Totals of the bets and raises in ascending order, by the line of their decision; decisions without bets are left
out."""


class TooManyBetsError(InputError):
    """A tree has more than `MOST_DECISIONS` decisions with bets."""


def bets_of(config: TreeConfig, rule: Rule | None = None) -> Bets:
    """Return the totals of a tree's bets and raises by line, by ``rule``; None: by the sizes in ``config``."""
    bets: Bets = {}
    waiting = [(config.start(), config.antes, False)]
    while waiting:
        state, before, donk = waiting.pop()
        totals = raise_totals(config, state, before, donk) if rule is None else rule(state, before, donk)
        if totals:
            bets[state.line] = totals
        if len(bets) > MOST_DECISIONS:
            raise TooManyBetsError(
                f"betting tree: expected at most {MOST_DECISIONS:,} decisions with bets, found more"
            )
        waiting += [(state.raised(total), before, False) for total in totals]
        following = state.called()
        if following.round == state.round and not following.is_over:
            waiting.append((following, before, False))
        elif not following.is_over:
            waiting.append((following, following.spent[0], may_donk(state, following)))
    return bets


def same_bets(a: TreeConfig, b: TreeConfig) -> bool | None:
    """Whether two trees have the same bets; None if they are too large to compare."""
    try:
        return bets_of(a) == bets_of(b)
    except TooManyBetsError:
        return None


def lines_of(bets: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Write the bets of a tree as lines for ``tree.lines``; a line with which another line begins is left out.

    >>> lines_of({"": (50, 200), "r50": (200,), "c": (200,)})
    ['cr200', 'r200', 'r50r200']
    """
    inner = {line[: bet.end()] for line in bets for bet in re.finditer(r"r\d+", line)}
    every = {f"{line}r{total}" for line, totals in bets.items() for total in totals}
    return sorted(every - inner) or ["c"]
