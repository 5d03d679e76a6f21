"""``spewy buckets`` and ``spewy flops``: hands that share a bucket, and flops that represent all flops."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import check_picture, draw
from spewy.cli.options import dask_option, json_option, on_cluster, plot_option, refuse_unused
from spewy.cli.progress import Bar
from spewy.cli.tables import count, duration, json_text, number, percent, say, table_text

if TYPE_CHECKING:
    from spewy.look.buckets import BoardBuckets

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
    with closing(BucketLocker.open()) as locker:
        clusters = BoardBuckets.of(cards, rows, weights, clustering, locker)
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
    titles = ("bucket", "hands", "weight", "mean", "spread", "outcomes", "such as")
    rows = (_cells(clusters, row) for row in range(clusters.n_rows))
    return table_text(titles, rows, left=("outcomes", "such as"))


def _cells(clusters: BoardBuckets, row: int) -> tuple[str, ...]:
    from spewy.look.buckets import spark

    members = clusters.members(row)
    return (
        str(row),
        str(len(members)),
        number(float(clusters.weights[clusters.labels == row].sum()), 1),
        number(float(clusters.curves[row].mean()), 4),
        number(clusters.spread(row), 4),
        f"│{spark(clusters.histogram(row))}│",
        " ".join(members[:4]),
    )


def _precompute(family: str, workers: int | None, address: str | None) -> None:
    """Compute the merge trees of ``FAMILIES[family]`` that the user's cache lacks; Ctrl-C keeps finished trees."""
    import time

    from spewy.chunks.bucket_locker import FAMILIES, BucketLocker, default_folder
    from spewy.system.dask_pool import worker_pool

    with closing(BucketLocker.open()) as locker, on_cluster(address, workers):
        pool, missing = worker_pool(workers or WORKERS), len(locker.missing(FAMILIES[family]))
        say(
            f"{count(missing, 'board')} to cluster with {count(pool.size, 'worker')}, into {default_folder()}"
        )
        started = time.perf_counter()
        with Bar("clustering", missing, unit="boards", keep=True) as bar:
            peaks = locker.precompute(FAMILIES[family], pool, bar.advance)
        seconds = time.perf_counter() - started
        peak = f", at most {max(peaks):.0f} MiB in a worker" if peaks else ""
        click.echo(
            f"{count(missing, 'board')} in {duration(seconds)}{peak}; {locker.store.size() / 2**20:.0f} MiB"
        )


@click.command()
@click.argument("n", metavar="N", type=int)
@json_option
def flops(n: int, as_json: bool) -> None:
    """Print flops that represent all 1,755.

    Each of the N flops has a weight: how many of all 22,100 flops it represents.

    A batch with boards = { subset = N } solves these flops. Their weighted averages come close to the averages over all
    flops (docs/how-to/reports.md says how close). The same N gives the same flops on every machine.

    \b
    Examples:
      spewy flops 25
      spewy flops 184 --json

    \b
    --json prints one object:
      {"flops": {"AsKd2c": 24, ..}}, flops with their weights in the order of the table
    """  # noqa: D301
    from buckets.abstraction import flop_subset

    subset = flop_subset(n)
    named = subset.named()
    if as_json:
        click.echo(json_text({"flops": named}))
        return
    total = sum(named.values())
    rows = ((name, f"{n_flops:,}", percent(n_flops / total, 2)) for name, n_flops in named.items())
    click.echo(table_text(("flop", "stands for", "weight"), rows))
