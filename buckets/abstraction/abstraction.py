"""An abstraction of all boards of a game: the board bucket of each board, the row of each hand, and numbered deals.

The boards of a *board bucket*, or *class*, share rows. A round has a given number of classes of boards as sets of
cards, which do not tell which card came when; or one class for each canonical history, which keeps the order of the
rounds (see `symmetry`). A round without public cards has one class. If classes *remember* the first board, each class
of first boards has later classes of its own, and boards with the same cards may be in several of them.

*Rows* are numbered within a class. Before the first card a row is a set of hands that differ by suits alone: hold'em's
169, as `preflop_classes` numbers them. Later rows come from `class_rows`; or each hand of the canonical board is a row,
in ascending order. Hands that a symmetry maps onto each other share a row, unless each hand is a row.

A *deal* is a full board with all hands that it leaves, in order of strength, each with its row in every round. A seed
and a number determine a deal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.abstraction.build import Arrays, Cache, Progress, build_arrays
from buckets.abstraction.spec import AbstractionSpec, first_dealt
from buckets.cards.boards import binomials
from buckets.cards.cards import NUM_CARDS, Deck
from buckets.cards.hands import hands
from buckets.cards.symmetry import hand_permutation, suit_permutations
from buckets.errors import BoardError


class Dealt(NamedTuple):
    """Deals: b is a deal, t a round, h a hand that the full board leaves.

    Attributes:
        classes: ``[b, t]``.
        rows: ``[b, t, h]``.
        cards: ``[b, h, 2]``, the hand's cards, numbered from 0 among the N cards that the board leaves; N is the second
            card of one-card hands.
        strength: ``[b, h]``.
        hands: ``[b, h]``, the hand's number in the deck; sorted by strength, then by row in the last round, then by
            number.
        boards: ``[b, card]``, in order of the rounds, ascending within a round.
    """

    classes: NDArray[np.int32]
    rows: NDArray[np.int16]
    cards: NDArray[np.int32]
    strength: NDArray[np.int32]
    hands: NDArray[np.int32]
    boards: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Abstraction:
    """Classes and rows of all boards of a game.

    Deals run through all first boards before a first board repeats; the deals of each first board run through all
    boards that can follow before one repeats, and so on.

    Attributes:
        deck: the cards of the game.
        hole: number of hole cards.
        board_sizes: ``[t]``, number of public cards that each round deals.
        arrays: the arrays that determine all else, by name; lockers store them unchanged.
    """

    deck: Deck
    hole: int
    board_sizes: tuple[int, ...]
    arrays: Arrays

    @classmethod
    def build(
        cls, spec: AbstractionSpec, progress: Progress = lambda done, of: None, cache: Cache | None = None
    ) -> Self:
        """Compute the abstraction of a specification: a minute or two for hold'em.

        Args:
            spec: the specification.
            progress: called with (finished boards, all boards).
            cache: features of boards by name; missing features are computed and stored here.

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
    def n_classes(self) -> tuple[int, ...]:
        """``[t]``, number of classes of each round."""
        return tuple(self.arrays["n_classes"].tolist())

    @property
    def n_rows(self) -> tuple[int, ...]:
        """``[t]``, number of rows of each class; a row may be empty."""
        return tuple(self.arrays["n_rows"].tolist())

    @property
    def remembers(self) -> bool:
        """Whether later classes remember the class of the first board."""
        return bool(self.arrays["memory"][:, 0].any())

    @property
    def first(self) -> int:
        """The first round that deals a card; the number of rounds if no round deals any."""
        return first_dealt(self.board_sizes)

    @property
    def all_remember(self) -> bool:
        """Whether every bucket of a later round lies within one flop bucket."""
        dealt = [t for t, size in enumerate(self.board_sizes) if size]
        groups, memory = (self.arrays["groups"] > 0).sum(axis=1), self.arrays["memory"][:, 0]
        return all(memory[t] or groups[t] == i + 1 for i, t in enumerate(dealt))

    @property
    def n_hands(self) -> int:
        """Number of hands that a full board leaves."""
        return comb(len(self.deck) - sum(self.board_sizes), self.hole)

    def boards(self, t: int, boards: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
        """Look up classes and rows on boards of a round.

        Args:
            t: the round.
            boards: ``[board, card]``, cards in order of the rounds.

        Returns:
            Classes ``[board]``, and rows ``[board, hand]`` of all hands of the deck, -1: the board blocks the hand.
        """
        from buckets.kernels.dealing import fill_boards

        if not 0 <= t < self.n_rounds:
            raise BoardError(f"round: expected 0 to {self.n_rounds - 1}, got {t!r}")
        cards = self._checked(boards, sum(self.board_sizes[: t + 1]))
        classes = np.empty(len(cards), dtype=np.int32)
        rows = np.empty((len(cards), len(hands(self.deck, self.hole))), dtype=np.int16)
        fill_boards(self._maps, t, cards, classes, rows)
        return classes, rows

    def deal(self, seed: int, numbers: Sequence[int] | NDArray[np.int64], out: Dealt | None = None) -> Dealt:
        """Deal by numbers.

        Args:
            seed: a number of 63 bits.
            numbers: the numbers of the deals, each at least 0.
            out: deals to overwrite, if there are as many.

        Raises:
            BoardError: a number is negative, or the seed has more bits.
        """
        from buckets.kernels.dealing import fill_deals

        asked = np.asarray(numbers, dtype=np.int64)
        if (asked < 0).any():
            raise BoardError(f"deals: expected numbers of at least 0, got {asked.min()}")
        if out is None or len(out.classes) != len(asked):
            out = self.room(len(asked))
        fill_deals(self._maps, self._sizes, _seed(seed), asked, *out)
        return out

    def classes_of_deals(self, seed: int, first: int, n: int) -> NDArray[np.int32]:
        """Return the classes ``[deal, t]`` of deals `first` to ``first + n - 1``, in a fraction of the time of `deal`.

        Raises:
            BoardError: a number is negative, or the seed has more than 63 bits.
        """
        from buckets.kernels.dealing import fill_classes

        if first < 0 or n < 0:
            raise BoardError(f"deals: expected a first and a count of at least 0, got {first} and {n}")
        classes = np.empty((n, self.n_rounds), dtype=np.int32)
        fill_classes(self._maps, self._sizes, _seed(seed), first, classes)
        return classes

    def room(self, n: int) -> Dealt:
        """Allocate the arrays of n deals."""
        return Dealt(
            np.empty((n, self.n_rounds), dtype=np.int32),
            np.empty((n, self.n_rounds, self.n_hands), dtype=np.int16),
            np.empty((n, self.n_hands, 2), dtype=np.int32),
            np.empty((n, self.n_hands), dtype=np.int32),
            np.empty((n, self.n_hands), dtype=np.int32),
            np.empty((n, sum(self.board_sizes)), dtype=np.int8),
        )

    def _checked(self, boards: ArrayLike, n_cards: int) -> NDArray[np.int64]:
        """Return boards as the kernels need them; raise BoardError for other boards."""
        array = np.array(boards)
        if array.ndim != 2 or array.shape[1] != n_cards:
            raise BoardError(f"boards: expected shape (n, {n_cards}), got {array.shape}")
        array = np.ascontiguousarray(array, dtype=np.int64)
        if not np.isin(array, self.deck.cards).all():
            raise BoardError(f"boards: expected cards of {self.deck}, got others")
        ascending = np.sort(array, axis=1)
        if (ascending[:, 1:] == ascending[:, :-1]).any():
            raise BoardError("boards: expected each card once on a board, got one twice")
        return array

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array(self.board_sizes, dtype=np.int64)

    @cached_property
    def _maps(self) -> Any:
        from buckets.kernels.dealing import Maps

        place = np.full(NUM_CARDS, -1, dtype=np.int64)
        place[list(self.deck.cards)] = np.arange(len(self.deck))
        perms = suit_permutations(self.deck)
        moved = np.array([hand_permutation(self.deck, self.hole, perm) for perm in perms], dtype=np.int16)
        arrays = self.arrays
        return Maps(
            hands(self.deck, self.hole).astype(np.int64),
            np.array(self.deck.cards, dtype=np.int64),
            place,
            binomials(),
            perms.astype(np.int64),
            moved,
            np.cumsum(self.board_sizes, dtype=np.int64),
            *(
                arrays[name]
                for name in (
                    *("groups", "kinds", "starts", "canonical", "perm_of", "classes", "rows"),
                    *("memory", "pairs"),
                )
            ),
        )


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise BoardError(f"seed: expected a number from 0 to 2**63 - 1, got {seed}")
    return seed
