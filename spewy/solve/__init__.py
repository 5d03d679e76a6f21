"""The chunked solve: chunks, play-down, visits and sweeps."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
