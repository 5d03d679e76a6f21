"""Options of a bot that plays from a solve's folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypedDict, Unpack, get_args

from joblib import cpu_count

from solvers.resolve import Gadget
from spewy.errors import InputError, nearest, shown

Resolve = Literal["never", "off-tree", "always"]
Translation = Literal["random", "likelier"]
OwnMenu = Literal["lean", "job"]
Flops = Literal["stored", "sampled", "exact"]
Method = Literal["sampled", "exact"]
"""How a subgame is re-solved: by sampling the cards of later rounds, or on all boards to the end of the hand."""

MOST_ITERATIONS = 2000
"""Largest number of iterations of a solve with a time bank; the time that the solve does not need stays in the bank."""
MOST_DEALS = 20_000
"""Largest number of deals of a sampled solve with a time bank."""


class Keywords(TypedDict, total=False):
    """Keyword arguments of `spewy.open_bot` and `Options.of`; `spewy.open_bot` explains them."""

    resolve: Resolve
    rounds: int
    safe: bool | Gadget
    iterations: int | None
    seconds: float | None
    seconds_per_hand: float | None
    translation: Translation
    threads: int | None
    strict: bool
    menu: OwnMenu
    flops: Flops


@dataclass(frozen=True)
class Options:
    """Options for re-solving subgames at the table.

    Attributes:
        resolve: when to re-solve a subgame to the end of the hand: "never"; "off-tree", if no strategy is stored for
            the betting so far; "always", also at the start of the first round that ``rounds`` allows.
        rounds: number of last rounds that are re-solved exactly, to the end of the hand; 2 means turn and river. The
            first round is never re-solved.
        safe: name of the gadget (`solvers.resolve`) that keeps the opponent from gaining by a re-solve; None: re-solve
            unsafely, as if both ranges were known.
        iterations: largest number of iterations of an exact solve. If it is the only limit, decisions can be repeated
            exactly; those of sampled solves only with one thread.
        seconds: time budget of one decision; None: no limit. The bot skips stages of a solve, or the whole solve, if it
            does not expect them to fit. A stage that takes longer than predicted can exceed the budget.
        translation: how to translate a bet that the tree lacks: with "random" each hand draws one of the tree's two
            neighbouring bets, in secret (`spewy.bot.stored_play`); "likelier" takes the more probable bet of the two.
        threads: number of threads of a solve; None: all cores that the bot's process may use.
        warm: whether a solve starts from the strategy that the bot would play without the solve, if that is known.
        strict: whether to raise errors that only a bug can cause, such as a TypeError. Otherwise the bot counts the
            error, and plays the stored strategy, or checks or folds.
        menu: bet sizes of a solve in no-limit games, besides the bets that were made (`spewy.bot.resolving.builder`):
            "lean" or "job". If these take too much memory or time, the bot uses fewer sizes.
        flops: how rounds between the first round and the last ``rounds`` are re-solved, in hold'em the flop: "stored",
            not at all; "sampled", each round alone, by sampling the cards of later rounds; "exact", like later rounds,
            which takes sixteen cores and a few GiB in no-limit hold'em.
        deals: largest number of deals of a sampled solve.
        seconds_per_hand: time budget of all decisions together, in seconds for each hand that has begun
            (`spewy.bot.resolving.budget`). It replaces ``seconds``; None: each decision has the budget ``seconds``.
    """

    resolve: Resolve = "off-tree"
    rounds: int = 2
    safe: Gadget | None = None
    iterations: int = 400
    seconds: float | None = 1.0
    translation: Translation = "random"
    threads: int | None = 1
    warm: bool = True
    strict: bool = False
    menu: OwnMenu = "lean"
    flops: Flops = "stored"
    deals: int = 4000
    seconds_per_hand: float | None = None

    @classmethod
    def of(cls, **keywords: Unpack[Keywords]) -> Options:
        """Return the options that the keyword arguments of `spewy.open_bot` mean.

        >>> Options.of(safe=True, seconds_per_hand=7.0).safe
        'mixed'
        """
        known = list(Keywords.__annotations__)
        for name in keywords:
            if name not in known:
                raise InputError(f"bot: unknown option {shown(name)}{nearest(name, known)}; remove it")
        values: dict[str, Any] = {**keywords}
        safe, threads = values.pop("safe", False), values.pop("threads", None)
        iterations, has_bank = values.pop("iterations", None), values.get("seconds_per_hand") is not None
        return cls(
            **values,
            safe=None if safe is False else "mixed" if safe is True else safe,
            threads=1 if threads is None and values.get("resolve") != "always" else threads,
            iterations=(MOST_ITERATIONS if has_bank else cls.iterations)
            if iterations is None
            else iterations,
            deals=MOST_DEALS if has_bank else cls.deals,
        )

    def to_json(self) -> dict[str, Any]:
        """Return all options by name, as a log keeps them."""
        return asdict(self)

    @property
    def n_threads(self) -> int:
        """Number of threads of a solve in this process."""
        return cpu_count() if self.threads is None else self.threads

    @property
    def expected_seconds(self) -> float | None:
        """Available seconds that the bot assumes when it chooses the bet sizes (the menu) of a solve; None: no limit.

        This is the time budget of a decision or, with a time bank, the seconds that each hand adds to the bank.
        """
        return self.seconds if self.seconds_per_hand is None else self.seconds_per_hand

    def method(self, t: int, n_rounds: int) -> Method | None:
        """Return how to re-solve subgames that begin in round ``t``, in a game of ``n_rounds`` rounds; None: never."""
        if t < 1:
            return None
        if t >= n_rounds - self.rounds:
            return "exact"
        return None if self.flops == "stored" else self.flops

    def first_round(self, n_rounds: int) -> int:
        """Return the first round that may be re-solved in a game of ``n_rounds`` rounds."""
        return next((t for t in range(1, n_rounds) if self.method(t, n_rounds)), 1)

    def first_exact_round(self, n_rounds: int) -> int:
        """Return the first round that may be re-solved exactly, or the last of ``n_rounds`` rounds if none may be."""
        return next((t for t in range(n_rounds) if self.method(t, n_rounds) == "exact"), n_rounds - 1)

    def __post_init__(self) -> None:
        allowed: dict[str, tuple[Any, ...]] = {
            "resolve": get_args(Resolve),
            "safe": (None, *get_args(Gadget)),
            "translation": get_args(Translation),
            "menu": get_args(OwnMenu),
            "flops": get_args(Flops),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                choices = ", ".join(map(str, values))
                raise InputError(f"{name}: expected one of {choices}, found {shown(getattr(self, name))}")
        for name in ("rounds", "iterations", "threads", "deals"):
            number = getattr(self, name)
            if name == "threads" and number is None:
                continue
            if not isinstance(number, int) or number < 1:
                raise InputError(f"{name}: expected a whole number from 1 on, found {shown(number)}")
        if self.seconds is not None and not self.seconds > 0:
            raise InputError(f"seconds: expected more than 0, found {shown(self.seconds)}")
