"""Text of UPAC's protocol: read the state of a hand from the engine's lines, and record the bot's answers.

No line raises an error. `Table` reports invalid lines; if the bot cannot read a question, it calls, because a bot
that does not answer loses the game. Numbers of chips are totals that a player has put in during the hand, with blinds.
An action is ``c`` (check or call) or, for example, ``r8`` (raise to a total of 8).

`Table` ignores whether START says SB or BB, because engines before October 2023 print the other blind. The first
STACK of a hand shows who has the small blind: this player has put in 1 chip, the other 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Protocol

from buckets.cards.cards import RANKS, SUITS

MOST_CHIPS = 10**6
"""Largest number of chips in an answer or a valid question."""
SMALL_BLIND, BIG_BLIND = 1, 2

NUMBERS = {rank + suit: 4 * r + s for r, rank in enumerate(RANKS) for s, suit in enumerate(SUITS)}
"""Number of each card by its name."""
_CARDS = {"PREFLOP": 2, "FLOP": 3, "TURN": 1, "RIVER": 1}
_ROUNDS = {"FLOP": 0, "TURN": 3, "RIVER": 4}
"""Number of board cards before each round."""
_NUMBER = re.compile(r"[0-9]{1,7}")


@dataclass(frozen=True)
class Spot:
    """The state of a hand in which the bot must answer.

    Attributes:
        number: number of the hand, from 1.
        button: whether the bot has the small blind; this player acts first before the flop and last after it.
        pushed: chips that the bot and the opponent have put in during the hand, blinds included.
        stacks: stacks of the bot and the opponent when the hand began.
        rounds: actions so far by betting round; None if the engine's lines contradict each other.
    """

    number: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    button: bool
    pushed: tuple[int, int]
    stacks: tuple[int, int]
    rounds: tuple[tuple[str, ...], ...] | None

    @property
    def effective(self) -> int:
        """The smaller of both stacks, which is the most that a player can put in."""
        return min(self.stacks)

    @property
    def to_call(self) -> int:
        """Number of chips that a call costs."""
        return max(min(self.pushed[1], self.effective) - self.pushed[0], 0)

    @property
    def is_settled(self) -> bool:
        """Whether the bot has no choice: it is all-in, or the opponent is all-in and a call costs nothing."""
        all_in = max(self.pushed) >= self.effective
        return self.pushed[0] >= self.effective or (all_in and not self.to_call)


@dataclass(frozen=True)
class Heard:
    """The meaning of a line from the engine.

    Attributes:
        spot: the state in which the bot must answer; None if the line asks nothing, or the question cannot be read.
        wrong: error text of an invalid line; empty for a valid line.
    """

    spot: Spot | None = None
    asked: bool = False
    wrong: str = ""


@dataclass
class _Hand:
    """The state of the current hand, as far as it is known from the engine's lines."""

    labelled: str = ""
    hole: tuple[int, ...] = ()
    board: tuple[int, ...] = ()
    button: bool | None = None
    pushed: tuple[int, int] = (0, 0)
    rounds: list[list[str]] = field(default_factory=lambda: [[]])
    raised: bool = False
    """Whether the last action is a raise by the bot, to which the opponent must still respond."""
    sound: bool = True


class Table:
    """The bot's seat at the engine's table: reads lines, and records answers."""

    def __init__(self) -> None:
        self.hands = 0
        self._hand = _Hand()

    def hear(self, line: str) -> Heard:
        """Read a line of the engine, update the state of the hand, and return what the line means."""
        word, *rest = line.split()[:16] or [""]
        if word == "STACK":
            return self._stack(rest, line)
        if word == "START":
            return self._start(rest, line)
        if word in _CARDS:
            return self._cards(word, rest, line)
        if word == "END":
            self._hand = _Hand()
            return Heard()
        return Heard(wrong=_wrong(line, "START, PREFLOP, FLOP, TURN, RIVER, STACK or END"))

    def answered(self, spot: Spot, text: str) -> None:
        added = int(text[1:]) if text.startswith("R") else 0
        own, other = min(spot.pushed[0], spot.effective), min(spot.pushed[1], spot.effective)
        total = min(other + added, spot.effective)
        hand = self._hand
        hand.raised = total > other
        hand.rounds[-1].append(f"r{total}" if hand.raised else "c")
        hand.pushed = (max(total, own), other)

    def _start(self, rest: list[str], line: str) -> Heard:
        self.hands += 1
        self._hand = _Hand()
        if rest not in (["SB"], ["BB"]):
            return Heard(wrong=_wrong(line, "START SB or START BB"))
        self._hand.labelled = rest[0]
        return Heard()

    def _cards(self, word: str, rest: list[str], line: str) -> Heard:
        hand = self._hand
        cards = tuple(NUMBERS.get(name, -1) for name in rest)
        known = {*hand.hole, *hand.board} if word != "PREFLOP" else set()
        wanted = f"{word} and {_CARDS[word]} cards that were not dealt yet"
        if -1 in cards or len(cards) != _CARDS[word] or len({*cards, *known}) < len(cards) + len(known):
            hand.sound = False
            return Heard(wrong=_wrong(line, wanted))
        if word == "PREFLOP":
            hand.hole = tuple(sorted(cards))
            return Heard()
        if len(hand.board) != _ROUNDS[word]:
            hand.sound = False
            return Heard(wrong=_wrong(line, f"{word} after {_ROUNDS[word]} board cards"))
        hand.board += tuple(sorted(cards))
        return Heard()

    def _stack(self, rest: list[str], line: str) -> Heard:
        hand = self._hand
        numbers = [int(text) for text in rest if _NUMBER.fullmatch(text)]
        wanted = "STACK and four numbers: chips pushed and stack (at least 1) of each player"
        if len(rest) != 4 or len(numbers) != 4 or max(numbers) > MOST_CHIPS:
            hand.sound = False
            return Heard(asked=True, wrong=_wrong(line, wanted))
        own, own_stack, other, other_stack = numbers
        if not (0 <= own <= own_stack and 0 <= other <= other_stack and own_stack and other_stack):
            hand.sound = False
            return Heard(asked=True, wrong=_wrong(line, wanted))
        if len(hand.hole) != 2:
            return Heard(asked=True, wrong=_wrong(line, "PREFLOP before it"))
        stacks = (own_stack, other_stack)
        if hand.button is None:
            hand.button = _is_button(own, other, stacks, hand.labelled)
        wrong = _follow(hand, (own, other), min(stacks))
        if wrong:
            hand.sound = False
        rounds = tuple(tuple(actions) for actions in hand.rounds) if hand.sound else None
        spot = Spot(self.hands, hand.hole, hand.board, hand.button, (own, other), stacks, rounds)
        return Heard(spot, asked=True, wrong=_wrong(line, wrong) if wrong else "")


