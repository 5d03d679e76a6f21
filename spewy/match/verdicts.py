"""Reports on a person's decisions, in words and as JSON: what the strategy plays, and what the decision cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from buckets.cards import cards_name, hand_name, hands
from solvers.tree import Floats
from spewy.game.amounts import Unit
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.look.colours import SEATS, hex_colour
from spewy.look.grid import Grid, is_holdem
from spewy.match.contest import Contest
from spewy.match.hand_review import Decided
from spewy.match.table import decisions

LEAST_TOLD = 0.005
"""Smallest frequency of an action that a report mentions; it always mentions the played action."""
DIGITS = 6
"""Number of digits of the weights of a range in JSON."""


@dataclass(frozen=True)
class RangeReport:
    """A player's range on a board.

    Attributes:
        player: number of the player.
        board: the public cards.
        weights: weight of each hand of the deck in the range.
        game: rules with the deck and the hole cards.
    """

    player: int
    board: tuple[int, ...]
    weights: Floats
    game: Game

    @property
    def hands(self) -> dict[str, float]:
        """Weight of each hand in the range, by the hand's name; the largest weights first."""
        deck = hands(self.game.deck, self.game.num_hole_cards)
        numbers = np.argsort(-self.weights, kind="stable")[: np.count_nonzero(self.weights)]
        return {hand_name(deck[number]): float(self.weights[number]) for number in numbers}

    def to_json(self) -> dict[str, Any]:
        """Return the range as a JSON object; in hold'em with the grid of hand classes (`Grid.to_json`)."""
        weights = self.hands
        found: dict[str, Any] = {
            "player": self.player,
            "board": cards_name(self.board),
            "hands": {name: round(weight, DIGITS) for name, weight in weights.items()},
        }
        if is_holdem(self.game):
            reach = np.array([*weights.values()], dtype=np.float64)
            grid = Grid.of(self.board, [*weights], (), reach, np.empty((0, len(reach))), self.player)
            look = {"actions": [], "words": [], "colours": [hex_colour(SEATS[self.player])]}
            found |= {"grid": grid.to_json(), **look}
        return found


@dataclass(frozen=True)
class DecisionReport:
    """A decision of a person, compared with the strategy; values and costs are in the unit named by ``unit``.

    Attributes:
        round: name of the round.
        line: ACPC betting string before the decision.
        before: the actions of the round before the decision in words.
        board: public cards.
        action: ACPC action that was played.
        played: the action in words.
        actions: ACPC actions of the strategy.
        words: the strategy's actions in words.
        frequencies: frequency with which the strategy takes each action with the person's hand; None if unknown.
        values: EV of each of the strategy's actions; None if unknown.
        cost: value of the strategy's own mix less the value of the played action; None if it is unknown.
        loss: value of the best action less the value of the played action; None if it is unknown.
        opponent_range: the opponent's range at the decision; None if it is unknown.
        unit: name of the unit, such as "chips".
    """

    round: str
    line: str
    before: str
    board: tuple[int, ...]
    action: str
    played: str
    actions: tuple[str, ...]
    words: tuple[str, ...]
    frequencies: tuple[float, ...] | None
    values: tuple[float, ...] | None
    cost: float | None
    loss: float | None
    opponent_range: RangeReport | None
    unit: str

    @classmethod
    def of(cls, contest: Contest, hand: Hand, decided: Decided) -> DecisionReport:
        """Describe a decision of a finished hand.

        Args:
            contest: the game in which the person played the hand.
            hand: the finished hand.
            decided: the decision, compared with the strategy.
        """
        states = list(decisions(hand))
        number = next(i for i, (state, _) in enumerate(states) if state.betting.line == decided.line)
        state = states[number][0]
        earlier = states[number - len(state.betting.rounds[-1]) : number]
        unit = contest.unit
        opponent_range = decided.opponent_range
        return cls(
            contest.round_name(state.betting.round),
            unit.line_text(decided.line),
            ", ".join(contest.told(*each) for each in earlier),
            decided.board,
            decided.action,
            contest.told(state, decided.action),
            decided.actions,
            tuple(contest.told(state, action) for action in decided.actions),
            decided.frequencies,
            None if decided.values is None else tuple(value / unit.chips for value in decided.values),
            _in_unit(decided.cost, unit),
            _in_unit(decided.loss, unit),
            None
            if opponent_range is None
            else RangeReport(1 - decided.player, decided.board, opponent_range, hand.game),
            unit.name,
        )

    @property
    def text(self) -> str:
        """The report in words: the played action, what the strategy plays, and the cost."""
        where = f"{self.round} {self.line or '(first)'}: {self.played}"
        if self.frequencies is None:
            return where
        plays = ", ".join(_told(self.words, self.actions, self.frequencies, self.action))
        cost = "" if self.cost is None else f"; cost {self.cost:z.2f} {self.unit}"
        other = "" if self.action in self.actions else " (an action that the strategy lacks)"
        return f"{where}{other}; the strategy {plays}{cost}"

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object; a number that is not known is null."""
        return {
            "round": self.round,
            "line": self.line,
            "before": self.before,
            "board": cards_name(self.board),
            "action": self.action,
            "played": self.played,
            "actions": list(self.actions),
            "words": list(self.words),
            "frequencies": None if self.frequencies is None else list(self.frequencies),
            "values": None if self.values is None else list(self.values),
            "cost": self.cost,
            "loss": self.loss,
            "opponent_range": None if self.opponent_range is None else self.opponent_range.to_json(),
            "text": self.text,
        }


def _told(
    words: Sequence[str], actions: Sequence[str], frequencies: Sequence[float], played: str
) -> list[str]:
    return [
        f"{text} {share:.0%}"
        for text, action, share in zip(words, actions, frequencies, strict=True)
        if share >= LEAST_TOLD or action == played
    ]


def _in_unit(chips: float | None, unit: Unit) -> float | None:
    return None if chips is None else chips / unit.chips
