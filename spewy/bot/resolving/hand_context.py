"""Settings and solved subgames that all subgames of one hand share."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from spewy.bot.blueprint import Blueprint
from spewy.bot.options import Options
from spewy.bot.resolving.budget import Budget
from spewy.bot.resolving.builder import SubgameBuilder
from spewy.bot.resolving.solution import Solution
from spewy.bot.tally import Tally

MOST_KEPT = 1 << 30
"""Memory limit in bytes for the cached subgames of a hand; a dropped subgame is solved again when it is needed."""

SolveKey = tuple[str, str, tuple[int, ...], int]


@dataclass(frozen=True)
class HandContext:
    """Settings and caches that all subgames of one hand share.

    Attributes:
        blueprint: the stored strategy, which the bot plays outside re-solved subgames.
        builder: the builder of subgames.
        options: when and how to re-solve.
        tally: counts re-solves that fail.
        budget: the time budget of the current decision.
        seed: the hand's seed.
        solved: solved subgames, the most recently used last. A key has four entries: the hand's betting line at the
            subgame's root, the hand's betting line when the subgame was made, the board at the root, and the player for
            whom it was solved (0 if it was solved for both).
    """

    blueprint: Blueprint
    builder: SubgameBuilder
    options: Options
    tally: Tally
    budget: Budget
    seed: int = 0
    solved: OrderedDict[SolveKey, Solution] = field(default_factory=OrderedDict)

    def keep(self, key: SolveKey, resolved: Solution) -> Solution:
        """Cache a solved subgame and return it.

        While the cache takes more than `MOST_KEPT` bytes, the least recently used subgames leave the cache.
        """
        self.solved[key] = resolved
        self.solved.move_to_end(key)
        while sum(each.n_bytes for each in self.solved.values()) > MOST_KEPT and len(self.solved) > 1:
            self.solved.popitem(last=False)
        return resolved
