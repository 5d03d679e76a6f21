"""Spewy: a chunk-based range-vs-range solver for heads-up poker.

>>> from spewy import Solution, solve
>>> result = solve("examples/R1.toml", "results/R1")  # doctest: +SKIP
>>> with Solution.open("results/R1") as solution:  # doctest: +SKIP
...     frame = solution.node().frame()

What stands here is loaded when it is asked for: ``import spewy`` alone costs nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spewy import plot
    from spewy.bot.agent import LockerBot, open_bot
    from spewy.bot.player import Player
    from spewy.errors import InputError, SpewyError
    from spewy.job.job import Job
    from spewy.look.node import NodeView
    from spewy.look.policy import open_policy
    from spewy.look.solution import Solution
    from spewy.records.policy import Decision, Policy
    from spewy.run.reporter import Reporter
    from spewy.run.result import SolveResult
    from spewy.run.session import Session, solve

__all__ = [
    "Decision",
    "InputError",
    "Job",
    "LockerBot",
    "NodeView",
    "Player",
    "Policy",
    "Reporter",
    "Session",
    "Solution",
    "SolveResult",
    "SpewyError",
    "__version__",
    "open_bot",
    "open_policy",
    "plot",
    "solve",
]

__version__ = "0.1.0"  # setup.cfg reads it here, so that a checkout that nobody installed knows it too

_MODULES = {
    "Decision": "records.policy",
    "InputError": "errors",
    "Job": "job.job",
    "LockerBot": "bot.agent",
    "NodeView": "look.node",
    "Player": "bot.player",
    "Policy": "records.policy",
    "Reporter": "run.reporter",
    "Session": "run.session",
    "Solution": "look.solution",
    "SolveResult": "run.result",
    "SpewyError": "errors",
    "open_bot": "bot.agent",
    "open_policy": "look.policy",
    "solve": "run.session",
}

if not TYPE_CHECKING:  # a type checker would take every name for one that is there

    def __getattr__(name: str) -> object:
        """Load what a name stands for."""
        from importlib import import_module

        if name == "plot":
            return import_module(f"{__name__}.plot")
        if name in _MODULES:
            return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is public, loaded or not."""
    return sorted(__all__)
