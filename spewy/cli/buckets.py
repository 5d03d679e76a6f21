"""``spewy buckets``: show which hands share a bucket on a board, and compute merge trees of hands in advance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.bars import Bar
from spewy.cli.dask import dask_option, on_cluster
from spewy.cli.options import json_option, plot_option, refuse_unused, verbose_option
from spewy.cli.pictures import check_picture, draw
from spewy.cli.progress import say
from spewy.cli.tables import count, duration, json_text, number, render

if TYPE_CHECKING:
    from spewy.chunks.bucket_locker import BucketLocker
    from spewy.look.buckets import BoardBuckets
    from spewy.system.processes import WorkerPool

DEFAULT_ROWS = 40
WORKERS = 2
"""Default number of processes of --precompute."""


@click.command()
@click.argument("board", metavar="[BOARD]", nargs=-1)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    default=DEFAULT_ROWS,
    show_default=True,
    help="Largest number of buckets into which the hands of the board are grouped.",
)
@click.option(
    "--range",
    "range_text",
    metavar="RANGE",
    help='Hands to group, with their weights, such as "QQ+,AKs:0.5"; default: all hands, each with weight 1.',
)
@click.option(
    "--clustering",
    default="equation-1",
    show_default=True,
    help="Algorithm that groups the hands: equation-1 (Equation 1 of the Spewy Louie Jr. paper), ward, k-means, "
    "strength-k-means or equity-quantiles.",
)
@plot_option("the outcomes of each bucket and a chart of its hands")
@click.option(
    "--precompute",
    type=click.Choice(["flops", "turns"]),
    help="Instead of printing buckets, compute and store the merge trees of all flops or turns. The same command "
    "continues after an interruption.",
)
@click.option(
    "--workers", type=click.IntRange(min=1), help=f"Number of processes for --precompute; default: {WORKERS}."
)
@dask_option
@json_option
@verbose_option
def buckets(
    board: tuple[str, ...],
    rows: int,
    range_text: str | None,
    clustering: str,
    plot: Path | None,
    size: str,
    precompute: str | None,
    workers: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Print the buckets of a board.

    Buckets are printed from the weakest to the strongest.

    Hands are clustered by their outcomes. An outcome is the share of the other hands that a hand beats on one run-out,
    from 0 to 1. The column "mean" is the mean outcome of a bucket, "spread" the standard deviation of its outcomes,
    and "outcomes" a histogram of them in ten steps of 0.1. An empty BOARD ("") is preflop.

    A merge tree gives the buckets of a board for any number of rows. Computed trees are kept in the folder
    $SPEWY_BUCKETS, by default in the user's cache.

    \b
    Examples:
      spewy buckets "Ks 7d 2c"
      spewy buckets QsJh2h8c --rows 10 --plot turn.png
      spewy buckets "Ks 7d 2c" --range "22+,AJs+,KQo:0.5"
      spewy buckets --precompute flops --workers 2

    \b
    --json prints one object:
      board, rows (number of buckets), asked (--rows),
      buckets [{hands [...], weight, mean, spread, histogram [10 shares]}]
    """  # noqa: D301
    if precompute is not None:
        if board:
            raise click.UsageError("--precompute prints no buckets; remove the board")
        unused = ("rows", "range_text", "clustering", "plot", "as_json")
        refuse_unused("with --precompute, which prints no buckets", *unused)
        _precompute(precompute, workers, address)
        return
    refuse_unused("without --precompute", "workers", "address")
    if not board:
        raise click.UsageError("a BOARD is missing; give one, or --precompute")
    check_picture(plot)
    from buckets.cards import parse_cards
    from spewy.chunks.bucket_locker import BucketLocker
    from spewy.game.gamefile import load_game
    from spewy.game.ranges import parse_range
    from spewy.look.buckets import BoardBuckets

    cards = load_game("holdem.nolimit.2p.reverse_blinds").board_order(parse_cards(" ".join(board)))
    given = None if range_text is None else parse_range(range_text, dead=cards)
    for note in () if given is None else given.notes:
        say(f"--range: {note}")
    weights = None if given is None else given.weights
    locker = BucketLocker.open()
    try:
        clusters = BoardBuckets.of(cards, rows, weights, clustering, locker)
    finally:
        locker.close()
    if plot is not None:
        from spewy.plot import buckets_figure

        draw(plot, buckets_figure(clusters, size))
    if as_json:
        click.echo(json_text(clusters.to_json()))
    else:
        click.echo(_table(clusters))
        if clusters.n_rows < rows:
            click.echo(
                f"{count(clusters.n_rows, 'bucket')} of --rows {rows}: the board has no more different hands"
            )


def _table(clusters: BoardBuckets) -> str:
    from rich.table import Table

    from spewy.look.buckets import spark

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("bucket", "hands", "weight", "mean", "spread"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("outcomes", no_wrap=True)
    table.add_column("such as", no_wrap=True)
    for row in range(clusters.n_rows):
        members = clusters.members(row)
        table.add_row(
            str(row),
            str(len(members)),
            number(float(clusters.weights[clusters.labels == row].sum()), 1),
            number(float(clusters.curves[row].mean()), 4),
            number(clusters.spread(row), 4),
            f"│{spark(clusters.histogram(row))}│",
            " ".join(members[:4]),
        )
    return render(table)


def _precompute(family: str, workers: int | None, address: str | None) -> None:
    """Compute the merge trees of a family of boards that the bucket locker lacks.

    Args:
        family: the boards, "flops" or "turns".
        workers: number of processes on this machine; None for the default.
        address: address of a cluster whose workers replace the processes; None: no cluster.
    """
    from spewy.chunks.bucket_locker import FAMILIES, BucketLocker
    from spewy.system.dask_pool import worker_pool

    locker = BucketLocker.open()
    try:
        with on_cluster(address, workers):
            _fill(locker, FAMILIES[family], worker_pool(workers or WORKERS))
    finally:
        locker.close()


def _fill(locker: BucketLocker, n_cards: int, pool: WorkerPool) -> None:
    """Compute the merge trees that a locker lacks, with a progress bar; Ctrl-C keeps finished trees.

    Args:
        locker: the bucket locker, which stores the trees.
        n_cards: number of cards of each board.
        pool: the processes that compute the trees.
    """
    import time

    from spewy.chunks.bucket_locker import default_folder

    missing = len(locker.missing(n_cards))
    say(f"{count(missing, 'board')} to cluster with {count(pool.size, 'worker')}, into {default_folder()}")
    started = time.perf_counter()
    with Bar("clustering", missing, unit="boards", keep=True) as bar:
        peaks = locker.precompute(n_cards, pool, bar.advance)
    seconds = time.perf_counter() - started
    peak = f", at most {max(peaks):.0f} MiB in a worker" if peaks else ""
    click.echo(
        f"{count(missing, 'board')} in {duration(seconds)}{peak}; {locker.store.size() / 2**20:.0f} MiB"
    )
