"""``spewy payoffs``: store payoff matrices, row against row, by board bucket of a whole game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.options import folder_argument, json_option, verbose_option
from spewy.cli.progress import NowAndThen, say
from spewy.cli.tables import count, duration, facts, json_text, size

if TYPE_CHECKING:
    from spewy.look.payoffs import PayoffCost, PayoffResult

BOARDS = 4
"""Default number of boards drawn from each bucket."""


@click.command()
@folder_argument
@click.option(
    "--round",
    "first",
    metavar="ROUND",
    help="First round (flop, turn or river) to compute matrices for; later rounds are included. "
    "Default: turn, or the last round of a shorter game.",
)
@click.option(
    "--boards",
    type=click.IntRange(1, 10_000),
    default=BOARDS,
    show_default=True,
    help="Number of boards that are drawn from each board bucket.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    help="Seed of the boards that are drawn; default 0.",
)
@click.option("--workers", type=click.IntRange(1), help="Number of processes; default: one for each core.")
@json_option
@verbose_option
def payoffs(
    folder: Path, first: str | None, boards: int, seed: int, workers: int | None, as_json: bool
) -> None:
    """Store the payoff matrices of a whole game.

    The job needs [boards]. A payoff matrix says what a chunk is worth, row against row.

    A matrix tells, for each row of either player, what player 0 wins in the mean if both play on by the average
    strategies. Ranges are played down to each drawn board, and cards are removed exactly for both hands. Later rounds
    come first, since the rounds above look at their matrices.

    They are kept in FOLDER/payoffs until the solve saves other strategies, or other boards are asked for. The command
    can be interrupted, and goes on where it was.

    \b
    Examples:
      spewy payoffs results/flop-holdem
      spewy payoffs results/limit-holdem --boards 2 --workers 2

    \b
    --json prints one object:
      name, sweeps (deals), rounds, classes and lines (of each round), boards (of each class), bytes, seconds
    """  # noqa: D301
    from spewy.look.payoffs import make_payoffs

    found = make_payoffs(folder, _Lines(), first=first, boards=boards, seed=seed, workers=workers)
    click.echo(json_text(_as_object(found)) if as_json else facts(_rows(found)))


class _Lines(NowAndThen):
    """Writes the progress at limited frequency."""

    def begin(self, name: str, cost: PayoffCost) -> None:
        """Write the cost."""
        todo = sum(cost.classes) - cost.kept
        kept = f", {cost.kept:,} kept from before" if cost.kept else ""
        say(
            f"{name}: {todo:,} board buckets of {' and '.join(cost.rounds)} to do{kept}, "
            f"{count(cost.boards, 'board')} each, {cost.processes} at a time; "
            f"{size(cost.disk_bytes)} on disk in all, each process {size(cost.process_bytes)} of memory at most"
        )

    def made(self, round_name: str, done: int, total: int, seconds_left: float) -> None:
        """Write the number of finished buckets."""
        self.say(f"board bucket {done:,} of {total:,}, {round_name}", done, total, seconds_left)


def _as_object(found: PayoffResult) -> dict[str, object]:
    cost = found.cost
    return {
        "name": found.name,
        "sweeps": found.deals,
        "rounds": cost.rounds,
        "classes": cost.classes,
        "lines": cost.lines,
        "boards": cost.boards,
        "bytes": cost.disk_bytes,
        "seconds": found.seconds,
    }


def _rows(found: PayoffResult) -> list[tuple[str, str]]:
    cost = found.cost
    rows = [("job", f"{found.name}, {found.deals:,} deals")]
    for name, classes, lines in zip(cost.rounds, cost.classes, cost.lines, strict=True):
        rows.append((name, f"{count(classes, 'board bucket')} of {count(lines, 'line')} each"))
    rows.append(("boards", f"{cost.boards:,} drawn of each board bucket"))
    rows.append(("payoffs", f"{size(cost.disk_bytes)}, made in {duration(found.seconds)}"))
    return rows
