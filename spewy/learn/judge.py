"""Exact values of strategies in the real game."""

from __future__ import annotations

from functools import cached_property

from solvers.game import Strategies
from solvers.measure import Exploitability, expected_value, exploitability
from solvers.reference.walk import Walker
from solvers.stopping import Stopped, never
from spewy.chunks.layout import Layout


class Judge:
    """Exact values of strategies in the real game, by the generic walk."""

    def __init__(self, layout: Layout, threads: int) -> None:
        self._layout, self._threads = layout, threads

    @cached_property
    def _walker(self) -> Walker:
        return Walker(self._layout.live, self._threads)

    def exploitability(self, averages: Strategies, stopped: Stopped = never) -> Exploitability:
        """Best responses to the matched averages.

        Raises:
            StoppedError: ``stopped()``, which is called every few boards, returned True.
        """
        return exploitability(self._walker, averages, stopped)

    def expected_values(self, averages: Strategies) -> tuple[float, float]:
        """Both players' chips per deal, each from a walk of its own."""
        return expected_value(self._walker, averages), expected_value(self._walker, averages, 1)
