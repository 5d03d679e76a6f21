"""A sitting: one person plays hand after hand against a stored strategy.

A `Sitting` is a step machine, so a terminal, a web page and a test can drive it alike. `Sitting.deal` begins a hand.
`Sitting.advance` makes one step: a card, an action of the strategy, the result, or a verdict about a decision. It
returns None when the person has to act (`Sitting.act`), or when the hand is over and reviewed.

>>> from spewy.game.gamefile import load_game
>>> from spewy.match.contest import GameContest
>>> sitting = Sitting(GameContest(some_bot, seed=7))  # doctest: +SKIP
>>> sitting.deal().text  # doctest: +SKIP
'Hand 1: on the button, with 9hQd'

After each hand a `HandReport` says, in words and as JSON, what the strategy plays at the person's decisions, what they
cost, and the `RunningScore` with and without luck. `play_in_words` plays hands by questions and answers in words; it
needs no terminal, since the caller provides functions that ask for a line and print a text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from statistics import fmean
from typing import Any, Literal

import numpy as np

from buckets.cards import cards_name, hand_name, hands
from solvers.tree import Floats
from spewy.errors import InputError, error_line, shown
from spewy.game.amounts import Unit
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.look.colours import SEATS, hex_colour
from spewy.look.grid import Grid
from spewy.match.acpc_text import LoggedHand
from spewy.match.contest import Choices, Contest
from spewy.match.hand_review import Decided, Judged
from spewy.match.score import Mean
from spewy.match.table import Table, decisions
from spewy.match.table_view import put_in_before

LEAST_TOLD = 0.005
"""Smallest frequency of an action that a report mentions; it always mentions the played action."""
DIGITS = 6
"""Number of decimals of the weights of a range in JSON."""

EventKind = Literal["hand", "action", "board", "warning", "result", "verdict", "score"]
Tell = Callable[[str], None]
Ask = Callable[[str], str | None]
"""Function that returns a line of input for a prompt, or None at the end of input."""


@dataclass(frozen=True)
class Event:
    """Something that happened in a person's hand, such as an action or new public cards.

    Attributes:
        kind: "hand", a new hand; "action"; "board", new public cards; "warning"; "result"; "verdict", the review of a
            decision; or "score".
        player: player who acted; None for other events.
        action: ACPC action; None for other events.
        cards: names of all public cards; None for events without cards.
    """

    kind: EventKind
    text: str
    player: int | None = None
    action: str | None = None
    cards: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object without the fields that are None."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Turn:
    """A decision that waits for the person: the pot, the price of a call, and the possible actions.

    Attributes:
        pot: chips in the middle, with all bets.
        to_call: chips that a call costs; 0 if checking is free.
        words: the choices as buttons write them, such as ``bet 60 % (120)``.
        before: chips that the person had put in before this round.
    """

    pot: int
    to_call: int
    choices: Choices
    unit: Unit
    words: tuple[str, ...]
    before: int

    @property
    def prompt(self) -> str:
        price = f", {self.unit.text(self.to_call)} to call" if self.to_call else ""
        return f"Pot {self.unit.text(self.pot)}{price}; {self.choices.prompt}"

    def to_json(self) -> dict[str, Any]:
        """Return the decision as a JSON object; ``bounds`` and ``before`` are ACPC amounts."""
        choices = self.choices
        return {
            "pot": self.unit.number(self.pot),
            "to_call": self.unit.number(self.to_call),
            "choices": [
                {"action": action, "text": text}
                for action, text in zip(choices.actions, self.words, strict=True)
            ],
            "bounds": None if choices.bounds is None else list(choices.bounds),
            "before": self.before,
        }


@dataclass(frozen=True)
class HandReport:
    """The result and the review of a person's finished hand.

    Attributes:
        number: number of the hand, from 0.
        won: the person's winnings in the unit of the contest; a loss is negative.
        decisions: the person's decisions, compared with the strategy; empty if the review failed.
        opponent_range: the strategy's range at the end of the hand; None if the review failed.
        opponent_hand: the strategy's cards, if they were shown; else None.
    """

    number: int
    won: float
    decisions: tuple[DecisionReport, ...]
    opponent_range: RangeReport | None
    opponent_hand: str | None
    score: RunningScore

    def to_json(self) -> dict[str, Any]:
        return {
            **vars(self),
            "decisions": [each.to_json() for each in self.decisions],
            "opponent_range": None if self.opponent_range is None else self.opponent_range.to_json(),
            "score": self.score.to_json(),
        }


class Sitting:
    """A person's hands against one strategy.

    Args:
        contest: deals the cards, plays the strategy, and reviews the person's decisions.
        seat: the person's player in every hand; None: the person has the button in the first hand, and the players
            swap positions after each hand.
        log: called with each finished hand.

    Attributes:
        report: result and review of the last finished hand; None before the first review.
    """

    def __init__(
        self,
        contest: Contest,
        *,
        seat: int | None = None,
        log: Callable[[LoggedHand], None] = lambda hand: None,
    ) -> None:
        if seat not in (None, 0, 1):
            raise InputError(f"seat: expected 0 (oop), 1 (ip) or none to alternate, found {seat!r}")
        self.report: HandReport | None = None
        self.events: list[Event] = []
        self._contest, self._seat, self._log = contest, seat, log
        self._won, self._judged = list[float](), list[Judged | None]()
        self._waiting = deque[Event]()
        self._table: Table | None = None
        self._number, self._person, self._failed = -1, 0, False

    @property
    def hands(self) -> int:
        return len(self._won)

    @property
    def total(self) -> float:
        """The person's winnings in all finished hands together, in the unit of the contest."""
        return sum(self._won) / self._contest.unit.chips

    @property
    def score(self) -> RunningScore:
        return RunningScore.of(self._won, self._judged, self._contest.unit)

    @property
    def help(self) -> str:
        return self._contest.help

    @property
    def line(self) -> str:
        """Betting string of the current or last hand in the contest's unit; empty before the first hand."""
        return "" if self._table is None else self._contest.unit.line_text(self._table.hand.betting.line)

    @property
    def in_play(self) -> bool:
        """Whether a hand is being played, or is finished and waits for its review."""
        return self._table is not None and len(self._judged) <= self._number

    @property
    def turn(self) -> Turn | None:
        """The decision that waits for the person; None if it is not the person's turn."""
        table = self._table
        if table is None or not self._asks(table):
            return None
        betting = table.hand.betting
        due = max(betting.spent) - betting.spent[self._person]
        pot = self._contest.pot + sum(betting.spent)
        choices = self._contest.choices(table.view(self._person))
        words = tuple(self._contest.sized(table.hand, action) for action in choices.actions)
        return Turn(pot, due, choices, self._contest.unit, words, put_in_before(betting))

    def deal(self) -> Event:
        """Begin the next hand, and return its first event."""
        if self.in_play:
            raise InputError(f"hand {self._number + 1} is not over yet; finish it before the next one")
        self._number += 1
        self._person = (self._number + 1) % 2 if self._seat is None else self._seat
        self._failed, self.events = False, []
        self._table, words = self._contest.new_hand(self._number, self._person)
        if self._table.hand.board:
            self._waiting.append(self._board(self._table.hand.board))
        self._waiting.appendleft(Event("hand", f"Hand {self._number + 1}: {words}"))
        return self._next()

    def act(self, action: str) -> Event:
        """Play an ACPC action of the person, and return its event."""
        table = self._require_turn(action)
        self._contest.check(table.view(self._person), action)
        return self._played(table, "You", action)

    def say(self, words: str) -> Event:
        """Play the person's action, given in words such as ``raise to 300``, and return its event."""
        table = self._require_turn(words)
        return self.act(self._contest.read(table.view(self._person), words))

    def advance(self) -> Event | None:
        """Make the next step and return its event; None if the person must act, or no hand is in play."""
        if self._waiting:
            return self._next()
        table = self._table
        if table is None or not self.in_play or table.to_act == self._person:
            return None
        if table.to_act is not None:
            return self._strategy_acts(table)
        if len(self._won) <= self._number:
            return self._ended(table.hand)
        return self._judge(table.hand)

    def play_on(self) -> Iterator[Event]:
        """Make all steps up to the person's next decision or the end of the hand, and yield their events."""
        while (event := self.advance()) is not None:
            yield event

    def to_json(self) -> dict[str, Any]:
        """Return as a JSON object the hand (current or last) as the person sees it.

        It includes the review of the last finished hand.
        """
        turn, table = self.turn, self._table
        return {
            "hand": self._number + 1,
            "seat": self._person,
            "table": None if table is None else self._contest.view(table.hand, self._person).to_json(),
            "events": [event.to_json() for event in self.events],
            "turn": None if turn is None else turn.to_json(),
            "in_play": self.in_play,
            "report": None if self.report is None else self.report.to_json(),
            "unit": self._contest.unit.name,
        }

    def _require_turn(self, action: str) -> Table:
        if self._table is None or not self._asks(self._table):
            raise InputError(f"action {shown(action)}: it is not your turn")
        return self._table

    def _asks(self, table: Table) -> bool:
        return not self._waiting and table.to_act == self._person

    def _strategy_acts(self, table: Table) -> Event:
        hand = table.view(1 - self._person)
        try:
            action = self._contest.act(hand)
            hand.apply(action)
        except Exception as error:  # any error of the strategy must not end the hand
            self._failed, action = True, hand.betting.passive
            self._waiting.append(Event("warning", f"WARNING: the bot failed: {error_line(error)}"))
        return self._played(table, "The bot", action)

    def _played(self, table: Table, who: str, action: str) -> Event:
        """Play a legal action of ``who`` ("You" or "The bot"), queue its events, and return the first."""
        player, told = table.to_act, self._contest.told(table.hand, action)
        self._waiting.append(Event("action", f"{who}: {told}", player, action))
        self._waiting.extend(map(self._board, table.step(action)))
        return self._next()

    def _next(self) -> Event:
        self.events.append(self._waiting.popleft())
        return self.events[-1]

    def _board(self, board: tuple[int, ...]) -> Event:
        assert self._table is not None
        game, betting = self._table.hand.game, self._table.hand.betting
        name = self._contest.round_name(game.board_sizes.index(len(board))).capitalize()
        cards, pot = cards_name(self._contest.in_order(board)), self._contest.pot + sum(betting.spent)
        return Event("board", f"{name}: {cards}, pot {self._contest.unit.text(pot)}", cards=cards)

    def _ended(self, hand: Hand) -> Event:
        chips, unit = self._contest.won(hand, self._person), self._contest.unit
        self._won.append(chips)
        names = ("You", "Bot") if self._person == 0 else ("Bot", "You")
        self._log(LoggedHand(self._number, hand, names))
        shows = "" if (cards := self._shown(hand)) is None else f"The bot shows {cards}. "
        amount = f"{abs(chips) / unit.chips:.10g}"
        nothing = "You win nothing" if self._contest.pot else "Nobody wins"
        result = f"You win {amount}" if chips > 0 else f"You lose {amount}" if chips < 0 else nothing
        hands = "1 hand" if self.hands == 1 else f"{self.hands} hands"
        self._waiting.append(Event("result", f"{shows}{result}; {self.total:+.10g} after {hands}"))
        return self._next()

    def _shown(self, hand: Hand) -> str | None:
        cards = hand.hole[1 - self._person]
        return (
            None
            if hand.betting.folded is not None or cards is None
            else cards_name(sorted(cards, reverse=True))
        )

    def _judge(self, hand: Hand) -> Event:
        """Review the person's decisions in a finished hand, queue the review's events, and return the first."""
        contest, person = self._contest, self._person
        judged, reports, opponent_range = None, tuple[DecisionReport, ...](), None
        try:
            judged = contest.judge(hand, person, failed=self._failed)
            reports = tuple(DecisionReport.of(contest, hand, each) for each in judged.decisions)
            opponent_range = RangeReport(
                1 - person, contest.in_order(hand.board), judged.opponent_range, hand.game
            )
        except Exception as error:  # any error of the review must not prevent the next hand
            self._waiting.append(Event("warning", f"WARNING: no review: {error_line(error)}"))
        self._judged.append(judged)
        self._waiting.extend(Event("verdict", report.text) for report in reports)
        score, won = self.score, self._won[-1] / contest.unit.chips
        self._waiting.append(Event("score", score.text))
        self.report = HandReport(self._number, won, reports, opponent_range, self._shown(hand), score)
        contest.end(hand, person)
        return self._next()


