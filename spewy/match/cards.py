"""Cards as the ACPC's reference dealer deals them: a match's seed alone determines the cards."""

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
        board: public cards of all rounds in the order of the deal; a hand may end before they are shown.
    """

    hole: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]


def deals(game: Game, seed: int) -> Iterator[Dealt]:
    """Yield the cards of a match, hand after hand.

    Raises:
        InputError: the seed is no whole number of 32 bits.
    """
    rng = _generator(seed)
    # The reference dealer's deck goes suit by suit.
    cards = sorted(game.deck.cards, key=lambda card: (card & 3, card >> 2))
    size, n_board = game.num_hole_cards, sum(game.num_board_cards)
    while True:
        drawn = _drawn(rng, list(cards), 2 * size + n_board)
        yield Dealt((drawn[:size], drawn[size : 2 * size]), drawn[2 * size :])


def hand_seed(seed: int, number: int) -> int:
    """Seed for a bot's random draws in one hand of a match."""
    return seed << 32 | number


def _drawn(rng: Random, deck: list[int], number: int) -> tuple[int, ...]:
    """Draw cards one by one; each drawn card's place is filled with the deck's last card."""
    out = []
    for _ in range(number):
        place = rng.getrandbits(32) % len(deck)
        out.append(deck[place])
        deck[place] = deck[-1]
        deck.pop()
    return tuple(out)


def _generator(seed: int) -> Random:
    """The Mersenne Twister with the seeding of C programs; Python's own `seed` mixes the number first."""
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"seed: expected 0 to {MOST_SEED}, found {shown(seed)}")
    words = [seed]
    for i in range(1, _WORDS):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
    rng = Random()
    rng.setstate((3, (*words, _WORDS), None))
    return rng
