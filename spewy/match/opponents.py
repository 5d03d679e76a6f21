"""Opponents that play any game by a simple rule.

The hand and the seed of the hand determine what an opponent plays.
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
"""Raise sizes of the opponent "random" as shares of the pot; it also makes the smallest raise and goes all-in."""
MARGIN = 0.05
"""Equity beyond a call's price that the opponent "equity" needs to call, since hands that bet are strong."""
AHEAD, STEP = 0.6, 0.1
"""Equity above which the opponent "equity" raises first, and the increase of this limit after each raise of a round."""

Cards = tuple[int, ...]
Rule = Callable[[Hand, Cards, int], str]
"""Function that returns an action, given a hand, the player's own cards and the seed of the hand."""


class Opponent:
    """A bot that follows a rule."""

    def __init__(self, game: Game, rule: Rule) -> None:
        self.game = game
        self._rule = rule
        self._cards: Cards = ()
        self._seed = 0

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        cards = hand.hole[seat]
        if cards is None:
            raise InputError(f"hand {hand.betting.line!r}: expected the cards of player {seat}, found none")
        self._cards, self._seed = tuple(sorted(cards)), seed

    def act(self, hand: Hand) -> str:
        return self._rule(hand, self._cards, self._seed)

    def hand_over(self, hand: Hand) -> None:
        pass

    def close(self) -> None:
        pass


def opponent(name: str, game: Game) -> Opponent:
    """Make the opponent with a name, such as "call"."""
    if name not in OPPONENTS:
        raise InputError(f"opponent {shown(name)} does not exist; choose one of {', '.join(OPPONENTS)}")
    return Opponent(game, OPPONENTS[name](game))


def _random(game: Game) -> Rule:
    """Make the rule that plays a random legal action: fold, call and raise are equally likely, as are raise sizes."""

    def rule(hand: Hand, cards: Cards, seed: int) -> str:
        rng = Random(f"{seed} {hand.betting.line}")
        bounds = hand.betting.raise_bounds()
        action = rng.choice(f"c{'f' * hand.betting.can_fold}{'r' * (bounds is not None)}")
        if action != "r" or bounds is None or game.limit:
            return action
        return f"r{rng.choice([*bounds, *(pot_raise(hand.betting, share) for share in POT_SHARES)])}"

    return rule


def _always(action: Callable[[Betting], str]) -> Callable[[Game], Rule]:
    return lambda game: lambda hand, cards, seed: action(hand.betting)


def _places(raising: float, calling: float) -> Callable[[Game], Rule]:
    """Return a maker of a rule: raise with the best hands, call with good hands, else check or fold.

    Each raise of the round multiplies the share of hands that raise by 1/2, and the share that call or raise by 4/5.
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
    """Make the rule that raises with a high equity against all hands, and calls if the equity pays for the call."""
    odds = _odds(game)

    def rule(hand: Hand, cards: Cards, seed: int) -> str:
        equity = odds.equity(cards, hand.board)
        if equity > AHEAD + STEP * hand.betting.num_raises:
            return raised(hand.betting)
        return "c" if equity > call_price(hand.betting) + MARGIN else given_up(hand.betting)

    return rule


def raised(betting: Betting, share: float = 1.0) -> str:
    """Return the ACPC action of a raise by a share of the pot, or of a call if no raise is legal."""
    if betting.raise_bounds() is None:
        return "c"
    return "r" if betting.game.limit else f"r{pot_raise(betting, share)}"


def given_up(betting: Betting) -> str:
    """Return the ACPC action of a fold, or of a check if checking is free."""
    return "f" if betting.can_fold else "c"


def call_price(betting: Betting) -> float:
    """Return the equity at which a call breaks even if nobody bets again, from 0 to 1."""
    player = betting.to_act
    if player is None:
        return 0.0
    most = min(max(betting.spent), betting.stack(player))
    return (most - betting.spent[player]) / (2 * most) if most else 0.0


def pot_raise(betting: Betting, share: float) -> int:
    """Return the chips that a player has put into the pot after a raise by a share of the pot.

    The pot includes the call. A raise that is too small or too large becomes the nearest legal raise.
    """
    bounds = betting.raise_bounds()
    if bounds is None:
        raise InputError(f"raise after {shown(betting.line)}: expected {betting.legal_text()}")
    highest = max(betting.spent)
    return min(max(round(highest + share * 2 * highest), bounds[0]), bounds[1])


def _odds(game: Game) -> HandOdds:
    from spewy.match.odds import HandOdds  # this import loads compiled kernels

    return HandOdds(game)


OPPONENTS: Mapping[str, Callable[[Game], Rule]] = {
    "random": _random,
    "call": _always(lambda betting: "c"),
    "raise": _always(raised),
    "fold": _always(given_up),
    "tight": _places(raising=0.12, calling=0.35),
    "loose": _places(raising=0.3, calling=0.8),
    "equity": _equity,
}
"""Functions that make a rule for a game, by the opponent's name."""