@dataclass(frozen=True)
class RangeReport:
    """A player's range on a board.

    Attributes:
        weights: weight of each hand of the deck in the range.
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
        if self.game.is_holdem:
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
        pot: chips in the middle before the decision.
        label: the played action as buttons write it.
        labels: the strategy's actions as buttons write them.
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
    pot: float
    label: str
    labels: tuple[str, ...]

    @classmethod
    def of(cls, contest: Contest, hand: Hand, decided: Decided) -> DecisionReport:
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
            unit.number(contest.pot + sum(state.betting.spent)),
            contest.sized(state, decided.action),
            tuple(contest.sized(state, action) for action in decided.actions),
        )

    @property
    def text(self) -> str:
        """The report in words: the played action, what the strategy plays, and the cost."""
        where = f"{self.round} {self.line or '(first)'}: {self.played}"
        if self.frequencies is None:
            return where
        plays = ", ".join(
            f"{words} {share:.0%}"
            for words, action, share in zip(self.words, self.actions, self.frequencies, strict=True)
            if share >= LEAST_TOLD or action == self.action
        )
        cost = "" if self.cost is None else f"; cost {self.cost:z.2f} {self.unit}"
        other = "" if self.action in self.actions else " (an action that the strategy lacks)"
        return f"{where}{other}; the strategy {plays}{cost}"

    def to_json(self) -> dict[str, Any]:
        fields = {name: value for name, value in vars(self).items() if name != "unit"}
        return {
            **fields,
            "board": cards_name(self.board),
            "opponent_range": None if self.opponent_range is None else self.opponent_range.to_json(),
            "text": self.text,
        }


def _in_unit(chips: float | None, unit: Unit) -> float | None:
    return None if chips is None else chips / unit.chips


@dataclass(frozen=True)
class RunningScore:
    """A person's winnings against a stored strategy: the total, and means per hand with and without luck.

    The cost of a decision is the EV of the strategy's own frequencies less the EV of the played action.

    Attributes:
        won: the person's mean winnings per hand, with a 95 % interval.
        without_luck: estimate of the mean winnings with luck removed, with a 95 % interval; None without an estimate.
        expected: mean winnings per hand of the strategy itself in the same seats; None if this is unknown.
        cost: mean over hands of the summed cost of the person's decisions; None before the first hand whose costs are
            known.
    """

    hands: int
    total: float
    won: Mean
    without_luck: Mean | None
    expected: float | None
    cost: Mean | None
    unit: str

    @classmethod
    def of(cls, won: Sequence[float], judged: Sequence[Judged | None], unit: Unit) -> RunningScore:
        """Compute the score from all finished hands.

        If the strategy's own expected winnings are known for each hand, the interval of `without_luck` is computed from
        the estimates minus these expected winnings. So the interval does not widen if the expected winnings differ from
        hand to hand.

        Args:
            won: chips that the person won in each hand.
            judged: review of each hand; None if the review failed.
        """
        known = [each for each in judged if each is not None]
        expected = [each.expected for each in known if each.expected is not None]
        without_luck = [
            each.without_luck - (each.expected or 0.0) for each in known if each.without_luck is not None
        ]
        costs = [
            sum(decided.cost or 0.0 for decided in each.decisions)
            for each in known
            if all(decided.cost is not None for decided in each.decisions)
        ]
        mean = _mean(without_luck, unit)
        usual = fmean(expected) / unit.chips if expected else None
        if mean is not None and usual is not None:
            mean = Mean(mean.mean + usual, mean.half, mean.n)
        return cls(
            len(won),
            sum(won) / unit.chips,
            Mean.plain([chips / unit.chips for chips in won]),
            mean,
            usual,
            _mean(costs, unit),
            unit.name,
        )

    @property
    def text(self) -> str:
        parts = [f"{self.won.mean:+z.2f} {self.unit} per hand"]
        if self.without_luck is not None:
            parts.append(f"without luck {_mean_text(self.without_luck, '+')}")
        if self.expected is not None:
            parts.append(f"the strategy itself wins {self.expected:+z.2f} in your seats")
        elif self.cost is not None:
            parts.append(f"your decisions cost {_mean_text(self.cost)}")
        return f"score after {self.hands}: {'; '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        means = {name: _json(getattr(self, name)) for name in ("won", "without_luck", "cost")}
        return {**vars(self), **means}


def _mean(chips: Sequence[float], unit: Unit) -> Mean | None:
    return Mean.plain([each / unit.chips for each in chips]) if chips else None


def _mean_text(mean: Mean, sign: str = "") -> str:
    interval = f" ± {mean.half:.2f}" if mean.half == mean.half else ""
    return f"{mean.mean:{sign}z.2f}{interval}"


def _json(mean: Mean | None) -> dict[str, Any] | None:
    if mean is None or not mean.n:
        return None
    return {name: None if value != value else value for name, value in asdict(mean).items()}


def play_in_words(sitting: Sitting, ask: Ask, tell: Tell, hands: int | None = None) -> None:
    """Let a person play a number of hands, or until the end of input; an unfinished hand does not count."""
    for _ in count() if hands is None else range(hands):
        tell(_text(sitting.deal()))
        while sitting.in_play:
            while (event := sitting.advance()) is not None:
                tell(_text(event))
            if sitting.in_play:
                played = _asked(sitting, ask, tell)
                if played is None:
                    return
                tell(_text(played))


def _asked(sitting: Sitting, ask: Ask, tell: Tell) -> Event | None:
    """Ask until the words mean a possible action; play it and return its event, or None at the end of input."""
    turn = sitting.turn
    assert turn is not None
    while (line := ask(f"{turn.prompt} > ")) is not None:
        if line.strip() in ("?", "help"):
            tell(f"{sitting.help}\nBetting so far: {sitting.line or 'none'}")
            continue
        try:
            return sitting.say(line)
        except InputError as error:
            tell(str(error))
    return None


def _text(event: Event) -> str:
    if event.kind == "hand":
        return f"\n{event.text}"
    return f"  {event.text}" if event.kind in ("verdict", "score") else event.text
