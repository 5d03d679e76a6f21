"""Two-player zero-sum games as arrays: chunk trees, leaves, CFR, the sequence-form LP, best responses."""

from typing import TYPE_CHECKING

from solvers.errors import SolverError
from solvers.forest import Chance, Decision, Fold, Forest, Showdown
from solvers.live import Deal, LiveGame, Lock, Round, Rows, Strategies
from solvers.variants import VARIANTS, Variant, variant

if TYPE_CHECKING:
    from solvers.cfr import Cfr
    from solvers.chunk import Chunk
    from solvers.exact import ExactCfr
    from solvers.exploit import Exploitability, expected_value, exploitability
    from solvers.lp import LpResult, solve_lp
    from solvers.sampled.engine import SampledCfr
    from solvers.walk import Walker

__all__ = [
    "VARIANTS",
    "Cfr",
    "Chance",
    "Chunk",
    "Deal",
    "Decision",
    "ExactCfr",
    "Exploitability",
    "Fold",
    "Forest",
    "LiveGame",
    "Lock",
    "LpResult",
    "Round",
    "Rows",
    "SampledCfr",
    "Showdown",
    "SolverError",
    "Strategies",
    "Variant",
    "Walker",
    "expected_value",
    "exploitability",
    "solve_lp",
    "variant",
]

_WITH_KERNELS = {
    "Cfr": "cfr",
    "Chunk": "chunk",
    "ExactCfr": "exact",
    "Exploitability": "exploit",
    "LpResult": "lp",
    "SampledCfr": "sampled.engine",
    "Walker": "walk",
    "expected_value": "exploit",
    "exploitability": "exploit",
    "solve_lp": "lp",
}

if not TYPE_CHECKING:  # a type checker would take every name for one that is there

    def __getattr__(name: str) -> object:
        """Load Numba or SciPy only with a name that needs them."""
        from importlib import import_module

        if name in _WITH_KERNELS:
            return getattr(import_module(f"{__name__}.{_WITH_KERNELS[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is public, loaded or not."""
    return sorted(__all__)
