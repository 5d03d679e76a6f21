"""``spewy payoffs``: store the payoff matrices of each board bucket of a whole game."""

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
"""Default number of random boards in each board bucket."""


@click.command()
@folder_argument
@click.option(
    "--round",
    "first",
    metavar="ROUND",
    help="First round (flop, turn or river) with payoff matrices; all later rounds have them too. "
    "Default: turn, or the last round of a shorter game.",
)
@click.option(
    "--boards",
    type=click.IntRange(1, 10_000),
    default=BOARDS,
    show_default=True,
    help="Number of random boards in each board bucket, over which a payoff matrix is averaged.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="Seed of the random boards of --boards.",
)
@click.option(
    "--workers", type=click.IntRange(1), help="Number of processes that compute; default: one for each core."
)
@json_option
@verbose_option
def payoffs(
    folder: Path, first: str | None, boards: int, seed: int, workers: int | None, as_json: bool
) -> None:
    """Store the payoff matrices of a whole game.

    A payoff matrix has the mean winnings of player 0 in a chunk, for each pair of rows.

    A chunk is one betting round after a betting line, a row is a bucket of hands. Both players follow the average
    strategies, in the chunk and on the way to it, and card removal is exact for both hands. The last round is computed
    first, since the matrices of a round are needed in the round before. The job must have [boards].

    The matrices are stored in FOLDER/payoffs. They are computed again once the solve has saved other strategies, or if
    --boards or --seed differ. The same command continues after an interruption.

    \b
    Examples:
      spewy payoffs results/flop-holdem
      spewy payoffs results/limit-holdem --boards 2 --workers 2

    \b
    --json prints one object:
      name, sweeps (number of deals), rounds [...], board_buckets [...] and lines [...] (numbers per round),
      boards (random boards per board bucket), bytes, seconds
    """  # noqa: D301
    from spewy.look.folder import require_one_solve
    from spewy.look.payoffs import make_payoffs

    require_one_solve(folder)
    result = make_payoffs(folder, _Lines(), first=first, boards=boards, seed=seed, workers=workers)
    click.echo(json_text(_as_object(result)) if as_json else facts(_rows(result)))


class _Lines(NowAndThen):
    """A reporter that prints the progress of the computation, at most one line every few seconds."""

    def begin(self, name: str, cost: PayoffCost) -> None:
        """Print the number of board buckets to compute, with disk space and memory."""
        todo = sum(cost.board_buckets) - cost.kept
        kept = f", {cost.kept:,} computed before" if cost.kept else ""
        say(
            f"{name}: {todo:,} board buckets of {' and '.join(cost.rounds)} to do{kept}, "
            f"{count(cost.boards, 'board')} each, {cost.processes} at a time; "
            f"{size(cost.disk_bytes)} on disk in all, each process {size(cost.process_bytes)} of memory at most"
        )

    def made(self, round_name: str, done: int, total: int, seconds_left: float) -> None:
        """Print the number of finished board buckets."""
        self.say(f"board bucket {done:,} of {total:,}, {round_name}", done, total, seconds_left)


def _as_object(result: PayoffResult) -> dict[str, object]:
    cost = result.cost
    return {
        "name": result.name,
        "sweeps": result.deals,
        "rounds": cost.rounds,
        "board_buckets": cost.board_buckets,
        "lines": cost.lines,
        "boards": cost.boards,
        "bytes": cost.disk_bytes,
        "seconds": result.seconds,
    }


def _rows(result: PayoffResult) -> list[tuple[str, str]]:
    cost = result.cost
    rows = [("job", f"{result.name}, {result.deals:,} deals")]
    for name, board_buckets, lines in zip(cost.rounds, cost.board_buckets, cost.lines, strict=True):
        rows.append((name, f"{count(board_buckets, 'board bucket')} of {count(lines, 'line')} each"))
    rows.append(("boards", f"{cost.boards:,} random boards of each board bucket"))
    rows.append(("payoffs", f"{size(cost.disk_bytes)}, computed in {duration(result.seconds)}"))
    return rows