def _is_button(own: int, other: int, stacks: tuple[int, int], labelled: str) -> bool:
    """Whether the bot has the small blind, according to the engine's first question in a hand.

    If a stack is one chip, both players have put in 1 chip, and only the label of START names the bot's blind. No
    decision depends on the answer in such a hand.
    """
    if min(stacks) == 1:
        return labelled == "SB"
    return own == SMALL_BLIND and other == BIG_BLIND


def _follow(hand: _Hand, pushed: tuple[int, int], effective: int) -> str:
    """Add to a hand the opponent's actions since the bot's last answer, which follow from the engine's question.

    Returns:
        Words for an error: what was expected in place of an invalid question; empty for a valid question.
    """
    current = {0: 0, 3: 1, 4: 2, 5: 3}[len(hand.board)]
    own, other = min(pushed[0], effective), min(pushed[1], effective)
    first = hand.pushed == (0, 0)
    if first:
        if current:
            return "the first question before the flop"
        hand.pushed = (own, min(SMALL_BLIND if not hand.button else BIG_BLIND, effective))
    behind = hand.pushed[1]
    if own != hand.pushed[0]:
        return f"{hand.pushed[0]} own chips pushed"
    if other < behind:
        return f"at least {behind} chips of the other player"
    if first and hand.button:
        return ""
    return _closed(hand, current, (own, other), first)


def _closed(hand: _Hand, current: int, pushed: tuple[int, int], first: bool) -> str:
    """Add to a hand the opponent's actions that explain the chips and the round of the engine's question.

    Returns:
        Words for an error: what was expected, if no actions explain the question; else empty.
    """
    own, other = pushed
    behind = max(hand.pushed)
    passed = len(hand.rounds) - 1
    if current not in (passed, passed + 1):
        return "a question in every round"
    if current == passed:
        if other < own or (other == own and not (first and not hand.button)):
            return f"more than {own} chips of the other player, or the next round"
        hand.rounds[-1].append(f"r{other}" if other > behind else "c")
        hand.pushed = pushed
        return ""
    answer_due = hand.raised or len(hand.rounds[-1]) == 1
    bet = other if hand.button and other > own else 0
    if not bet and other != own:
        return f"{own} chips of the other player"
    if answer_due:
        hand.rounds[-1].append("c")
    hand.rounds.append([])
    hand.raised = False
    if hand.button:
        hand.rounds[-1].append(f"r{other}" if bet else "c")
    hand.pushed = pushed
    return ""


def _wrong(line: str, expected: str) -> str:
    return f"line {line[:60]!r}: expected {expected}"


MOST_OF_LINE = 4096
"""Largest number of bytes that are read as one line; a longer line is cut into several lines."""

Note = Callable[[str], None]


class Answers(Protocol):
    """Chooses the bot's answer to a question, as `spewy.competitions.upac.runtime.player.Player` does."""

    def answer(self, spot: Spot, /) -> str: ...


def serve(source: IO[bytes], sink: IO[bytes], player: Answers, note: Note) -> int:
    """Answer the engine's lines until the engine closes a stream.

    If the player fails, the bot calls, and notes a line that begins with ``WARNING``.

    Returns:
        The number of hands that began.
    """
    table = Table()
    while line := source.readline(MOST_OF_LINE):
        text = line.decode("ascii", errors="replace").strip()
        note(f"< {text}")
        answer = _answer(table, text, player, note)
        if not answer:
            continue
        note(f"> {answer}")
        try:
            sink.write(f"{answer}\n".encode("ascii"))
            sink.flush()
        except BrokenPipeError:
            note("the engine has closed the pipe")
            break
    return table.hands


def _answer(table: Table, text: str, player: Answers, note: Note) -> str:
    heard = table.hear(text)
    if heard.wrong:
        note(f"WARNING {heard.wrong}")
    if not heard.asked:
        return ""
    if heard.spot is None:
        return "C"
    try:
        answer = player.answer(heard.spot)
    except Exception as error:  # a missing answer would lose the game
        note(f"WARNING no answer to {text!r} because of {type(error).__name__}: {error}; the bot calls")
        answer = "C"
    table.answered(heard.spot, answer)
    return answer
