"""Opponents that know no strategy: simple ways to play any game, to be beaten.

Each is deterministic under the seed of a hand, and answers from the hand that it is asked about alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING

from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.hand import Hand

if TYPE_CHECKING:
    from spewy.match.odds import HandOdds

POT_SHARES = (0.5, 1.0, 2.0)
"""Raises that the random player makes beside the smallest and all-in."""
MARGIN = 0.05
"""Of equity, which the equity player wants beyond the price of a call, because bets are not made with any hand."""
AHEAD, STEP = 0.6, 0.1
"""The equity that raises at first, and by how much more after each raise of the round."""

Cards = tuple[int, ...]
Rule = Callable[[Hand, Cards, int], str]
"""From a hand, the own cards and the hand's seed to an action."""


class Opponent:
    """A bot that plays by a rule.

    Args:
        game: what is played.
        rule: how.
    """

    def __init__(self, game: Game, rule: Rule) -> None:
        self.game = game
        self._rule = rule
        self._cards: Cards = ()
        self._seed = 0

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """A hand begins.

        Raises:
            InputError: the player's own cards are not told.
        """
        cards = hand.hole[seat]
        if cards is None:
            raise InputError(f"hand {hand.betting.line!r}: expected the cards of player {seat}, found none")
        self._cards, self._seed = tuple(sorted(cards)), seed

    def act(self, hand: Hand) -> str:
        """A legal action."""
        return self._rule(hand, self._cards, self._seed)

    def hand_over(self, hand: Hand) -> None:
        """The hand is over."""

    def close(self) -> None:
        """Give back nothing."""


def opponent(name: str, game: Game) -> Opponent:
    """An opponent by its name.

    >>> from spewy.game.gamefile import load_game
    >>> opponent("raise", load_game("kuhn")).act(Hand.start(load_game("kuhn")))
    'r'

    Raises:
        InputError: nobody is called so.
    """
    if name not in OPPONENTS:
        raise InputError(f"opponent {shown(name)}: expected one of {', '.join(OPPONENTS)}")
    return Opponent(game, OPPONENTS[name](game))


def _random(game: Game) -> Rule:
    """Anything that is legal, each kind of action as often; raises are of a few sizes."""

    def rule(hand: Hand, cards: Cards, seed: int) -> str:
        rng = Random(f"{seed} {hand.betting.line}")
        bounds = hand.betting.raise_bounds()
        action = rng.choice(f"c{'f' * hand.betting.can_fold}{'r' * (bounds is not None)}")
        if action != "r" or bounds is None or game.limit:
            return action
        return f"r{rng.choice([*bounds, *(pot_raise(hand.betting, share) for share in POT_SHARES)])}"

    return rule


def _call(game: Game) -> Rule:
    """Checks and calls."""
    return lambda hand, cards, seed: "c"


def _raise(game: Game) -> Rule:
    """Raises by the pot wherever it may."""
    return lambda hand, cards, seed: raised(hand.betting)


def _places(raising: float, calling: float) -> Callable[[Game], Rule]:
    """Raises with the best hands, calls with good ones, and checks or folds the rest.

    How good a hand is tells its place among all others: by equity at first, then as it is on the board. After each
    raise of the round half as many raise again, and four fifths as many call.

    Args:
        raising: the share of hands that raise at first.
        calling: the share of hands that call where nobody has raised.
    """

    def of(game: Game) -> Rule:
        odds = _odds(game)

        def rule(hand: Hand, cards: Cards, seed: int) -> str:
            place = 1.0 - odds.percentile(cards, hand.board)
            n_raises = hand.betting.num_raises
            if place < raising * 0.5**n_raises:
                return raised(hand.betting)
            return "c" if place < calling * 0.8**n_raises else given_up(hand.betting)

        return rule

    return of


def _equity(game: Game) -> Rule:
    """Calls where its equity against any hand pays for the call, and raises where it is well ahead."""
    odds = _odds(game)

    def rule(hand: Hand, cards: Cards, seed: int) -> str:
        equity = odds.equity(cards, hand.board)
        if equity > AHEAD + STEP * hand.betting.num_raises:
            return raised(hand.betting)
        return "c" if equity > call_price(hand.betting) + MARGIN else given_up(hand.betting)

    return rule


OPPONENTS: Mapping[str, Callable[[Game], Rule]] = {
    "random": _random,
    "call": _call,
    "raise": _raise,
    "tight": _places(raising=0.12, calling=0.35),
    "loose": _places(raising=0.3, calling=0.8),
    "equity": _equity,
}
"""By name, how each plays a game."""


def raised(betting: Betting) -> str:
    """A raise by the pot, or a call where none is legal."""
    if betting.raise_bounds() is None:
        return "c"
    return "r" if betting.game.limit else f"r{pot_raise(betting, 1.0)}"


def given_up(betting: Betting) -> str:
    """A fold, or a check where that is free."""
    return "f" if betting.can_fold else "c"


def call_price(betting: Betting) -> float:
    """The equity that pays for a call where nobody bets any more: the call's share of the pot that it makes."""
    player = betting.to_act
    if player is None:
        return 0.0
    most = min(max(betting.spent), betting.stack(player))
    return (most - betting.spent[player]) / (2 * most) if most else 0.0


def pot_raise(betting: Betting, share: float) -> int:
    """The total of a raise by a share of the pot after a call, as far as it is legal.

    Raises:
        InputError: no raise is.
    """
    bounds = betting.raise_bounds()
    if bounds is None:
        raise InputError(f"raise after {shown(betting.line)}: expected {betting.legal_text()}")
    highest = max(betting.spent)
    return min(max(round(highest + share * 2 * highest), bounds[0]), bounds[1])


def _odds(game: Game) -> HandOdds:
    """Loaded where it is needed: with the kernels of equities."""
    from spewy.match.odds import HandOdds

    return HandOdds(game)
