"""An abstraction of all boards of a game: the class of a board in each round, the row of a hand there, and deals.

A *class* of a round are boards that share rows. There are as many as asked for, of boards taken as sets of cards,
which forget which card came when; or all, one for each canonical history (the order of rounds kept, as in
`symmetry`). In a round without a card there is one. Classes may *remember* the class of the first board: each
class of first boards has later classes of its own then, which boards of one set may belong to.

*Rows* are numbered within a class: before the first card the kinds of hands that suits alone tell apart, hold'em's
169 as `preflop_classes` numbers them; later what `class_rows` makes; or single hands, ascending, of the
canonical board. Hands that a symmetry maps onto each other share a row, but for single hands.

A *deal* is a full board with all hands that it leaves, in order of strength, each with its row in every round. Deals
have numbers, and a seed decides them: whoever asks for a number gets the same.
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
    """Some deals: b of them, t rounds, h hands that a full board leaves, N cards that it leaves.

    Attributes:
        classes: ``[b, t]``.
        rows: ``[b, t, h]``.
        cards: ``[b, h, 2]``, a hand's cards by their numbers, from 0, among those that the board leaves; N in place of
            the second card of one-card hands.
        strength: ``[b, h]``.
        hands: ``[b, h]``, numbers among the deck's; ascending by strength, of equals by row in the last round, of
            equals by number.
        boards: ``[b, card]``, in order of the rounds, those of a round ascending.
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

    Attributes:
        deck, hole: the game's cards.
        board_sizes: ``[t]``, how many public cards each round deals.
        arrays: what decides everything else, by name, to be kept and read as it stands.

    Deals run through all first boards before any comes again, of each first board through all that follow, and so on.
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
        """How many rounds the game has."""
        return len(self.board_sizes)

    @property
    def n_classes(self) -> tuple[int, ...]:
        """``[t]``, as many as were asked for, or as there are."""
        return tuple(self.arrays["n_classes"].tolist())

    @property
    def n_rows(self) -> tuple[int, ...]:
        """``[t]``, rows of each class; some may be nobody's."""
        return tuple(self.arrays["n_rows"].tolist())

    @property
    def remembers(self) -> bool:
        """Whether classes of a round remember that of the first board."""
        return bool(self.arrays["memory"][:, 0].any())

    @property
    def first(self) -> int:
        """The first round with a card; as many rounds as there are, if there is none."""
        return first_dealt(self.board_sizes)

    @property
    def all_remember(self) -> bool:
        """Whether a board's class tells the class of the first board, in all later rounds."""
        dealt = [t for t, size in enumerate(self.board_sizes) if size]
        groups, memory = (self.arrays["groups"] > 0).sum(axis=1), self.arrays["memory"][:, 0]
        return all(memory[t] or groups[t] == i + 1 for i, t in enumerate(dealt))

    @property
    def n_hands(self) -> int:
        """How many hands a full board leaves."""
        return comb(len(self.deck) - sum(self.board_sizes), self.hole)

    def boards(self, t: int, boards: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
        """Classes and rows on some boards of a round.

        Args:
            t: the round.
            boards: ``[board, card]``, cards in order of the rounds.

        Returns:
            ``[board]`` classes, and ``[board, hand]`` rows of all hands of the deck, -1 where the board hits them.
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
        """Some of the deals that a seed decides.

        Args:
            seed: any number of 63 bits.
            numbers: of the deals, each at least 0.
            out: to be overwritten, if it has room for so many.

        Raises:
            BoardError: a number is none.
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
        """``[deal, t]``: classes of deals number `first` to ``first + n - 1``, a small part of the work of `deal`.

        Raises:
            BoardError: a number is none.
        """
        from buckets.kernels.dealing import fill_classes

        if first < 0 or n < 0:
            raise BoardError(f"deals: expected a first and a count of at least 0, got {first} and {n}")
        classes = np.empty((n, self.n_rounds), dtype=np.int32)
        fill_classes(self._maps, self._sizes, _seed(seed), first, classes)
        return classes

    def room(self, n: int) -> Dealt:
        """Arrays for n deals, with nothing in them."""
        return Dealt(
            np.empty((n, self.n_rounds), dtype=np.int32),
            np.empty((n, self.n_rounds, self.n_hands), dtype=np.int16),
            np.empty((n, self.n_hands, 2), dtype=np.int32),
            np.empty((n, self.n_hands), dtype=np.int32),
            np.empty((n, self.n_hands), dtype=np.int32),
            np.empty((n, sum(self.board_sizes)), dtype=np.int8),
        )

    def _checked(self, boards: ArrayLike, n_cards: int) -> NDArray[np.int64]:
        """Boards as kernels take them."""
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
