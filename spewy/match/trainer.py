"""A trainer: it asks what to do with a hand in a solved spot, and scores the answers by the EV that they lose.

Both strategies play a hand, on a random board of the solved spots and with cards from both ranges, up to the player's
k-th decision, where k is a random number from 1 to `MOST_DECISIONS`. If the hand ends before, another hand and another
k are drawn. So the trainer asks about a decision and a hand in proportion to how often play reaches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from buckets.cards import cards_name
from spewy.errors import InputError, shown
from spewy.game.hand import Hand
from spewy.game.lines import faces_bet, read_action, sized_words, wrong_word
from spewy.game.names import SEAT_NAMES
from spewy.game.nodes import Node
from spewy.match.spots import HandValues, Spot, Spots
from spewy.match.table import MOST_SEED
from spewy.match.table_view import TableView

MOST_DECISIONS = 8
"""Number of a player's decisions in a hand that can be asked; hardly any betting tree has more of them."""
MOST_HANDS = 20_000
"""Number of hands that are played in search of a question before the search is given up."""
OFTEN = 0.05
"""Smallest frequency of an action that counts as an action of the strategy."""


@dataclass(frozen=True)
class Question:
    """A question to the user: what to do with one hand at a decision. Amounts are in the unit of the solve.

    Attributes:
        number: number of the question, from 0.
        folder: name of the folder of the solve.
        board: names of the public cards.
        hole: names of the player's cards.
        line: ACPC betting string since the root.
        words: the betting in words.
        to_call: chips that a call costs.
        unit: name of the unit of amounts, such as "chips".
        table: the table as the player sees it.
    """

    number: int
    folder: str
    player: int
    board: str
    hole: str
    line: str
    words: str
    pot: float
    to_call: float
    actions: tuple[str, ...]
    unit: str
    table: TableView

    @property
    def text(self) -> str:
        before = f" after {self.words}" if self.words else ""
        price = f", {self.to_call:.10g} to call" if self.to_call else ""
        return (
            f"{SEAT_NAMES[self.player]} with {self.hole} on {self.board}{before}; pot {self.pot:.10g}{price}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the question as a JSON object; ``texts`` are the actions as buttons write them."""
        texts = [sized_words(action) for action in self.actions]
        return {
            **vars(self),
            "actions": list(self.actions),
            "texts": texts,
            "table": self.table.to_json(),
            "text": self.text,
        }


@dataclass(frozen=True)
class Answer:
    """An answer to a question, and how much EV it loses; values and losses are in the unit of the solve.

    Attributes:
        frequencies: ``[action]``, how often the strategy takes each action with the hand.
        values: ``[action]``, EV of each action with the hand.
        lost: EV of the best action less the EV of the chosen action.
        lost_pct: `lost` in % of the pot at the decision.
        cost: EV of the strategy's own mix less the EV of the chosen action.
    """

    question: Question
    action: str
    frequencies: tuple[float, ...]
    values: tuple[float, ...]
    lost: float
    lost_pct: float
    cost: float

    @property
    def frequency(self) -> float:
        return self.frequencies[self.question.actions.index(self.action)]

    @property
    def best(self) -> str:
        """Label of the action with the largest EV."""
        return self.question.actions[self.values.index(max(self.values))]

    @property
    def text(self) -> str:
        unit, rows = (
            self.question.unit,
            zip(self.question.actions, self.frequencies, self.values, strict=True),
        )
        plays = ", ".join(f"{text} {share:.0%} (EV {value:.2f})" for text, share, value in rows)
        return (
            f"{self.action} loses {self.lost:.2f} {unit}, {self.lost_pct:.2f} % of the pot; "
            f"the strategy: {plays}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "question": self.question.to_json(),
            "action": self.action,
            "frequency": self.frequency,
            "frequencies": list(self.frequencies),
            "values": list(self.values),
            "best": self.best,
            "lost": self.lost,
            "lost_pct": self.lost_pct,
            "cost": self.cost,
            "text": self.text,
        }


@dataclass(frozen=True)
class TrainerScore:
    """The mean score of a user's answers to the trainer's questions.

    Attributes:
        lost: mean EV lost in the unit of the solves; None before the first answer.
        lost_pct: mean EV lost in % of the pot; None before the first answer.
        often: share of the answers that the strategy plays at least 5 % of the time; None before the first answer.
    """

    decisions: int
    lost: float | None
    lost_pct: float | None
    often: float | None
    unit: str

    @classmethod
    def of(cls, answers: Sequence[Answer], unit: str) -> TrainerScore:
        if not answers:
            return cls(0, None, None, None, unit)
        return cls(
            len(answers),
            fmean(answer.lost for answer in answers),
            fmean(answer.lost_pct for answer in answers),
            fmean(answer.frequency >= OFTEN for answer in answers),
            unit,
        )

    @property
    def text(self) -> str:
        if self.lost is None:
            return "no answer yet"
        noun = "decision" if self.decisions == 1 else "decisions"
        return (
            f"{self.decisions} {noun}: {self.lost:.2f} {self.unit} lost per decision, {self.lost_pct:.2f} % of the "
            f"pot; {self.often:.0%} of the answers are actions that the strategy plays at least {OFTEN:.0%} of the time"
        )

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "text": self.text}


