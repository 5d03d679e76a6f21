"""When a solve will reach its target."""

from __future__ import annotations

import numpy as np

FLAT = 0.05  # a curve that falls slower than sweeps^-0.05 has no forecast


def forecast(trace: list[tuple[int, float, float]], target: float) -> float | None:
    """Seconds left, from the power law through the last two checks that are a factor of two apart in sweeps.

    Infinite where they are more than a number can hold.
    """
    if len(trace) < 2 or target <= 0:
        return None
    last = trace[-1]
    first = next((row for row in reversed(trace[:-1]) if row[0] <= last[0] / 2), trace[0])
    if not (0 < last[2] < first[2]):
        return None
    slope = np.log(first[2] / last[2]) / np.log(last[0] / first[0])
    if slope < FLAT:
        return None
    with np.errstate(over="ignore"):
        sweeps = float(last[0] * np.exp(np.log(last[2] / target) / slope))
    pace = (last[1] - first[1]) / (last[0] - first[0])
    return max(0.0, (sweeps - last[0]) * pace)
