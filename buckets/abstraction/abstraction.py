"""An abstraction of all boards of a game: the board bucket of each board, the row of each hand, and numbered deals.

The boards of a *board bucket* share rows and strategies. A round has either a given number of board buckets, whatever
the order in which the cards came; or one board bucket for each canonical history, which distinguishes the rounds in
which the cards came (see `buckets.cards.symmetry`). A round without public cards has one board bucket. There are two
kinds of abstractions in which boards with the same cards can be in several board buckets. If the *order* counts, a
board bucket also depends on which cards came last. In an abstraction that *remembers* the flop, each board bucket of
flops has board buckets of its own in later rounds. (The *flop* of any game is the board after the first deal.)

A *row* is a group of hands that share a strategy, or a single hand; rows are numbered within a board bucket. Before the
flop, hands that are equal up to suits share a row: hold'em has 169 rows, in the order of `preflop_classes`. In later
rounds hands are clustered (`buckets.abstraction.build`); or each hand of the canonical board is a row, in ascending
order. If hands are not rows themselves, hands that are equal up to suits share a row.

A *deal* is a full board with all hands that it does not block, in order of strength, each with its row in every round.
A seed and a number determine a deal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.abstraction.build import ARRAYS, Arrays, Cache, Progress, build_arrays
from buckets.abstraction.spec import AbstractionSpec, first_dealt
from buckets.cards.boards import binomials
from buckets.cards.cards import Deck
from buckets.cards.hands import card_places, hands
from buckets.cards.symmetry import hand_permutations, suit_permutations
from buckets.errors import BoardError

if TYPE_CHECKING:
    from scipy import sparse

DEALS = 20_000
"""Number of deals on which overlaps are counted; with 600 deals for 60 board buckets a solve starts worse."""
DEALS_AT_ONCE = 1024


class Dealt(NamedTuple):
    """Full boards (deals), each with its board buckets and with all hands that it does not block.

    Attributes:
        board_buckets: ``[deal, round]``, the board bucket of the deal's board in each round.
        rows: ``[deal, round, hand]``, the row (group of hands that share a strategy) of each hand in each round.
        cards: ``[deal, hand, 2]``, the hand's cards, numbered from 0 among the N cards that are not on the board; the
            second card of one-card hands is N.
        strength: ``[deal, hand]``, the strength of the hand on the full board (`buckets.cards.strength`).
        hands: ``[deal, hand]``, the hand's number in the deck. Hands are sorted by strength, then by row in the last
            round, then by number.
        boards: ``[deal, card]``, the public cards in order of the rounds, ascending within a round.
    """

    board_buckets: NDArray[np.int32]
    rows: NDArray[np.int16]
    cards: NDArray[np.int32]
    strength: NDArray[np.int32]
    hands: NDArray[np.int32]
    boards: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Abstraction:
    """The board bucket (group) of each board of a game, the row (group) of each hand on it, and numbered deals.

    A deal is a random full board with all hands that it does not block. Consecutive deals go through all flops before
    a flop comes again. The deals with one flop go through all turns before a turn comes again, and so on.

    Attributes:
        board_sizes: ``[round]``, number of public cards that each round deals.
        arrays: the arrays that define the abstraction, by name; lockers store them unchanged.
    """

    deck: Deck
    hole: int
    board_sizes: tuple[int, ...]
    arrays: Arrays

    @classmethod
    def build(
        cls, spec: AbstractionSpec, progress: Progress = lambda done, of: None, cache: Cache | None = None
    ) -> Self:
        """Compute the abstraction of a specification; hold'em takes a minute or two.

        Args:
            progress: called with (finished boards, all boards).
            cache: features of boards by name, as in `build.feature_names`; the function adds missing features.

        Raises:
            BoardError: there are too few boards for the board buckets, or too many boards.
        """
        arrays = build_arrays(spec, progress, {} if cache is None else cache)
        return cls(spec.deck, spec.hole, spec.board_sizes, arrays)

    @property
    def n_rounds(self) -> int:
        """Number of rounds of the game."""
        return len(self.board_sizes)

    @property
    def n_board_buckets(self) -> tuple[int, ...]:
        """Number of board buckets of each round."""
        return tuple(self.arrays["n_classes"].tolist())

    @property
    def n_rows(self) -> tuple[int, ...]:
        """Number of rows of each round's board buckets; some rows of a board bucket may have no hands."""
        return tuple(self.arrays["n_rows"].tolist())

    @property
    def remembers(self) -> bool:
        """Whether the board bucket of some board depends on the order of its cards."""
        ordered = (self.arrays["groups"] > 0).sum(axis=1) > 1
        return bool(ordered.any() or self.arrays["memory"][:, 0].any())

    @property
    def first(self) -> int:
        """The first round that deals a card; the number of rounds if no round deals any."""
        return first_dealt(self.board_sizes)

    @property
    def all_remember(self) -> bool:
        """Whether in every round after the flop all boards of a board bucket come from one board bucket of flops."""
        later = [t for t, size in enumerate(self.board_sizes) if size][1:]
        n_groups = (self.arrays["groups"] > 0).sum(axis=1)
        n_boards = np.diff(self.arrays["starts"][:, 1], append=len(self.arrays["classes"]))
        every_history = self.arrays["n_classes"] == n_boards  # with a group for each deal
        return all((every_history[t] and n_groups[t] == i) or self._apart(t) for i, t in enumerate(later, 2))

    def _apart(self, t: int) -> bool:
        """Whether round t has `Pairs`, and each of its board buckets has pairs of a single board bucket of flops."""
        n_boards, start = self.arrays["memory"][t]
        if not n_boards:
            return False
        n_flops, n = self.n_board_buckets[self.first], self.n_board_buckets[t]
        pairs = self.arrays["pairs"][start : start + n_flops * n_boards].reshape(n_flops, n_boards)
        flop, board = np.nonzero(pairs >= 0)
        bucket = self.arrays["classes"][self.arrays["starts"][t, 1] + pairs[flop, board]]
        least, most = np.full(n, n_flops), np.full(n, -1)
        np.minimum.at(least, bucket, flop)
        np.maximum.at(most, bucket, flop)
        return bool((least == most).all())

    @property
    def n_hands(self) -> int:
        """Number of hands that a full board does not block."""
        return comb(len(self.deck) - sum(self.board_sizes), self.hole)

    def boards(self, t: int, boards: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
        """Look up the board buckets of boards, and the rows of all hands on them.

        Args:
            boards: ``[board, card]``, cards in order of the rounds.

        Returns:
            The board buckets, ``[board]``, and the rows of all hands of the deck, ``[board, hand]``; row -1: the board
            blocks the hand.
        """
        from buckets.kernels.dealing import fill_boards

        if not 0 <= t < self.n_rounds:
            raise BoardError(f"round: expected 0 to {self.n_rounds - 1}, got {t!r}")
        cards = self._checked(boards, sum(self.board_sizes[: t + 1]))
        board_buckets = np.empty(len(cards), dtype=np.int32)
        rows = np.empty((len(cards), len(hands(self.deck, self.hole))), dtype=np.int16)
        fill_boards(self._maps, t, cards, board_buckets, rows)
        return board_buckets, rows

    def deal(
        self,
        seed: int,
        numbers: Sequence[int] | NDArray[np.int64],
        out: Dealt | None = None,
        start: Sequence[int] = (),
    ) -> Dealt:
        """Return the deals with the given numbers.

        Args:
            seed: a number of 63 bits.
            numbers: the numbers of the deals, each at least 0.
            out: arrays that are overwritten and returned if they have the right number of deals; otherwise, or if None,
                the function allocates new arrays.
            start: public cards of the first rounds with which every deal begins; the numbers and the seed determine
                the cards of later rounds.

        Raises:
            BoardError: a number is negative, the seed has more than 63 bits, or ``start`` is no board of a round.
        """
        from buckets.kernels.dealing import fill_deals

        if len(start) not in (0, *np.cumsum(self.board_sizes)):
            raise BoardError(f"start: expected all cards of the first rounds, got {len(start)} cards")
        first = self._checked([start], len(start))[0]

        indices = np.asarray(numbers, dtype=np.int64)
        if (indices < 0).any():
            raise BoardError(f"deals: expected numbers of at least 0, got {indices.min()}")
        if out is None or len(out.board_buckets) != len(indices):
            out = self.room(len(indices))
        fill_deals(self._maps, self._sizes, first, _seed(seed), indices, *out)
        return out

    def classes_of_deals(self, seed: int, first: int, n: int) -> NDArray[np.int32]:
        """Return the board buckets ``[deal, round]`` of n consecutive deals, from deal number `first` on.

        This takes a fraction of the time of `deal`.

        Raises:
            BoardError: a number is negative, or the seed has more than 63 bits.
        """
        from buckets.kernels.dealing import fill_classes

        if first < 0 or n < 0:
            raise BoardError(f"deals: expected a first and a count of at least 0, got {first} and {n}")
        board_buckets = np.empty((n, self.n_rounds), dtype=np.int32)
        fill_classes(self._maps, self._sizes, _seed(seed), first, board_buckets)
        return board_buckets

    def room(self, n: int) -> Dealt:
        """Allocate arrays for n deals, without setting their values."""
        return Dealt(
            np.empty((n, self.n_rounds), dtype=np.int32),
            np.empty((n, self.n_rounds, self.n_hands), dtype=np.int16),
            np.empty((n, self.n_hands, 2), dtype=np.int32),
            np.empty((n, self.n_hands), dtype=np.int32),
            np.empty((n, self.n_hands), dtype=np.int32),
            np.empty((n, sum(self.board_sizes)), dtype=np.int8),
        )

    def _checked(self, boards: ArrayLike, n_cards: int) -> NDArray[np.int64]:
        """Check boards ``[board, card]``, and return them in the form that the kernels need."""
        array = np.array(boards)
        if array.ndim != 2 or array.shape[1] != n_cards:
            raise BoardError(f"boards: expected shape (n, {n_cards}), got {array.shape}")
        array = np.ascontiguousarray(array, dtype=np.int64)
        if not np.isin(array, self.deck.cards).all():
            raise BoardError(f"boards: expected cards of {self.deck}, got other cards")
        ascending = np.sort(array, axis=1)
        if (ascending[:, 1:] == ascending[:, :-1]).any():
            raise BoardError("boards: expected each card once on a board, got a card twice")
        return array

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array(self.board_sizes, dtype=np.int64)

    @cached_property
    def _maps(self) -> Any:
        from buckets.kernels.dealing import Maps

        return Maps(
            hands(self.deck, self.hole).astype(np.int64),
            np.array(self.deck.cards, dtype=np.int64),
            card_places(self.deck),
            binomials(),
            suit_permutations(self.deck).astype(np.int64),
            hand_permutations(self.deck, self.hole),
            np.cumsum(self.board_sizes, dtype=np.int64),
            *(self.arrays[name] for name in ARRAYS[:-2]),  # without n_classes and n_rows
        )


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise BoardError(f"seed: expected a number from 0 to 2**63 - 1, got {seed}")
    return seed


def overlaps(
    old: Abstraction, new: Abstraction, seed: int = 0, n_deals: int = DEALS
) -> "list[sparse.csr_array]":
    """Estimate how the hands of each row of a new abstraction spread over the rows of an old abstraction.

    Both abstractions look up the same deals of the same game. The result has for each round a matrix
    ``[new row, old row]``: the share of the new row's hands that are in the old row. Row r of board bucket c has the
    index ``c * n_rows + r``. The shares of a new row sum to 1, or to 0 if no dealt hand was in the row.
    """
    from scipy import sparse

    if (old.deck, old.hole, old.board_sizes) != (new.deck, new.hole, new.board_sizes):
        raise BoardError("abstractions: expected two abstractions of one game, got different games")
    rounds = range(new.n_rounds)
    sizes = [tuple(each.n_board_buckets[t] * each.n_rows[t] for each in (new, old)) for t in rounds]
    counts = [sparse.csr_array(size, dtype=np.float32) for size in sizes]
    for first in range(0, n_deals, DEALS_AT_ONCE):
        n = min(DEALS_AT_ONCE, n_deals - first)
        indices = [_row_indices(each, seed, first, n) for each in (new, old)]
        for t in rounds:
            new_rows, old_rows = (by_round[t].ravel() for by_round in indices)
            ones = np.ones(len(new_rows), dtype=np.float32)
            counts[t] = counts[t] + sparse.coo_array((ones, (new_rows, old_rows)), shape=sizes[t]).tocsr()
    return [_shares(matrix) for matrix in counts]


def _row_indices(abstraction: Abstraction, seed: int, first: int, n: int) -> list[np.ndarray]:
    """Return for each round the index ``c * n_rows + r`` (bucket c, row r) of each dealt hand: ``[deal, hand]``."""
    dealt = abstraction.deal(seed, range(first, first + n))
    order = np.argsort(dealt.hands, axis=1)
    return [
        np.take_along_axis(dealt.rows[:, t].astype(np.int64), order, axis=1)
        + abstraction.n_rows[t] * dealt.board_buckets[:, t, None].astype(np.int64)
        for t in range(abstraction.n_rounds)
    ]


def _shares(counts: "sparse.csr_array") -> "sparse.csr_array":
    from scipy import sparse

    totals = np.maximum(counts.sum(axis=1), 1.0)
    return sparse.csr_array(sparse.diags_array(1.0 / totals) @ counts).astype(np.float32)
