"""Specification of an abstraction (see the module `abstraction`): how many board buckets and rows each round has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from buckets.cards.cards import Deck
from buckets.cards.strength import CARD_COUNTS
from buckets.errors import BoardError

GRADES = 255
"""Number of grades of strength, from 0 for the weakest hands.

In arrays of grades this number says that the board blocks the hand.
"""

MAX_ROWS = 255
"""Largest number of rows of a board bucket, since a row is stored in a byte; not a limit if each hand is a row."""

NO_ROW = 255
"""The row of a hand that the board blocks."""

BY_BOARD, BY_GRADE, BY_HAND = range(3)
"""How to find the row of a hand: by canonical board and hand, by board bucket and grade, or each hand is a row."""

Classes: TypeAlias = int | Literal["all"]
"""Number of board buckets of a round; "all": one for each canonical history."""
Rows: TypeAlias = int | Literal["hands"]
"""Largest number of rows of each board bucket; "hands": one row per hand."""
Remember: TypeAlias = bool | Literal["order"]
"""Whether boards of a bucket must have flops of one bucket; "order": no, but similar boards before the last card."""


@dataclass(frozen=True)
class AbstractionSpec:
    """Numbers of board buckets (groups of boards) and rows (groups of hands) in each round of an abstraction.

    Attributes:
        board_sizes: ``[round]``, number of public cards that each round deals.
        board_buckets: ``[round]``, number of board buckets of each round; "all": a board bucket for each canonical
            history.
        rows: ``[round]``, largest number of rows of each board bucket; "hands": a row for each hand, which is only
            possible if the round's board buckets are "all".
        seed: seed of the clusterings.
        remember: whether the order of the cards counts. False: boards are clustered by their own features alone;
            "order": by their own features and those of the board before the last deal; True: each board bucket of flops
            (boards after the first deal) has separate board buckets in later rounds.

    Raises:
        BoardError: the tuples have different lengths, or a number is not possible for this deck.
    """

    deck: Deck
    hole: int
    board_sizes: tuple[int, ...]
    board_buckets: tuple[Classes, ...]
    rows: tuple[Rows, ...]
    seed: int = 0
    remember: Remember = False

    def __post_init__(self) -> None:
        n_rounds, n_cards = len(self.board_sizes), self.hole + sum(self.board_sizes)
        for name, values in (("board buckets", self.board_buckets), ("rows", self.rows)):
            if len(values) != n_rounds:
                raise BoardError(
                    f"{name}: expected a number for each of {n_rounds} rounds, got {len(values)}"
                )
        if n_cards not in CARD_COUNTS:
            raise BoardError(f"hole and board cards: expected one of {CARD_COUNTS} together, got {n_cards}")
        if n_cards + self.hole > len(self.deck):
            raise BoardError(
                f"deck: expected cards for two hands and a board, {n_cards + self.hole}, got {len(self.deck)}"
            )
        for t in range(n_rounds):
            self._check_round(t)

    def _check_round(self, t: int) -> None:
        board_buckets, rows = self.board_buckets[t], self.rows[t]
        if board_buckets != "all" and board_buckets < 1:
            raise BoardError(
                f"board buckets of round {t}: expected at least 1, or 'all', got {board_buckets}"
            )
        if rows != "hands" and not 1 <= rows <= MAX_ROWS:
            raise BoardError(f"rows of round {t}: expected 1 to {MAX_ROWS}, or 'hands', got {rows}")
        if rows == "hands" and board_buckets != "all" and self.n_cards(t):
            raise BoardError(
                f"rows of round {t}: 'hands' is only possible with board buckets 'all', got {board_buckets}"
            )

    def remembers(self, t: int) -> bool:
        """Return whether the board buckets of round t, after the flop, depend on the board bucket of the flop.

        False if the round has a board bucket for each canonical history, which includes the flop.
        """
        return self.remember is True and self.board_buckets[t] != "all" and t > self.first

    @property
    def first(self) -> int:
        """The first round that deals a card; the number of rounds if no round deals any."""
        return first_dealt(self.board_sizes)

    def n_cards(self, t: int) -> int:
        """Return the number of public cards in round t."""
        return sum(self.board_sizes[: t + 1])

    @property
    def n_board(self) -> int:
        """Number of cards of a full board."""
        return sum(self.board_sizes)

    def groups(self, t: int) -> tuple[int, ...]:
        """Return the numbers of cards of the groups that make a board of round t (see `buckets.cards.boards`).

        With board buckets "all" there is a group for each round that dealt cards. Otherwise all cards are one group or,
        if the order counts, the cards that were dealt last are one group and the cards before them another.
        """
        dealt = tuple(size for size in self.board_sizes[: t + 1] if size)
        if self.board_buckets[t] == "all":
            return dealt
        groups = (sum(dealt[:-1]), *dealt[-1:]) if self.remember == "order" else (sum(dealt),)
        return tuple(size for size in groups if size)


def first_dealt(board_sizes: Sequence[int]) -> int:
    """Return the first round that deals a card; the number of rounds if no round deals any."""
    return next((t for t, size in enumerate(board_sizes) if size), len(board_sizes))
