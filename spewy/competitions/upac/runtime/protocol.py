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
MOST_OF_LINE = 4096
"""Largest number of bytes that are read as one line; a longer line is cut into several lines."""

NUMBERS = {rank + suit: 4 * r + s for r, rank in enumerate(RANKS) for s, suit in enumerate(SUITS)}
"""Number of each card by its name."""
_CARDS = {"PREFLOP": 2, "FLOP": 3, "TURN": 1, "RIVER": 1}
_ROUNDS = {"FLOP": 0, "TURN": 3, "RIVER": 4}
"""Number of board cards before each round."""
_NUMBER = re.compile(r"[0-9]{1,7}")

Note = Callable[[str], None]


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
    """The state of the current hand, as far as it is known from the engine's lines.

    Attributes:
        raised: whether the last action is a raise by the bot, to which the opponent must still respond.
        sound: whether no line of the hand contradicts the earlier lines.
    """

    labelled: str = ""
    hole: tuple[int, ...] = ()
    board: tuple[int, ...] = ()
    button: bool | None = None
    pushed: tuple[int, int] = (0, 0)
    rounds: list[list[str]] = field(default_factory=lambda: [[]])
    raised: bool = False
    sound: bool = True

    def deal(self, word: str, names: list[str]) -> str:
        """Take the cards of a line; if they are impossible, return what was expected instead, else an empty text."""
        cards = tuple(NUMBERS.get(name, -1) for name in names)
        known = {*self.hole, *self.board} if word != "PREFLOP" else set()
        wrong = ""
        if -1 in cards or len(cards) != _CARDS[word] or len({*cards, *known}) < len(cards) + len(known):
            wrong = f"{word} and {_CARDS[word]} cards that were not dealt yet"
        elif word == "PREFLOP":
            self.hole = tuple(sorted(cards))
        elif len(self.board) != _ROUNDS[word]:
            wrong = f"{word} after {_ROUNDS[word]} board cards"
        else:
            self.board += tuple(sorted(cards))
        self.sound = self.sound and not wrong
        return wrong

    def follow(self, own: int, other: int, effective: int) -> str:
        """Add the opponent's actions since the bot's last answer, which follow from the chips in a question.

        Returns what was expected, if no actions explain the question; else an empty text.
        """
        current, passed = {0: 0, 3: 1, 4: 2, 5: 3}[len(self.board)], len(self.rounds) - 1
        own, other = min(own, effective), min(other, effective)
        first = self.pushed == (0, 0)
        if first:
            if current:
                return "the first question before the flop"
            self.pushed = (own, min(BIG_BLIND if self.button else SMALL_BLIND, effective))
        if own != self.pushed[0]:
            return f"{self.pushed[0]} own chips pushed"
        if other < self.pushed[1]:
            return f"at least {self.pushed[1]} chips of the other player"
        if first and self.button:
            return ""
        if current not in (passed, passed + 1):
            return "a question in every round"
        if current == passed:
            if other < own or (other == own and not (first and not self.button)):
                return f"more than {own} chips of the other player, or the next round"
            self.rounds[-1].append(f"r{other}" if other > max(self.pushed) else "c")
        else:
            bet = other > own and bool(self.button)
            if not bet and other != own:
                return f"{own} chips of the other player"
            if self.raised or len(self.rounds[-1]) == 1:
                self.rounds[-1].append("c")
            self.rounds.append([f"r{other}" if bet else "c"] if self.button else [])
            self.raised = False
        self.pushed = (own, other)
        return ""


class Table:
    """The bot's seat at the engine's table: reads lines, and records answers."""

    def __init__(self) -> None:
        self.hands = 0
        self._hand = _Hand()

    def hear(self, line: str) -> Heard:
        """Read a line of the engine, update the state of the hand, and return what the line means."""
        word, *rest = line.split()[:16] or [""]
        spot, wrong = None, ""
        if word == "STACK":
            spot, wrong = self._question(rest)
        elif word == "START":
            self.hands += 1
            self._hand = _Hand(rest[0] if rest in (["SB"], ["BB"]) else "")
            wrong = "" if self._hand.labelled else "START SB or START BB"
        elif word in _CARDS:
            wrong = self._hand.deal(word, rest)
        elif word == "END":
            self._hand = _Hand()
        else:
            wrong = "START, PREFLOP, FLOP, TURN, RIVER, STACK or END"
        return Heard(spot, word == "STACK", f"line {line[:60]!r}: expected {wrong}" if wrong else "")

    def answered(self, spot: Spot, text: str) -> None:
        added = int(text[1:]) if text.startswith("R") else 0
        own, other = min(spot.pushed[0], spot.effective), min(spot.pushed[1], spot.effective)
        total = min(other + added, spot.effective)
        hand = self._hand
        hand.raised = total > other
        hand.rounds[-1].append(f"r{total}" if hand.raised else "c")
        hand.pushed = (max(total, own), other)

    def _question(self, words: list[str]) -> tuple[Spot | None, str]:
        """Read the words after STACK; return the `Spot`, or None, and what was expected in place of wrong words."""
        hand = self._hand
        numbers = [int(word) for word in words if _NUMBER.fullmatch(word)]
        own, own_stack, other, other_stack = numbers if len(numbers) == len(words) == 4 else [0] * 4
        if not (own <= own_stack and other <= other_stack and min(own_stack, other_stack) >= 1) or (
            max(own_stack, other_stack) > MOST_CHIPS
        ):
            hand.sound = False
            return None, "STACK and four numbers: chips pushed and stack (at least 1) of each player"
        if len(hand.hole) != 2:
            return None, "PREFLOP before it"
        stacks = (own_stack, other_stack)
        if hand.button is None:
            hand.button = own == SMALL_BLIND and other == BIG_BLIND
            if (
                min(stacks) == 1
            ):  # both have put in 1 chip; only the label names the blind, and no decision needs it
                hand.button = hand.labelled == "SB"
        wrong = hand.follow(own, other, min(stacks))
        hand.sound = hand.sound and not wrong
        rounds = tuple(tuple(actions) for actions in hand.rounds) if hand.sound else None
        return Spot(self.hands, hand.hole, hand.board, hand.button, (own, other), stacks, rounds), wrong


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
        heard = table.hear(text)
        if heard.wrong:
            note(f"WARNING {heard.wrong}")
        if not heard.asked:
            continue
        answer = "C"
        if heard.spot is not None:
            try:
                answer = player.answer(heard.spot)
            except Exception as error:  # a missing answer would lose the game
                reason = f"{type(error).__name__}: {error}"
                note(f"WARNING no answer to {text!r} because of {reason}; the bot calls")
            table.answered(heard.spot, answer)
        note(f"> {answer}")
        try:
            sink.write(f"{answer}\n".encode("ascii"))
            sink.flush()
        except BrokenPipeError:
            note("the engine has closed the pipe")
            break
    return table.hands
