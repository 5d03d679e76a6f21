"""Local Best Response (V. Lisý and M. Bowling, "Equilibrium approximation quality of current no-limit poker bots").

Local Best Response (LBR) plays against a bot that reveals its strategy, and tracks the bot's exact range. It values
each action as if nobody bet afterwards. Let ``w`` be LBR's equity against the bot's range, ``f`` the frequency with
which the bot folds to a bet, ``asked`` the chips that a call costs, and ``b`` the chips that a bet adds to a call. Then

``call = w * pot - (1 - w) * asked`` and ``bet = f * pot + (1 - f) * (w' * (pot + b) - (1 - w') * (asked + b))``

where ``w'`` is LBR's equity against the hands of the range that do not fold. LBR plays the best action that its setting
allows. Its mean winnings are a lower bound on those of a best response.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from buckets.cards import blocked, hands
from solvers.tree import Floats, Ints
from spewy.bot.bot import Mix, Reveals, is_cheap
from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.odds import board_odds
from spewy.match.table import by_action, decisions

Cards = tuple[int, ...]

N_SIZES = 56


@dataclass(frozen=True)
class Setting:
    """The actions that Local Best Response may take.

    Attributes:
        rounds: letters of the allowed actions in each round; the last element holds for all later rounds, too. The
            letters are f (fold), c (call), p (a bet of the pot), a (all-in) and s (`N_SIZES` sizes from the smallest
            bet to all-in). In limit games p, a and s mean the raise.
    """

    name: str
    rounds: tuple[str, ...]

    def allowed(self, t: int) -> str:
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
    if name not in SETTINGS:
        raise InputError(f"LBR setting: expected one of {', '.join(SETTINGS)}, found {shown(name)}")
    return SETTINGS[name]


class Lbr:
    """Local Best Response as a bot: a `spewy.bot.bot.Foreseeable`.

    Attributes:
        asks_answers: True: before each action, LBR asks for the opponent's strategy after each bet of the setting.
    """

    def __init__(self, other: Reveals, setting: Setting) -> None:
        self.other, self.setting = other, setting
        self.asks_answers = True
        self._deck = hands(self.game.deck, self.game.num_hole_cards)
        self._seat = 0
        self._ranges: dict[tuple[str, Cards, str], Floats] = {}
        self._known: dict[tuple[str, Cards], Mix] = {}

    @property
    def game(self) -> Game:
        return self.other.game

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        del hand, seed
        self._seat, self._ranges, self._known = seat, {}, {}

    def act(self, hand: Hand) -> str:
        own = hand.hole[self._seat]
        assert own is not None
        mix = self.strategy(replace(hand, hole=(None, None)))
        return mix.actions[int(np.argmax(mix.of(self.game.hand_number(own))))]

    def strategy(self, hand: Hand) -> Mix:
        """Return the best action for each hand, as a strategy with frequencies 0 and 1."""
        state = hand.betting.line, hand.board
        if state not in self._known:
            self._known[state] = self._best(hand)
        return self._known[state]

    def is_cheap(self, hand: Hand) -> bool:
        """Whether computing `strategy` takes only milliseconds: LBR cannot bet, or the opponent answers quickly."""
        bets = any(action.startswith("r") for action in self._actions(hand.betting))
        return not bets or is_cheap(self.other, hand)

    def opponent_range(self, hand: Hand) -> Floats:
        """Return the opponent's range ``[hand of the deck]`` at a public state; blocked hands keep their weight."""
        out: Floats = np.ones(len(self._deck))
        for public, action in decisions(hand):
            if public.to_act != self._seat:
                step = public.betting.line, public.board, action
                if step not in self._ranges:
                    answers = by_action(self.other.strategy(public), len(self._deck))
                    self._ranges[step] = out * answers.get(action, 0.0)
                out = self._ranges[step]
        return out

    def hand_over(self, hand: Hand) -> None:
        pass

    def close(self) -> None:
        pass  # the opponent is closed by its owner

    def _best(self, public: Hand) -> Mix:
        actions = tuple(self._actions(public.betting))
        live = np.flatnonzero(~blocked(self._deck, public.board))
        best = np.zeros((len(actions), len(live)))
        choice = self._choice(public, actions)[live] if len(actions) > 1 else 0
        best[choice, np.arange(len(live))] = 1.0
        return Mix(actions, live, best)

    def _choice(self, public: Hand, actions: Sequence[str]) -> Ints:
        """Return for each hand of the deck the index in ``actions`` of the action with the highest value."""
        weights = np.where(blocked(self._deck, public.board), 0.0, self.opponent_range(public))
        values = np.stack([self._values(public, action, weights) for action in actions])
        best: Ints = np.argmax(values, axis=0)
        return best

    def _values(self, public: Hand, action: str, weights: Floats) -> Floats:
        """Return an action's chips ``[hand of the deck]``, compared with a fold, summed over the opponent's range."""
        if action == "f":
            return np.zeros(len(weights))
        betting = public.betting
        after = betting.apply(action)
        called = betting.stake
        pot, asked = sum(min(spent, called) for spent in betting.spent), called - betting.spent[self._seat]
        if action == "c" or after.to_act is None:
            return self._won(public, weights, pot, asked)
        answers = by_action(self.other.strategy(replace(public, betting=after)), len(self._deck))
        folding = weights * answers.get("f", np.zeros(len(weights)))
        more = after.stake - called
        folds = board_odds(self.game, public.board).met(folding)
        return folds * pot + self._won(public, weights - folding, pot + more, asked + more)

    def _won(self, public: Hand, weights: Floats, pot: float, asked: float) -> Floats:
        """Return the chips ``[hand of the deck]`` won by paying ``asked`` for the pot, compared with a fold."""
        odds = board_odds(self.game, public.board)
        # With equity (1 + lead) / 2 the hand wins the pot, or loses what is asked.
        return (odds.ahead(weights) * (pot + asked) + odds.met(weights) * (pot - asked)) / 2

    def _actions(self, betting: Betting) -> Iterator[str]:
        """Yield the actions that both the setting and the rules allow, first a call, which is always allowed."""
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
    """Yield the bets that the letters of a setting allow, each as a total: the player's chips put in after the bet."""
    low, high = bounds
    if "p" in letters:
        highest = max(betting.spent)
        yield min(max(highest + 2 * highest, low), high)
    if "a" in letters:
        yield high
    if "s" in letters:
        yield from (round(total) for total in np.geomspace(low, high, N_SIZES))
