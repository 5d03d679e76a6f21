"""A bot as a function: `play_acpc` plays a match at an ACPC dealer, and asks the function for each decision.

>>> import spewy
>>> def decide(turn: spewy.Turn) -> str:
...     return turn.raised(0.75) if turn.cards[0][0] == turn.cards[1][0] else "c"
>>> spewy.play_acpc(decide, "localhost", 20001)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from buckets.cards import card_name
from spewy.competitions.acpc.client import PATIENCE, Match, Note, play
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game, load_game
from spewy.game.hand import Hand
from spewy.match.connection import connect
from spewy.match.opponents import raised

GAME = "holdem.nolimit.2p.reverse_blinds"


@dataclass(frozen=True)
class Turn:
    """A decision: what the player to act knows, and the legal actions with their sizes.

    Amounts are chips. Actions are written as in the ACPC's protocol: ``"f"`` folds, ``"c"`` calls or checks, ``"r"``
    bets or raises in limit games. In no-limit games ``"r600"`` bets or raises *to 600*: to a total of 600 chips that
    the player has put in over the whole hand, blinds and earlier rounds included.

    Attributes:
        number: number of the hand in the match, from 0.
        seat: the player's seat in this hand: 1 is the button, which acts first before the flop; 0 is the big blind,
            which acts first after it. Seats swap after each hand.
        hand: the hand so far, for rules that need more than the properties below.
    """

    number: int
    seat: int
    hand: Hand

    @property
    def cards(self) -> tuple[str, ...]:
        """The player's own cards, such as ``("As", "Kd")``."""
        return tuple(map(card_name, self.hand.hole[self.seat] or ()))

    @property
    def board(self) -> tuple[str, ...]:
        """The public cards, in the order of the deal."""
        return tuple(map(card_name, self.hand.board))

    @property
    def line(self) -> str:
        """The betting so far, as an ACPC betting string such as ``"r300c/c"``."""
        return self.hand.betting.line

    @property
    def round(self) -> int:
        """The betting round; 0 is before the flop."""
        return self.hand.betting.round

    @property
    def pot(self) -> int:
        """Chips that both players have put in over the whole hand so far."""
        return sum(self.hand.betting.spent)

    @property
    def put_in(self) -> int:
        """Chips that the player has put in over the whole hand."""
        return self.hand.betting.spent[self.seat]

    @property
    def to_call(self) -> int:
        """Chips that a call costs; 0 if the player can check."""
        betting = self.hand.betting
        return min(max(betting.spent), betting.stack(self.seat)) - self.put_in

    @property
    def stack(self) -> int:
        """Chips that the player has not put in yet."""
        return self.hand.betting.stack(self.seat) - self.put_in

    @property
    def raise_to(self) -> tuple[int, int] | None:
        """The smallest and the largest total of a legal bet or raise; None if neither is legal."""
        return self.hand.betting.raise_bounds()

    @property
    def actions(self) -> tuple[str, ...]:
        """The legal actions; of all no-limit raises only the smallest and the largest.

        >>> Turn(0, 1, Hand.start(load_game(GAME))).actions
        ('f', 'c', 'r200', 'r20000')
        """
        bounds = self.raise_to
        sizes = () if bounds is None else ("r",) if self.hand.game.limit else tuple(f"r{n}" for n in bounds)
        return (*("f" * self.hand.betting.can_fold), "c", *dict.fromkeys(sizes))

    def raised(self, share: float = 1.0) -> str:
        """Return the action of a bet or raise by a share of the pot after a call.

        A size that is not legal becomes the nearest legal size. If no raise is legal, the action is a call or check.

        >>> Turn(0, 1, Hand.start(load_game(GAME))).raised(1)
        'r300'
        """
        return raised(self.hand.betting, share)


Decide = Callable[[Turn], str]


def play_acpc(
    decide: Decide,
    host: str,
    port: int | str,
    game: str | Path | Game = GAME,
    *,
    wait: float = 10.0,
    patience: float = PATIENCE,
    note: Note | None = None,
) -> Match:
    """Play a match at an ACPC dealer with a function as the bot, until the dealer closes the connection.

    An error in ``decide`` ends the match with this error, so that a mistake is not played for thousands of hands.

    Args:
        decide: called at each of the player's decisions; returns a legal action, such as ``"c"`` or ``"r600"``.
        port: number of the port, perhaps as text.
        game: name of a game (``spewy dealer --help``), or the path of an ACPC ``.game`` file.
        wait: seconds to keep trying until the dealer accepts the connection.
        patience: seconds without a message after which the dealer counts as gone.
        note: called with each line that is received or sent.

    Returns:
        Number of hands, and the seconds of each answer.

    Raises:
        InputError: the action is not legal, or the dealer's states are not of this game.
        PeerError: the dealer cannot be reached, or vanishes in the middle of a hand.
    """
    number = str(port)
    if not (number.isascii() and number.isdigit() and len(number) < 6 and 0 < int(number) < 1 << 16):
        raise InputError(f"port: expected a number from 1 to 65535, found {shown(port)}")
    bot = _Function(decide, game if isinstance(game, Game) else load_game(str(game)))
    with connect(host, int(number), wait) as connection:
        return play(connection, bot, patience=patience, note=note, tolerant=False)


class _Function:
    def __init__(self, decide: Decide, game: Game) -> None:
        self.game = game
        self._decide, self._number, self._seat = decide, -1, 0

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        self._number, self._seat = self._number + 1, seat

    def act(self, hand: Hand) -> str:
        action = self._decide(Turn(self._number, self._seat, hand))
        if not isinstance(action, str):
            expected = hand.betting.legal_text()
            raise InputError(
                f"decide after {hand.betting.line!r}: expected {expected}, found {shown(action)}"
            )
        return action

    def hand_over(self, hand: Hand) -> None:
        pass

    def close(self) -> None:
        pass
