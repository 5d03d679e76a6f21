"""Options of a bot that plays from a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from solvers.resolve import Gadget
from spewy.errors import InputError, shown

Resolve = Literal["never", "off-tree", "always"]
Translation = Literal["random", "likelier"]


@dataclass(frozen=True)
class Options:
    """Options for re-solving subgames at the table.

    Attributes:
        resolve: when to re-solve a subgame to the end of the hand: "never"; "off-tree", where the blueprint has no
            strategy for the betting; or "always", also at the beginning of the first round that ``rounds`` allows.
        rounds: number of last rounds that may be re-solved; 2 are turn and river. The first round never is.
        safe: gadget of safe re-solving, from which the opponent gains nothing; None takes both ranges as estimated.
        iterations: most iterations of a solve. Without a time limit this makes a decision repeatable.
        seconds: time budget of one decision; None: no limit. The bot skips each stage of a solve that it does not
            expect to fit, if need be the whole solve. A machine that slows down during a stage can exceed the budget.
        translation: whether a bet that the tree lacks is read as one of the tree's at random, or as the likelier one.
        threads: threads of a solve.
        warm: whether a solve starts from the strategy that would be played without it, if this is known.
        strict: whether errors of the program, such as a TypeError, are raised; if not, the bot counts the error and
            plays the stored strategy, or a check or a fold.

    Raises:
        InputError: an option has an impossible value.
    """

    resolve: Resolve = "off-tree"
    rounds: int = 2
    safe: Gadget | None = None
    iterations: int = 100
    seconds: float | None = 1.0
    translation: Translation = "random"
    threads: int = 1
    warm: bool = True
    strict: bool = False

    def first_round(self, n_rounds: int) -> int:
        """First round that may be re-solved in a game of ``n_rounds`` rounds."""
        return max(1, n_rounds - self.rounds)

    def __post_init__(self) -> None:
        allowed: dict[str, tuple[Any, ...]] = {
            "resolve": get_args(Resolve),
            "safe": (None, *get_args(Gadget)),
            "translation": get_args(Translation),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                choices = ", ".join(map(str, values))
                raise InputError(f"{name}: expected one of {choices}, found {shown(getattr(self, name))}")
        for name in ("rounds", "iterations", "threads"):
            number = getattr(self, name)
            if not isinstance(number, int) or number < 1:
                raise InputError(f"{name}: expected a whole number from 1 on, found {shown(number)}")
        if self.seconds is not None and not self.seconds > 0:
            raise InputError(f"seconds: expected more than 0, found {shown(self.seconds)}")