class Trainer:
    """Asks questions about decisions in solved spots, and scores the answers.

    Args:
        spots: the spots; the caller closes them.
        seat: the player whose decisions the questions are about; None: a random player for each question.

    Attributes:
        question: the question that waits for an answer; None if there is none.
    """

    def __init__(self, spots: Spots, seat: int | None = None, seed: int = 0) -> None:
        if seat not in (None, 0, 1):
            raise InputError(f"seat: expected 0 (oop), 1 (ip) or none for both, found {shown(seat)}")
        if not 0 <= seed <= MOST_SEED:
            raise InputError(f"seed: expected 0 to {MOST_SEED}, found {shown(seed)}")
        self.question: Question | None = None
        self.answers: list[Answer] = []
        self._spots, self._seat, self._seed = spots, seat, seed
        self._asked = 0
        self._spot, self._hand = spots.first, Hand.start(spots.first.game)

    @property
    def spot(self) -> Spot:
        """The spot of the last question."""
        return self._spot

    @property
    def score(self) -> TrainerScore:
        return TrainerScore.of(self.answers, self._spots.first.unit.name)

    def deal(self) -> Question:
        """Draw the next question; an earlier question that still waits for an answer is dropped."""
        rng = np.random.default_rng([self._seed, self._asked])
        for _ in range(MOST_HANDS):
            seat = int(rng.integers(2)) if self._seat is None else self._seat
            spot = self._spots.draw(rng)
            hand = _decision(spot, seat, int(rng.integers(1, MOST_DECISIONS + 1)), rng)
            if hand is None or not np.isfinite(_values(spot, hand).action_ev).all():
                continue
            self._spot, self._hand = spot, hand
            self.question = _question(spot, hand, self._asked)
            self._asked += 1
            return self.question
        name = "the players" if self._seat is None else SEAT_NAMES[self._seat]
        raise InputError(f"trainer: {name} never had a choice in {MOST_HANDS:,} hands")

    def answer(self, text: str) -> Answer:
        """Score an answer to the question, which then no longer waits.

        Args:
            text: the chosen action as a label, such as ``bet 120``, or as a share of the pot, such as ``b60%``.
        """
        question = self.question
        if question is None:
            raise InputError("trainer: no question waits for an answer; ask for the next one")
        node = self._spot.node(self._hand)
        number = _chosen(self._spot, node, text)
        found, chips = _values(self._spot, self._hand), self._spot.unit.chips
        values = found.action_ev / chips
        lost = float(values.max() - values[number])
        answer = Answer(
            question,
            question.actions[number],
            tuple(found.frequencies.tolist()),
            tuple(values.tolist()),
            lost,
            100 * lost / question.pot,
            float(found.ev / chips - values[number]),
        )
        self.answers.append(answer)
        self.question = None
        return answer


def _decision(spot: Spot, seat: int, number: int, rng: np.random.Generator) -> Hand | None:
    """Play a hand up to a player's choice ``number``, from 1, as the player sees it; None if the hand ends before."""
    table = spot.table(spot.deal(rng))
    while (player := table.to_act) is not None:
        cards = table.hand.hole[player]
        assert cards is not None
        actions, frequencies = spot.strategy(table.hand, cards)
        number -= player == seat and len(actions) > 1
        if not number:
            return table.view(seat)
        table.step(actions[int(rng.choice(len(actions), p=frequencies / frequencies.sum()))].acpc)
    return None


def _question(spot: Spot, hand: Hand, number: int) -> Question:
    betting, unit = hand.betting, spot.unit
    player = betting.to_act
    assert player is not None
    cards = hand.hole[player]
    assert cards is not None
    node = spot.node(hand)
    return Question(
        number,
        spot.folder.name,
        player,
        cards_name(spot.in_order(hand.board)),
        cards_name(sorted(cards, reverse=True)),
        unit.line_text(betting.line),
        spot.solution.words(node),
        unit.number(spot.pot + sum(betting.spent)),
        unit.number(max(betting.spent) - betting.spent[player]),
        tuple(action.label for action in node.actions),
        unit.name,
        TableView.of(
            hand,
            player,
            unit,
            middle=spot.pot,
            round_names=spot.round_names,
            in_order=spot.in_order,
        ),
    )


def _values(spot: Spot, hand: Hand) -> HandValues:
    assert hand.to_act is not None
    cards = hand.hole[hand.to_act]
    assert cards is not None
    return spot.hand_values(hand, cards)


def _chosen(spot: Spot, node: Node, text: str) -> int:
    try:
        return read_action(spot.config, node, text, "answer")
    except InputError:
        names = ", ".join(action.label for action in node.actions)
        why = wrong_word(text, faces_bet(node))
        hint = f"; {why}" if why else ""
        raise InputError(f"answer {shown(text.strip())}: expected one of {names}{hint}") from None
