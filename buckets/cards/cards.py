"""Cards as ints, their names, and decks.

A card is ``4 * rank + suit``: rank 0 is the deuce, 12 the ace; suits c d h s are 0 to 3. So card 0 is 2c and
51 is As, and ascending ints are ascending ranks. Cards are written ``Qs Jh 2h``; `parse_cards` reads other spellings,
too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from buckets.errors import CardError

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_CARDS = 52

_SIGNS = str.maketrans("♠♤♥♡♦♢♣♧", "sshhddcc", "\ufe0e\ufe0f\ufeff")
_BLANKS = re.compile(r"\s*")
_BRACKETS = str.maketrans("[]", "  ")
_BETWEEN = re.compile(r"\s*[,;|/–—-]?\s*")


def parse_card(text: str) -> int:
    """Read one card.

    >>> parse_card("As")
    51
    """
    return _parse_token(plain_suits(text), 0)


def card_name(card: int) -> str:
    """Return the name of a card.

    >>> card_name(51)
    'As'
    """
    if not 0 <= card < NUM_CARDS:
        raise CardError(f"card: expected an int from 0 to {NUM_CARDS - 1}, got {card!r}")
    return RANKS[card >> 2] + SUITS[card & 3]


def parse_cards(text: str, *, strict: bool = False) -> tuple[int, ...]:
    """Read cards in the order given, as people write them.

    Capital and small letters mean the same, suits may be signs, and between two cards there may be white space and one
    of the signs ``, ; | / -``. Brackets count as white space, since hand histories write ``[Qs Jh 2h] [8c]``.

    >>> parse_cards("Qs Jh 2h") == parse_cards("QsJh2h") == parse_cards("qs, j♥ | 2H") == (43, 38, 2)
    True

    Args:
        strict: whether to read only the spelling of `cards_name`, with or without white space, as protocols require.

    Raises:
        CardError: the text is not cards, or names a card twice.
    """
    plain, between = (text, _BLANKS) if strict else (plain_suits(text).translate(_BRACKETS), _BETWEEN)
    cards: list[int] = []
    position = len(plain) - len(plain.lstrip())
    while position < len(plain):
        end = position + 2
        token = plain[position:end]
        card = _parse_token(token, position, plain[end : end + 1], strict=strict)
        if card in cards:
            raise CardError(
                f"card {token!r} at position {position} of {plain[:end]!r}: expected each card once"
            )
        cards.append(card)
        gap = between.match(plain, end)
        assert gap is not None
        position = gap.end()
    return tuple(cards)


def plain_suits(text: str) -> str:
    """Replace the signs of suits by letters, and remove invisible characters that come with them.

    >>> plain_suits("A♠K♥")
    'AsKh'
    """
    return text.translate(_SIGNS)


def cards_name(cards: Iterable[int]) -> str:
    """Return the names of cards as one text, in the order given.

    >>> cards_name((43, 38, 2))
    'QsJh2h'
    """
    return "".join(card_name(card) for card in cards)


@dataclass(frozen=True)
class Deck:
    """The cards of a game: the highest ranks in the last suits of c d h s, which is the ACPC's rule.

    >>> cards_name(Deck(num_ranks=3, num_suits=2).cards)
    'QhQsKhKsAhAs'
    """

    num_ranks: int = 13
    num_suits: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.num_ranks <= len(RANKS):
            raise CardError(f"deck ranks: expected 1 to {len(RANKS)}, got {self.num_ranks!r}")
        if not 1 <= self.num_suits <= len(SUITS):
            raise CardError(f"deck suits: expected 1 to {len(SUITS)}, got {self.num_suits!r}")

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """All cards, ascending."""
        return tuple(
            4 * rank + suit
            for rank in range(len(RANKS) - self.num_ranks, len(RANKS))
            for suit in range(len(SUITS) - self.num_suits, len(SUITS))
        )

    def __len__(self) -> int:
        return self.num_ranks * self.num_suits


def _parse_token(token: str, position: int, following: str = "", *, strict: bool = False) -> int:
    rank, suit = (token[:1], token[1:]) if strict else (token[:1].upper(), token[1:].lower())
    if len(token) != 2 or rank not in RANKS or suit not in SUITS:
        ten = "; a ten is T" if token == "10" and not following.isdigit() else ""
        raise CardError(
            f"card {token!r} at position {position}: expected a rank of {RANKS} and a suit of {SUITS}{ten}"
        )
    return 4 * RANKS.index(rank) + SUITS.index(suit)
