"""Local Best Response (V. Lisý and M. Bowling, "Equilibrium approximation quality of current no-limit poker bots").

Local Best Response (LBR) plays against a bot that reveals its strategy, and tracks the bot's exact range. It values
each action as if nobody bet afterwards. Let ``w`` be LBR's equity against the bot's range, ``f`` the frequency with
which the bot folds to a bet, ``asked`` the chips that a call costs, and ``b`` the chips that a bet adds to a call. Then

``call = w * pot - (1 - w) * asked`` and ``bet = f * pot + (1 - f) * (w' * (pot + b) - (1 - w') * (asked + b))``

where ``w'`` is LBR's equity against the hands of the range that do not fold. LBR plays the best action that its setting
allows. Its mean winnings are a lower bound on those of a best response.
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
    """The actions that Local Best Response may take.

    Attributes:
        name: name of the setting.
        rounds: letters of the allowed actions in each round; later rounds allow the same as the last of them. The
            letters are f (fold), c (call), p (a bet of the pot), a (all-in) and s (`N_SIZES` sizes from the smallest
            bet to all-in). In limit games p, a and s mean the raise.
    """

    name: str
    rounds: tuple[str, ...]

    def allowed(self, t: int) -> str:
        """Letters of the actions that are allowed in round ``t``."""
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
        setting: the allowed actions.
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
        """Value of an action: the chips that it wins on average, compared with a fold.

        Args:
            public: the hand without hole cards.
            action: the action.
            share: share of the pot that LBR's hand wins against each hand of the deck.
            weights: weight of each hand of the deck in the opponent's range.
        """
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
        """Yield the actions that both the setting and the rules allow; a check or call always is."""
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
    """Yield the totals of the bets that the letters of a setting allow."""
    low, high = bounds
    if "p" in letters:
        highest = max(betting.spent)
        yield min(max(highest + 2 * highest, low), high)
    if "a" in letters:
        yield high
    if "s" in letters:
        yield from (round(total) for total in np.geomspace(low, high, N_SIZES))


def _called(betting: Betting) -> int:
    """Total chips that a player has put in after a call."""
    return min(max(betting.spent), betting.stack(0), betting.stack(1))


def _won(share: Floats, weights: Floats, pot: float, asked: float) -> float:
    """Mean chips that a hand wins by paying ``asked`` into the pot without further betting, compared with a fold.

    Args:
        share: share of the pot that the hand wins against each hand of the deck.
        weights: weight of each hand of the deck in the opponent's range.
        pot: chips in the pot before the payment.
        asked: chips that the player pays.
    """
    total = weights.sum()
    equity = float(share @ weights / total) if total > 0 else 0.5
    return equity * pot - (1 - equity) * asked
