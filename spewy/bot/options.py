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
Flops = Literal["stored", "sampled", "quick", "exact"]
Method = Literal["sampled", "quick", "exact"]
"""How a subgame is re-solved.

A round alone: by sampling the cards of later rounds, or on all boards with few bets later (quick). Or exactly, to the
end of the hand.
"""

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
    """All options of a bot, with their defaults; `spewy.open_bot` explains most of them.

    Attributes:
        safe: name of the gadget; None: re-solve unsafely.
        threads: number of threads of a solve; None: all cores that this process may use.
        warm: whether a solve starts from the strategy that the bot would play without the solve, if that is known.
        deals: largest number of deals of a sampled solve.
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
    def words(self) -> list[str]:
        """The options as words of a command line; options that commands lack are left out.

        ``seconds`` or ``seconds_per_hand`` must be set.

        >>> " ".join(Options.of(resolve="always", safe=True, seconds_per_hand=7.0).words)
        '--resolve always --safe mixed --time-per-hand 7s --menu lean --flops stored'
        """
        words = ["--resolve", self.resolve, *(("--safe", self.safe) if self.safe else ())]
        if self.seconds_per_hand is None:
            words += ["--budget", f"{self.seconds:.12g}"]
        else:
            words += ["--time-per-hand", f"{self.seconds_per_hand:.12g}s"]
        if self.threads != Options.of(resolve=self.resolve).threads:
            words += ["--threads", str(self.threads)]
        return [*words, "--menu", self.menu, "--flops", self.flops]

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
