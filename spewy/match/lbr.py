"""Local Best Response (V. Lisý and M. Bowling, "Equilibrium approximation quality of current no-limit poker bots").

It plays against a bot that tells its strategy, and tracks the bot's exact range. It values each action as if nobody bet
afterwards: with ``w`` its equity against that range, ``f`` how often the bot folds to a bet, ``asked`` the chips that a
call takes and ``b`` the chips that a bet adds,

``call = w * pot - (1 - w) * asked`` and ``bet = f * pot + (1 - f) * (w' * (pot + b) - (1 - w') * (asked + b))``

where ``w'`` is the equity against the part of the range that does not fold. It plays the best action that its setting
allows. Its winnings are a lower bound of a best response's winnings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from buckets.cards import blocked, hands
from solvers.tree import Floats
from spewy.bot.bot import Reveals
from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.odds import shares
from spewy.match.table import by_action, decisions

N_SIZES = 56


@dataclass(frozen=True)
class Setting:
    """Actions allowed in each round; later rounds repeat the last one.

    Letters: f fold, c call, p a bet of the pot, a all-in, s `N_SIZES` sizes from the smallest to all-in. In limit games
    p, a and s all mean the raise.
    """

    name: str
    rounds: tuple[str, ...]

    def allowed(self, t: int) -> str:
        """The letters of a round."""
        return self.rounds[min(t, len(self.rounds) - 1)]


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("fc", ("fc",)),
        Setting("fcpa", ("c", "c", "fcpa")),
        Setting("56", ("c", "c", "fcs")),
        Setting("late-fc", ("c", "c", "fc")),
        Setting("all", ("fcpa",)),
    )
}
"""Settings by name; the first four were used against DeepStack, in this order (M. Moravčík et al., Science 2017)."""


def lbr_setting(name: str) -> Setting:
    """The setting with a name.

    Raises:
        InputError: no setting has this name.
    """
    if name not in SETTINGS:
        raise InputError(f"LBR setting: expected one of {', '.join(SETTINGS)}, found {shown(name)}")
    return SETTINGS[name]


class Lbr:
    """Local Best Response as a bot.

    Args:
        other: the opponent at the same table.
        setting: actions that are allowed.
    """

    def __init__(self, other: Reveals, setting: Setting) -> None:
        self.other, self.setting = other, setting
        self._deck = hands(self.game.deck, self.game.num_hole_cards)
        self._seat, self._seed, self._seen = 0, 0, 0
        self._range = np.ones(len(self._deck))

    @property
    def game(self) -> Game:
        """The rules of the game."""
        return self.other.game

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """Begin a hand; the opponent's range contains all hands."""
        self._seat, self._seed, self._seen = seat, seed, 0
        self._range = np.ones(len(self._deck))

    def act(self, hand: Hand) -> str:
        """Return the action with the highest value."""
        own = hand.hole[self._seat]
        assert own is not None
        self._follow(hand)
        share = np.nan_to_num(shares(self.game, own, hand.board, self._seed))
        weights = np.where(blocked(self._deck, [*own, *hand.board]), 0.0, self._range)
        public = replace(hand, hole=(None, None))
        best, most = "", -np.inf
        for action in self._actions(hand.betting):
            value = self._value(public, action, share, weights)
            if value > most:
                best, most = action, value
        return best

    def hand_over(self, hand: Hand) -> None:
        """Ignore the end of a hand."""

    def close(self) -> None:
        """Release nothing; the opponent is closed by its owner."""

    def _follow(self, hand: Hand) -> None:
        """Update the opponent's range for the decisions since the last call."""
        steps = list(decisions(hand))
        for public, action in steps[self._seen :]:
            if public.to_act != self._seat:
                self._range = self._range * by_action(self.other.strategy(public), len(self._deck)).get(
                    action, 0.0
                )
        self._seen = len(steps)

    def _value(self, public: Hand, action: str, share: Floats, weights: Floats) -> float:
        """Value of an action in chips, compared with a fold now."""
        if action == "f":
            return 0.0
        betting = public.betting
        after = betting.apply(action)
        pot, asked = sum(betting.spent), _called(betting) - betting.spent[self._seat]
        if action == "c" or after.to_act is None:
            return _won(share, weights, pot, asked)
        answers = by_action(self.other.strategy(replace(public, betting=after)), len(self._deck))
        fold = answers.get("f", np.zeros(len(weights)))
        total = weights.sum()
        folds = float(weights @ fold / total) if total > 0 else 0.0
        more = min(max(after.spent), after.stack(1 - self._seat)) - _called(betting)
        called = _won(share, weights * (1 - fold), pot + more, asked + more)
        return folds * pot + (1 - folds) * called

    def _actions(self, betting: Betting) -> Iterator[str]:
        """Actions that both the setting and the rules allow; always a call."""
        letters = self.setting.allowed(betting.round)
        yield "c"
        if "f" in letters and betting.can_fold:
            yield "f"
        bounds = betting.raise_bounds()
        if bounds is None:
            return
        if betting.game.limit:
            yield from ("r",) if set(letters) & set("pas") else ()
            return
        yield from (f"r{total}" for total in sorted(set(_totals(letters, betting, bounds))))


def _totals(letters: str, betting: Betting, bounds: tuple[int, int]) -> Iterator[int]:
    """Totals of the bets that a setting allows."""
    low, high = bounds
    if "p" in letters:
        highest = max(betting.spent)
        yield min(max(highest + 2 * highest, low), high)
    if "a" in letters:
        yield high
    if "s" in letters:
        yield from (round(total) for total in np.geomspace(low, high, N_SIZES))


def _called(betting: Betting) -> int:
    """Total chips of a player who calls."""
    return min(max(betting.spent), betting.stack(0), betting.stack(1))


def _won(share: Floats, weights: Floats, pot: float, asked: float) -> float:
    """Mean chips won by paying ``asked`` into the pot, compared with a fold."""
    total = weights.sum()
    equity = float(share @ weights / total) if total > 0 else 0.5
    return equity * pot - (1 - equity) * asked
