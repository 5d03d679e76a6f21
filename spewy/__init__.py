"""Spewy: a chunk-based range-vs-range solver for heads-up poker.

>>> import spewy
>>> solution = spewy.solve("examples/R1.toml", "results/R1")  # doctest: +SKIP
>>> solution.result.exploitability_pct  # doctest: +SKIP
0.09
>>> solution.node("x b45").frame()  # doctest: +SKIP

Modules are loaded when a name is first used, so ``import spewy`` alone takes no time.
"""

from typing import TYPE_CHECKING, Any

from spewy.look import ABOVE as _ABOVE_LOOK
from spewy.system.tools import lazy_names

if TYPE_CHECKING:
    from spewy import plot
    from spewy.batch.sizes import ChosenSizes, choose_sizes
    from spewy.batch.solve_batch import BatchResult, solve_batch
    from spewy.batch.solve_rivers import Rivers, solve_rivers
    from spewy.bot.agent import LockerBot, open_bot
    from spewy.bot.bot import Player
    from spewy.competitions.acpc.author import Turn, play_acpc
    from spewy.errors import InputError, SpewyError
    from spewy.job.job import Job
    from spewy.look.exploit import FlopJudged, JudgingBegan
    from spewy.look.folder import open_policy
    from spewy.look.node import NodeView
    from spewy.look.solution import Solution, solve
    from spewy.match.match import play_match
    from spewy.records.policy import Decision, Policy
    from spewy.run.events import Advanced, Began, Checked, Ended, Noted, Stated
    from spewy.run.result import SolveResult
    from spewy.run.session import Session

__all__ = [
    "Advanced",
    "BatchResult",
    "Began",
    "Checked",
    "ChosenSizes",
    "Decision",
    "Ended",
    "FlopJudged",
    "InputError",
    "Job",
    "JudgingBegan",
    "LockerBot",
    "NodeView",
    "Noted",
    "Player",
    "Policy",
    "Rivers",
    "Session",
    "Solution",
    "SolveResult",
    "SpewyError",
    "Stated",
    "Turn",
    "__version__",
    "choose_sizes",
    "open_bot",
    "open_policy",
    "play_acpc",
    "play_match",
    "plot",
    "solve",
    "solve_batch",
    "solve_rivers",
]

__version__ = (
    "1.0.0"  # setup.cfg reads it from here, so that a checkout without installation has a version too
)

_MODULES = {
    "Advanced": "run.events",
    "BatchResult": "batch.solve_batch",
    "Began": "run.events",
    "Checked": "run.events",
    "ChosenSizes": "batch.sizes",
    "Decision": "records.policy",
    "Ended": "run.events",
    "FlopJudged": "look.exploit",
    "InputError": "errors",
    "Job": "job.job",
    "JudgingBegan": "look.exploit",
    "LockerBot": "bot.agent",
    "NodeView": "look.node",
    "Noted": "run.events",
    "Player": "bot.bot",
    "Policy": "records.policy",
    "Rivers": "batch.solve_rivers",
    "Session": "run.session",
    "Solution": "look.solution",
    "SolveResult": "run.result",
    "SpewyError": "errors",
    "Stated": "run.events",
    "Turn": "competitions.acpc.author",
    "choose_sizes": "batch.sizes",
    "open_bot": "bot.agent",
    "open_policy": "look.folder",
    "play_acpc": "competitions.acpc.author",
    "play_match": "match.match",
    "plot": "",
    "solve": "look.solution",
    "solve_batch": "batch.solve_batch",
    "solve_rivers": "batch.solve_rivers",
}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = lazy_names(__name__, _MODULES)


def _hand_chart(*arguments: Any) -> Any:
    from spewy.plot import hand_chart

    return hand_chart(*arguments)


def _look_widget(*arguments: Any) -> Any:
    from spewy.web.widget import LookWidget

    return LookWidget(*arguments)


# Methods of `spewy.look` that draw and show; rooms import only from rooms below them.
_ABOVE_LOOK.update(hand_chart=_hand_chart, look_widget=_look_widget)


def __dir__() -> list[str]:
    return sorted(__all__)
