"""Numbers are checked where they are written, so that a solve that went wrong leaves nothing behind."""

from __future__ import annotations

import numpy as np

from solvers.finite import all_finite
from spewy.errors import SolveError


def require_finite(subject: str, *arrays: np.ndarray) -> None:
    """Refuse to write numbers that are infinite or not numbers.

    Raises:
        SolveError: some are.
    """
    if not all_finite(*arrays):
        raise SolveError(
            f"{subject}: expected finite numbers, found others; nothing of it is saved, and "
            'solve.precision = "double" may help'
        )
