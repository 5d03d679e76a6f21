"""Choose bet sizes by the EV that a player loses with few sizes instead of many.

>>> from spewy import Job, choose_sizes
>>> choose_sizes(Job.load("examples/R1.toml"), "oop", most=1)  # doctest: +SKIP

For each small subset of a list of sizes, the job is solved with these sizes for one player in one round, and with its
own sizes everywhere else. The player's EV is compared with the EV of the whole list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

from spewy.errors import InputError, shown
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.job.job import Job
from spewy.run.session import Session
from spewy.system.html import Printed, Table

SIZES = "25%, 33%, 50%, 75%, 100%, 150%, 200%, a"
"""Default list of bet sizes from which a player's few sizes are chosen."""
TARGET = "0.01%"
"""Exploitability to which each solve goes by default, in % of the pot; the error of a loss is then at most 0.04 %."""
MOST_SOLVES = 1000


@dataclass(frozen=True)
class SizeLoss:
    """EV that a player loses with a few bet sizes instead of the whole list.

    Attributes:
        sizes: the sizes, as in a job file.
        ev: EV of the player in the unit of the job.
        loss_pct: EV with all sizes less this EV, in % of the pot.
        error_pct: largest error of ``loss_pct``, in % of the pot, from the exploitability of both solves.
    """

    sizes: str
    ev: float
    loss_pct: float
    error_pct: float

    @property
    def count(self) -> int:
        """Number of sizes."""
        return self.sizes.count(",") + 1


@dataclass(frozen=True, repr=False)
class ChosenSizes(Printed):
    """EV that a player loses with each small subset of a list of bet sizes.

    Attributes:
        name: name of the job.
        key: key of the job that holds the sizes, such as ``bets.river.oop.bet``.
        sizes: the whole list.
        ev: EV of the player with the whole list, in ``unit``.
        losses: a loss for each subset, by number of sizes and then from the smallest loss up.
    """

    name: str
    key: str
    sizes: str
    ev: float
    unit: str
    losses: tuple[SizeLoss, ...]

    def best(self, count: int) -> SizeLoss:
        """Return the subset of ``count`` sizes that loses least."""
        return next(loss for loss in self.losses if loss.count == count)

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``spewy sizes --json`` prints."""
        rows = [
            {"sizes": row.sizes, "ev": row.ev, "loss_pct": row.loss_pct, "error_pct": row.error_pct}
            for row in self.losses
        ]
        head = {"name": self.name, "key": self.key, "sizes": self.sizes, "ev": self.ev}
        return head | ({} if self.unit == "chips" else {"unit": self.unit}) | {"losses": rows}

    def _table(self) -> Table:
        columns = ("sizes", f"EV ({self.unit})", "loss (% of the pot)", "known to (%)")
        rows = tuple((row.sizes, row.ev, row.loss_pct, row.error_pct) for row in self.losses)
        return Table(f"{self.name}: {self.key}, loss against {self.sizes}", columns, rows)


def choose_sizes(
    job: Job,
    player: str = "oop",
    *,
    sizes: str = SIZES,
    most: int = 2,
    round_name: str | None = None,
    kind: str = "bet",
    target: str = TARGET,
    progress: Callable[[int, int], None] | None = None,
) -> ChosenSizes:
    """Solve a spot with each subset of at most ``most`` sizes of a list, and compare the player's EVs.

    Args:
        job: a spot.
        player: ``"oop"`` or ``"ip"``.
        sizes: the list, as bet sizes of a job file: ``"33%, 75%, a"``.
        most: largest number of sizes in a subset.
        round_name: round of the sizes; None for the round of the root.
        kind: ``"bet"``, ``"raise"`` or ``"donk"``.
        target: exploitability to which each solve goes, as in a job file.
        progress: called with the numbers of finished and of all solves.

    Raises:
        InputError: the job is not a no-limit spot with bet sizes, an argument is wrong, there are over 1,000 solves, or
            a solve did not reach the target.
        SolveError: a solve failed.
    """
    if job.spot is None or job.tree.lines is not None or job.rules.limit:
        raise InputError(f"job {job.name}: sizes: expected a no-limit spot with bet sizes")
    if player not in SEAT_NAMES:
        raise InputError(f"player: expected oop or ip, found {shown(player)}")
    listed = [size.strip() for size in sizes.split(",") if size.strip()]
    if len(set(listed)) != len(listed) or len(listed) < 2:
        raise InputError(f"sizes: expected two or more different sizes, found {shown(sizes)}")
    if not 1 <= most < len(listed):
        raise InputError(f"most: expected 1 to {len(listed) - 1} sizes together, found {most}")
    n_solves = 1 + sum(comb(len(listed), count) for count in range(1, most + 1))
    if n_solves > MOST_SOLVES:
        raise InputError(f"sizes: {n_solves:,} solves, expected at most {MOST_SOLVES:,}; list fewer sizes")
    rounds = ROUND_NAMES[job.tree_config.start_round :]
    name = rounds[0] if round_name is None else round_name
    if name not in rounds:
        raise InputError(f"round: expected one of {', '.join(rounds)}, found {shown(name)}")
    key, seat = f"bets.{name}.{player}.{kind}", SEAT_NAMES.index(player)
    base = job.replace({"save.rounds": "all", "solve.target": target, "solve.max_sweeps": 20_000})

    def solved(part: tuple[str, ...]) -> tuple[float, float]:
        with Session(base.replace({key: ", ".join(part)})) as session:
            result = session.solve()
        if not result.converged:
            raise InputError(
                f"sizes {', '.join(part)}: the solve did not reach {target} after {result.sweeps:,} sweeps; "
                "ask for a larger target"
            )
        assert result.ev is not None
        assert result.exploitability is not None
        return result.ev[seat], result.exploitability

    parts = [part for count in range(1, most + 1) for part in combinations(listed, count)]
    found = dict[tuple[str, ...], tuple[float, float]]()
    for number, part in enumerate([tuple(listed), *parts], start=1):
        found[part] = solved(part)
        if progress is not None:
            progress(number, n_solves)
    return ChosenSizes(
        job.name,
        key,
        ", ".join(listed),
        found[tuple(listed)][0],
        job.amounts.name,
        tuple(_losses(found, tuple(listed), parts, job.pot / job.amounts.chips)),
    )


def _losses(
    found: dict[tuple[str, ...], tuple[float, float]],
    whole: tuple[str, ...],
    parts: list[tuple[str, ...]],
    pot: float,
) -> Iterator[SizeLoss]:
    """Yield the losses of ``parts``, fewest sizes first; ``found`` has each solve's EV and exploitability.

    An EV differs from the value of a zero-sum game by at most twice the exploitability; this bounds the errors.
    """
    most, gap = found[whole]
    rows = [
        SizeLoss(
            ", ".join(part),
            found[part][0],
            100 * (most - found[part][0]) / pot,
            200 * (gap + found[part][1]) / pot,
        )
        for part in parts
    ]
    yield from sorted(rows, key=lambda row: (row.count, row.loss_pct))
