"""Read from a job which chance leaves of the solve are live and which are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from spewy.errors import InputError, shown
from spewy.game.names import ROUND_NAMES, RoundName
from spewy.job.sections import LeafKind, SolveSection


@dataclass(frozen=True)
class Leaves:
    """Which chance leaves of a solve are live and which are stored.

    Attributes:
        root: the first round of the solve.
        first_live: the first live round: its chunks and those of all later rounds are live, and so are the chance
            leaves that lead to them. None: all chance leaves are stored.
        text: the value of ``solve.leaves`` in the job, for messages.
    """

    root: int
    first_live: int | None
    text: str

    @classmethod
    def of(cls, solve: SolveSection, root: int, n_rounds: int, *, bucketed: bool) -> Leaves:
        """Read ``solve.leaves``.

        Args:
            solve: the section ``[solve]``.
            root: the first round of the solve.
            n_rounds: number of rounds of the game.
            bucketed: whether the rows of some round are buckets.

        Raises:
            InputError: the table names a round outside of the solve, or a stored round below a live one.
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
        """Whether all chance leaves are live."""
        return self.first_live == self.root

    def __str__(self) -> str:
        """Describe the chance leaves in words, such as "live leaves"."""
        if self.live or self.first_live is None:
            return f"{'live' if self.live else 'stored'} leaves"
        return f"stored leaves, live ones from the {ROUND_NAMES[self.first_live]} on"


def _by_round(
    leaves: Mapping[RoundName, LeafKind], rounds: tuple[RoundName, ...]
) -> list[tuple[RoundName, LeafKind]]:
    """Return each round with "live" or "stored".

    Args:
        leaves: "live" or "stored" by round, from the job. A missing round has the value of the round before it; the
            first round's default is "stored".
        rounds: the rounds of the solve.

    Raises:
        InputError: the table names a round outside of the solve, or a stored round below a live one.
    """
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
                f'solve.leaves.{below}: expected "live", because the {above} is live and its leaves read no stored '
                f'payoffs; found "stored"'
            )
    return kinds
