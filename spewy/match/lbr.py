"""Local Best Response (V. Lisý and M. Bowling, "Equilibrium approximation quality of current no-limit poker bots").

It plays against a bot that tells its strategy, of which it keeps the range exactly. Of each action it asks what it
would win if nobody bet any more after it: with ``w`` its equity against that range, ``f`` how often the bot folds to a
bet, ``asked`` the chips that a call takes and ``b`` those that a bet adds,

``call = w * pot - (1 - w) * asked`` and ``bet = f * pot + (1 - f) * (w' * (pot + b) - (1 - w') * (asked + b))``

where ``w'`` is the equity against the part of the range that does not fold. It takes the best of those that its setting
allows. What it wins is a lower bound of what a best response does.
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
    """What is allowed in each round; rounds after the last that is named are like it.

    Letters: f fold, c call, p a bet of the pot, a all-in, s `N_SIZES` sizes from the smallest to all-in. In limit games
    any of the last three is the one raise there is.
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
"""The first four are those that DeepStack was judged by, in that order (M. Moravčík et al., Science 2017)."""


def lbr_setting(name: str) -> Setting:
    """The setting of a name.

    Raises:
        InputError: there is none.
    """
    if name not in SETTINGS:
        raise InputError(f"LBR setting: expected one of {', '.join(SETTINGS)}, found {shown(name)}")
    return SETTINGS[name]


class Lbr:
    """The player.

    Args:
        other: the bot that it plays against, at the same table.
        setting: what it may do.
    """

    def __init__(self, other: Reveals, setting: Setting) -> None:
        self.other, self.setting = other, setting
        self._deck = hands(self.game.deck, self.game.num_hole_cards)
        self._seat, self._seed, self._seen = 0, 0, 0
        self._range = np.ones(len(self._deck))

    @property
    def game(self) -> Game:
        """What is played."""
        return self.other.game

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """A hand begins: the other may hold anything."""
        self._seat, self._seed, self._seen = seat, seed, 0
        self._range = np.ones(len(self._deck))

    def act(self, hand: Hand) -> str:
        """The action that wins most."""
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
        """Nothing is learned from it."""

    def close(self) -> None:
        """The other is closed by who opened it."""

    def _follow(self, hand: Hand) -> None:
        """Play the other's range down to here."""
        steps = list(decisions(hand))
        for public, action in steps[self._seen :]:
            if public.to_act != self._seat:
                self._range = self._range * by_action(self.other.strategy(public), len(self._deck)).get(
                    action, 0.0
                )
        self._seen = len(steps)

    def _value(self, public: Hand, action: str, share: Floats, weights: Floats) -> float:
        """Chips beyond those of a fold now."""
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
        """What the setting allows and the rules too, a call always."""
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
    """What a setting's bets raise to."""
    low, high = bounds
    if "p" in letters:
        highest = max(betting.spent)
        yield min(max(highest + 2 * highest, low), high)
    if "a" in letters:
        yield high
    if "s" in letters:
        yield from (round(total) for total in np.geomspace(low, high, N_SIZES))


def _called(betting: Betting) -> int:
    """The total of a player who calls."""
    return min(max(betting.spent), betting.stack(0), betting.stack(1))


def _won(share: Floats, weights: Floats, pot: float, asked: float) -> float:
    """Chips won on average beyond a fold's, by paying what is asked into the pot."""
    total = weights.sum()
    equity = float(share @ weights / total) if total > 0 else 0.5
    return equity * pot - (1 - equity) * asked
