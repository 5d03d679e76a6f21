"""The buckets of hands on one hold'em board, with the strength of their hands.

A hand's *outcomes* are the shares of opposing hands that it beats on each run-out, sorted from the worst run-out.

>>> buckets = BoardBuckets.of("Ks 7d 2c", rows=40)
>>> buckets.n_rows, buckets.curves.shape
(40, (40, 1081))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction import GROUPINGS, outcomes
from buckets.cards import Deck, cards_name, hand_name, hands, parse_cards
from buckets.errors import BoardError
from spewy.chunks.boards import LOCKED
from spewy.chunks.bucket_locker import BucketLocker
from spewy.errors import InputError, shown
from spewy.system.html import Printed, Table

BINS = 10
BARS = " ▁▂▃▄▅▆▇█"
MOST_MEMBERS = 8
"""Largest number of hands of a bucket that `print` shows."""


@dataclass(frozen=True, repr=False)
class BoardBuckets(Printed):
    """Buckets of the 1,326 hands on a hold'em board, numbered from the weakest.

    Attributes:
        asked: requested number of buckets; there may be fewer.
        labels: ``[hand]``, bucket of each hand; -1 for hands that the board blocks.
        weights: ``[hand]``, weight of each hand in the clustering; 0 for hands that the board blocks.
        outcomes: ``[hand, run-out]``, share of opposing hands beaten, ascending; NaN for hands that the board blocks.
        curves: ``[bucket, run-out]``, weighted mean of the outcomes of the bucket's hands.
    """

    board: tuple[int, ...]
    asked: int
    labels: NDArray[np.int32]
    weights: NDArray[np.float64]
    outcomes: NDArray[np.float64]
    curves: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        board: str | Sequence[int],
        rows: int = 40,
        weights: NDArray[np.float64] | None = None,
        clustering: str = LOCKED,
        locker: BucketLocker | None = None,
    ) -> Self:
        """Group the hands of a board.

        Args:
            board: 0, 3, 4 or 5 cards.
            weights: ``[hand]``, weight of each of the 1326 hands, in the order of `buckets.cards.hands`; None for 1
                each.
            clustering: method of clustering, a key of `buckets.abstraction.GROUPINGS`.
            locker: cache of clusterings on disk; None computes the clustering.

        Raises:
            BoardError: the board does not have 0, 3, 4 or 5 different cards.
        """
        cards = parse_cards(board) if isinstance(board, str) else tuple(board)
        if len(cards) not in (0, 3, 4, 5):
            raise BoardError(f"board {cards_name(cards)!r}: expected 0, 3, 4 or 5 cards, found {len(cards)}")
        if clustering not in GROUPINGS:
            raise InputError(f"clustering: expected one of {', '.join(GROUPINGS)}, found {shown(clustering)}")
        combos = hands(Deck(), 2)
        own = np.ones(len(combos)) if weights is None else weights
        if weights is None and clustering == LOCKED and locker is not None:
            labels = locker.labels(cards, rows)
        else:
            labels = GROUPINGS[clustering](cards, combos, own, rows)
        live = labels >= 0
        mass = np.where(live, own, 0.0)
        if not mass.any():
            raise InputError(f"range: expected weight on hands that {cards_name(cards)} leaves, found none")
        curves_of_hands = outcomes(cards, combos)
        n_rows = int(labels.max()) + 1
        curves = np.empty((n_rows, curves_of_hands.shape[1]))
        for row in range(n_rows):
            members = np.flatnonzero(labels == row)
            pull = mass[members] if mass[members].any() else None
            curves[row] = np.average(curves_of_hands[members], axis=0, weights=pull)
        return cls(cards, rows, labels, mass, curves_of_hands, curves)

    @property
    def n_rows(self) -> int:
        """Number of buckets."""
        return len(self.curves)

    def members(self, row: int) -> list[str]:
        """Return the names of the hands in bucket ``row``, the strongest first."""
        members = np.flatnonzero(self.labels == row)
        strongest = members[np.argsort(-self.outcomes[members].mean(axis=1), kind="stable")]
        combos = hands(Deck(), 2)
        return [hand_name(combos[h]) for h in strongest]

    def histogram(self, row: int) -> NDArray[np.float64]:
        """Return the share of the outcomes in bucket ``row`` that lie in each tenth of the interval from 0 to 1.

        All hands of the bucket weigh 1.
        """
        members = self.outcomes[self.labels == row]
        counts, _ = np.histogram(members, bins=BINS, range=(0.0, 1.0))
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    def spread(self, row: int) -> float:
        """Return the standard deviation of the outcomes in bucket ``row``, over all its hands and run-outs."""
        return float(self.outcomes[self.labels == row].std())

    def _table(self) -> Table:
        rows = tuple(
            (
                row,
                int((self.labels == row).sum()),
                float(self.curves[row].mean()),
                spark(self.histogram(row)),
                ", ".join(self.members(row)[:MOST_MEMBERS]),
            )
            for row in range(self.n_rows)
        )
        title = f"{self.n_rows} buckets on {cards_name(self.board) or 'no cards'}"
        return Table(title, ("bucket", "hands", "mean", "outcomes", "strongest hands"), rows)

    def to_json(self) -> dict[str, Any]:
        """Return the buckets and their hands as the JSON object that ``spewy buckets --json`` prints."""
        return {
            "board": cards_name(self.board),
            "rows": self.n_rows,
            "asked": self.asked,
            "buckets": [
                {
                    "hands": self.members(row),
                    "weight": float(self.weights[self.labels == row].sum()),
                    "mean": float(self.curves[row].mean()),
                    "spread": self.spread(row),
                    "histogram": self.histogram(row).tolist(),
                }
                for row in range(self.n_rows)
            ],
        }


def spark(shares: NDArray[np.float64]) -> str:
    """Draw a histogram as a line of text, scaled to its largest share.

    >>> spark(np.array([0.0, 0.25, 0.5]))
    ' ▄█'
    """
    top = shares.max()
    return "".join(BARS[int(np.ceil(share / top * (len(BARS) - 1)))] for share in shares)
