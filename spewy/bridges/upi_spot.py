"""A spot that a client of UPI describes command by command, until ``build_tree`` makes a job of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from buckets.cards import card_name, parse_cards
from buckets.errors import CardError
from solvers.tree import Floats
from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.gamefile import load_game
from spewy.game.treeconfig import spot_config
from spewy.job.job import Job, SpotJob

GAME = "holdem.nolimit.2p.reverse_blinds"
ROUND_OF_CARDS = {3: 1, 4: 2, 5: 3}


@dataclass
class UpiSpot:
    """Ranges, board, chips, bets and accuracy of the next tree, and its locked strategies.

    Attributes:
        ranges: ranges of oop and ip, as text for a job.
        lines: lines of the tree as ACPC betting strings, in the order in which they were added.
        sizes: bet sizes of oop and ip in % of the pot, where the tree has no lines.
        target: accuracy as the text of ``solve.target``.
        threads: number of threads; 0 for all cores.
        locks: entries ``[[lock]]`` of the job by the name of their node.
    """

    ranges: list[str] = field(default_factory=lambda: ["", ""])
    board: tuple[int, ...] = ()
    pot: int = 0
    stack: int = 0
    lines: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=lambda: ["", ""])
    target: str = "0.3%"
    threads: int = 0
    locks: dict[str, dict[str, Any]] = field(default_factory=dict)

    def set_board(self, words: list[str]) -> None:
        try:
            self.board = parse_cards("".join(words))
        except CardError as error:
            raise InputError(f"set_board: {error}") from None

    def set_pot(self, words: list[str]) -> None:
        put_in = _chips("set_pot", words, 3)
        if any(put_in[:2]):
            raise InputError(
                f"set_pot: expected a spot where nobody has bet yet (0 0 POT), found {' '.join(words)}"
            )
        self.pot = put_in[2]

    def set_stack(self, words: list[str]) -> None:
        (self.stack,) = _chips("set_eff_stack", words, 1)

    def set_accuracy(self, words: list[str]) -> None:
        """Read ``set_accuracy NUMBER``, an amount in chips; or a share of the pot, with the word *fraction*."""
        if not 1 <= len(words) <= 2 or words[1:] not in ([], ["chips"], ["fraction"]):
            raise InputError(
                f"set_accuracy: expected a number, and chips or fraction, found {shown(' '.join(words))}"
            )
        number = _number("set_accuracy", words[0])
        self.target = f"{100 * number:g}%" if words[1:] == ["fraction"] else f"{number:g} chips"

    def add_line(self, words: list[str]) -> None:
        self.lines.append(self._line("add_line", words))

    def remove_line(self, words: list[str]) -> None:
        """Remove the last bet of the line ``words`` and all that follows; the actions before the bet stay."""
        removed = self._line("remove_line", words)
        if not any(_begins(line, removed) for line in self.lines):
            raise InputError(f"remove_line: the tree has no line {' '.join(words)}")
        before = removed[: removed.rstrip("0123456789").rfind("r")]
        self.lines = [before if _begins(line, removed) else line for line in self.lines]

    def job(self) -> SpotJob:
        """Make the job of the spot.

        Raises:
            InputError: something is missing or wrong; the message names it.
        """
        from joblib import cpu_count  # takes long to import; readers of spots do without it

        missing = [
            name
            for name, value in (
                ("set_range OOP", self.ranges[0]),
                ("set_range IP", self.ranges[1]),
                ("set_board", self.board),
                ("set_pot", self.pot),
                ("set_eff_stack", self.stack),
                ("add_line or set_bet_sizes", self.lines or any(self.sizes)),
            )
            if not value
        ]
        if missing:
            raise InputError(f"build_tree: expected {', '.join(missing)} before, found none")
        job = Job.of(
            {
                "name": "upi",
                "game": {"file": GAME},
                "spot": {
                    "board": " ".join(map(card_name, self.board)),
                    "pot": self.pot,
                    "stack": self.stack,
                    "oop": self.ranges[0],
                    "ip": self.ranges[1],
                },
                **({"tree": {"lines": self.lines}} if self.lines else {"bets": {"flop": self._sizes()}}),
                "lock": list(self.locks.values()),
                "solve": {
                    "target": self.target,
                    "workers": self.threads or cpu_count(),
                    "max_sweeps": 100_000,
                },
            },
            "build_tree",
        )
        assert isinstance(job, SpotJob)
        return job

    def _sizes(self) -> dict[str, Any]:
        return {
            seat: {"bet": sizes, "raise": sizes}
            for seat, sizes in zip(("oop", "ip"), self.sizes, strict=True)
        }

    def _line(self, name: str, words: list[str]) -> str:
        """Read a line of PioSOLVER: what the player to act has put in since the root, action by action, oop first."""
        totals, betting = _chips(name, words), self._start(name)
        for number, total in enumerate(totals, start=1):
            player, highest = betting.to_act, max(betting.spent)
            if player is None:
                raise InputError(
                    f"{name}: expected no number after the end of the hand, found {total} at place {number}"
                )
            if total < highest:
                raise InputError(
                    f"{name}: expected a check, call or raise of the {highest} chips that the other player has put in "
                    f"(folds are in the tree anyway), found {total} at place {number}"
                )
            try:
                betting = betting.called() if total == highest else betting.apply(f"r{total}")
            except InputError as error:
                raise InputError(f"{name}: place {number}: {error}") from None
        return betting.line

    def _start(self, name: str) -> Betting:
        if len(self.board) not in ROUND_OF_CARDS or not self.stack:
            raise InputError(f"{name}: expected set_board and set_eff_stack before, found none")
        config = spot_config(
            load_game(GAME), ROUND_OF_CARDS[len(self.board)], self.pot or 1, self.stack, lines=("c",)
        )
        return config.start()


def range_text(words: list[str]) -> str:
    """Convert the range of the command ``set_range``, 1,326 numbers or groups of hands, to the text of a job."""
    numbers = [word for word in words if re.fullmatch(r"[0-9.eE+-]+", word)]
    return f"order = pio, {' '.join(words)}" if len(numbers) == len(words) > 1 else " ".join(words)


def lock_entry(
    line: str, board: str, actions: Sequence[str], hands: list[str], strategy: Floats
) -> dict[str, Any]:
    """Make the entry ``[[lock]]`` of a strategy ``[action, hand]``; hands without frequencies are left out."""
    total = strategy.sum(axis=0)
    played = np.flatnonzero(total > 0)
    return {
        "line": line,
        "board": board,
        "hands": {
            hands[h]: dict(zip(actions, (strategy[:, h] / total[h]).tolist(), strict=True)) for h in played
        },
    }


def _begins(line: str, beginning: str) -> bool:
    """Whether a line begins with the actions of another line; ``r12`` does not begin with ``r1``."""
    return line.startswith(beginning) and not line[len(beginning) : len(beginning) + 1].isdigit()


def _chips(name: str, words: list[str], count: int | None = None) -> list[int]:
    if count is not None and len(words) != count:
        raise InputError(f"{name}: expected {count} numbers of chips, found {len(words)}")
    wrong = next((word for word in words if not re.fullmatch(r"\d{1,12}", word)), None)
    if wrong is not None or not words:
        raise InputError(f"{name}: expected whole chips, found {shown(wrong or '')}")
    return [int(word) for word in words]


def _number(name: str, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise InputError(f"{name}: expected a number of at least 0, found {shown(word)}")
    return number
