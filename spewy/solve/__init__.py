"""The chunked solve: chunks, play-down, visits and sweeps. Called as a function, :func:`spewy.solve.session.solve`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from spewy.job import Job
    from spewy.solve.layout import Layout
    from spewy.solve.problem import Problem
    from spewy.solve.session import Reporter, Session, Silent, SolveResult, Stop

__all__ = ["Layout", "Problem", "Reporter", "Session", "Silent", "SolveResult", "Stop"]

_MODULES = {"Layout": "layout", "Problem": "problem"}

if not TYPE_CHECKING:  # a type checker would take every name for one that is there

    def __getattr__(name: str) -> object:
        """Load what a name stands for: kernels come with it."""
        from importlib import import_module

        if name in __all__:
            return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'session')}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is public, loaded or not."""
    return sorted(__all__)


class _Callable(ModuleType):
    """The package as the function :func:`spewy.solve`: a sub-package takes its name in `spewy` once it is imported."""

    def __call__(
        self,
        job: Job | str | Path,
        folder: str | Path | None = None,
        *,
        reporter: Reporter | None = None,
    ) -> SolveResult:
        """Open a session, solve, close: see :func:`spewy.solve.session.solve`."""
        from spewy.solve.session import solve

        return solve(job, folder, reporter=reporter)


sys.modules[__name__].__class__ = _Callable
