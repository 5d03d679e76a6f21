"""How a bot plays from its lockers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from solvers.gadget import Gadget
from spewy.errors import InputError, shown

Resolve = Literal["never", "off-tree", "always"]
Translation = Literal["random", "likelier"]


@dataclass(frozen=True)
class Options:
    """What a bot may do beyond reading its lockers.

    Attributes:
        resolve: when sub-games are solved again: where the lockers have no answer to what was done ("off-tree"), or at
            the beginning of the first round that allows it too ("always"), to the end of the hand.
        rounds: how many rounds allow it, counted from the last: 2 are turn and river. The first round never does.
        leaves: the same for rounds before those, but for the first, which are solved to their own end: what follows is
            worth what payoff matrices say that were made of the lockers. Where nothing is solved, it means nothing.
        safe: how to see to it that the other player gains nothing by it; None: both ranges are taken as given.
        iterations: of a solve, at most. With this alone a decision is the same whenever it is repeated.
        seconds: time budget of one decision; None: no limit. The bot skips each stage of a solve that it does not
            expect to fit, if need be the whole solve. A machine that slows down during a stage can exceed the budget.
        translation: whether bets that the tree lacks are taken for others at random, or for the likelier one.
        threads: of a solve.
        warm: whether a solve begins with what is played without it, where that is known.
        strict: whether errors of the program, such as a TypeError, are raised; if not, the bot counts the error and
            plays the stored strategy, or a check or a fold.

    Raises:
        InputError: one of them cannot be.
    """

    resolve: Resolve = "off-tree"
    rounds: int = 2
    safe: Gadget | None = None
    iterations: int = 100
    seconds: float | None = 1.0
    translation: Translation = "random"
    threads: int = 1
    leaves: Resolve = "never"
    warm: bool = True
    strict: bool = False

    def first(self, n_rounds: int) -> int:
        """The first round of so many that is solved to the end of the hand."""
        return max(1, n_rounds - self.rounds)

    def __post_init__(self) -> None:
        allowed: dict[str, tuple[Any, ...]] = {
            "resolve": get_args(Resolve),
            "leaves": get_args(Resolve),
            "safe": (None, *get_args(Gadget)),
            "translation": get_args(Translation),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                told = ", ".join(map(str, values))
                raise InputError(f"{name}: expected one of {told}, found {shown(getattr(self, name))}")
        for name in ("rounds", "iterations", "threads"):
            number = getattr(self, name)
            if not isinstance(number, int) or number < 1:
                raise InputError(f"{name}: expected a whole number from 1 on, found {shown(number)}")
        if self.seconds is not None and not self.seconds > 0:
            raise InputError(f"seconds: expected more than 0, found {shown(self.seconds)}")
