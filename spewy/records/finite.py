"""A check of numbers before they are written, so that a solve that went wrong saves no infinities and no NaNs."""

from __future__ import annotations

import numpy as np

from solvers.state import all_finite
from spewy.errors import SolveError


def require_finite(subject: str, *arrays: np.ndarray) -> None:
    """Check numbers before they are written.

    Raises:
        SolveError: a number is infinite or NaN.
    """
    if not all_finite(*arrays):
        raise SolveError(
            f"{subject}: expected finite numbers, found others; nothing is saved, and "
            'solve.precision = "double" may help'
        )
