"""``spewy buckets``: which hands share a bucket on a board."""

from __future__ import annotations

import click

from spewy.cli.options import verbose_option
from spewy.cli.tables import number, render

DEFAULT_ROWS = 40


@click.command()
@click.argument("board", metavar="BOARD", nargs=-1, required=True)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    default=DEFAULT_ROWS,
    show_default=True,
    help="How many buckets at most.",
)
@verbose_option
def buckets(board: tuple[str, ...], rows: int) -> None:
    """Print the buckets of a board, from the weakest to the strongest.

    Hands are grouped by their all-in equity against all hands that the board leaves.

    \b
    Examples:
      spewy buckets "Qs Jh 2h"
      spewy buckets QsJh2h8c --rows 10
    """  # noqa: D301
    import numpy as np
    from rich.table import Table

    from buckets.cards import Deck, parse_cards
    from buckets.equity import equities
    from buckets.errors import BoardError
    from buckets.grouping import equity_quantiles
    from buckets.hands import hand_name, hands

    cards = parse_cards(" ".join(board))
    if len(cards) not in (3, 4, 5):
        raise BoardError(f"board {' '.join(board)!r}: expected 3, 4 or 5 cards, found {len(cards)}")
    combos = hands(Deck(), 2)
    weights = np.ones(len(combos))
    labels = equity_quantiles(cards, combos, weights, rows)
    equity = equities(cards, combos, weights)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("bucket", "hands", "mean equity", "lowest", "highest"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("such as", no_wrap=True)
    for bucket in range(labels.max() + 1):
        members = np.flatnonzero(labels == bucket)
        own = equity[members]
        strongest = members[np.argsort(-own, kind="stable")]
        table.add_row(
            str(bucket),
            str(len(members)),
            *(number(float(value), 4) for value in (own.mean(), own.min(), own.max())),
            " ".join(hand_name(combos[h]) for h in strongest[:4]),
        )
    click.echo(render(table))
