"""Deal the cards of a match from its seed, as the ACPC's reference dealer does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from spewy.errors import InputError, shown
from spewy.game.gamefile import Game

MOST_SEED = 2**32 - 1
_WORDS = 624


@dataclass(frozen=True)
class Dealt:
    """All cards of one hand.

    Attributes:
        hole: hole cards of players 0 and 1.
        board: public cards of all rounds in the order of the deal, also of rounds that the hand does not reach.
    """

    hole: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]


def deals(game: Game, seed: int) -> Iterator[Dealt]:
    """Yield the cards of a match, hand after hand.

    Raises:
        InputError: the seed is not between 0 and `MOST_SEED`.
    """
    rng = _generator(seed)
    # The reference dealer's deck goes suit by suit.
    cards = sorted(game.deck.cards, key=lambda card: (card & 3, card >> 2))
    size, n_board = game.num_hole_cards, sum(game.num_board_cards)
    while True:
        drawn = _drawn(rng, list(cards), 2 * size + n_board)
        yield Dealt((drawn[:size], drawn[size : 2 * size]), drawn[2 * size :])


def hand_seed(seed: int, number: int) -> int:
    """Return the seed of a bot's random choices in hand ``number`` of a match that has the seed ``seed``."""
    return seed << 32 | number


def _drawn(rng: Random, deck: list[int], number: int) -> tuple[int, ...]:
    """Draw cards one by one; after each draw the deck's last card moves to where the drawn card was."""
    out = []
    for _ in range(number):
        place = rng.getrandbits(32) % len(deck)
        out.append(deck[place])
        deck[place] = deck[-1]
        deck.pop()
    return tuple(out)


def _generator(seed: int) -> Random:
    """Make a Mersenne Twister that is seeded as in C programs; Python's own `seed` would mix the number first."""
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"seed: expected 0 to {MOST_SEED}, found {shown(seed)}")
    words = [seed]
    for i in range(1, _WORDS):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
    rng = Random()
    rng.setstate((3, (*words, _WORDS), None))
    return rng
