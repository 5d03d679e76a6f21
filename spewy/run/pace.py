"""The speed of a solve, in sweeps or deals a second over the last few seconds, and how often a solve reports."""

from __future__ import annotations

from collections import deque

TELL_SECONDS, WRITE_SECONDS = 1.0, 3.0
"""Seconds between two reports to listeners, and between two writes of the status file."""
LATELY = 10.0
"""Seconds over which the speed is measured."""


class Pace:
    """Counts sweeps or deals as they are done."""

    def __init__(self) -> None:
        self._counted: deque[tuple[float, int]] = deque()

    def count(self, now: float, done: int) -> None:
        """Note that ``done`` sweeps or deals are done at a time of `time.perf_counter`."""
        self._counted.append((now, done))
        while len(self._counted) > 2 and self._counted[1][0] < now - LATELY:
            self._counted.popleft()

    def clear(self) -> None:
        """Forget all counts, so that the time until the next count does not lower the speed."""
        self._counted.clear()

    @property
    def per_second(self) -> float | None:
        """Sweeps or deals a second; None before the second count."""
        if len(self._counted) < 2 or self._counted[-1][0] <= self._counted[0][0]:
            return None
        (begun, first), (ended, last) = self._counted[0], self._counted[-1]
        return (last - first) / (ended - begun)
