"""Chance leaves of a job: a round sees the next one as live chunks or as stored payoffs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from spewy.errors import InputError, shown
from spewy.game.names import ROUND_NAMES, RoundName
from spewy.job.sections import LeafKind, SolveSection


@dataclass(frozen=True)
class Leaves:
    """Chance leaves of a solve that begins in round ``root``.

    Attributes:
        root: the first round of the solve.
        first_live: the first round whose chunks the rounds above enter live, as all after it; None: all are stored.
        text: the job's key, as messages quote it.
    """

    root: int
    first_live: int | None
    text: str

    @classmethod
    def of(cls, solve: SolveSection, root: int, n_rounds: int, *, bucketed: bool) -> Leaves:
        """Read ``solve.leaves``.

        Args:
            solve: how to solve.
            root: the first round of the solve.
            n_rounds: number of rounds of the game.
            bucketed: whether the rows of some round are buckets.

        Raises:
            InputError: the table names a round that the solve has not, or live rounds above stored ones.
        """
        leaves = solve.leaves
        if isinstance(leaves, str):
            live = leaves == "live" or (leaves == "auto" and not bucketed and solve.integrate == "regret")
            return cls(root, root if live else None, f'"{leaves}"')
        kinds = _by_round(leaves, ROUND_NAMES[root:n_rounds])
        first = next((ROUND_NAMES.index(name) for name, kind in kinds if kind == "live"), None)
        return cls(root, first, shown(leaves))

    @property
    def live(self) -> bool:
        """Whether all chance leaves recurse into live chunks, and none reads stored payoffs."""
        return self.first_live == self.root

    def __str__(self) -> str:
        """Describe the chance leaves in words."""
        if self.live or self.first_live is None:
            return f"{'live' if self.live else 'stored'} leaves"
        return f"stored leaves, live ones from the {ROUND_NAMES[self.first_live]} on"


def _by_round(
    leaves: Mapping[RoundName, LeafKind], rounds: tuple[RoundName, ...]
) -> list[tuple[RoundName, LeafKind]]:
    """Kind of each round; a missing round has the kind of the one above, and the first defaults to stored."""
    for name, kind in leaves.items():
        if name not in rounds:
            raise InputError(
                f"solve.leaves.{name}: expected one of the rounds of this solve, {', '.join(rounds)}, "
                f'found "{kind}"'
            )
    last: LeafKind = "stored"
    kinds = []
    for name in rounds:
        last = leaves.get(name, last)
        kinds.append((name, last))
    for (above, upper), (below, lower) in pairwise(kinds):
        if (upper, lower) == ("live", "stored"):
            raise InputError(
                f'solve.leaves.{below}: expected "live" below a live {above}, whose leaves enter the chunks below '
                f'and read no stored payoffs, found "stored"'
            )
    return kinds
