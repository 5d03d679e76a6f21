"""Check that numbers are finite before they are saved, since a solve can overflow."""

from __future__ import annotations

import numpy as np

from solvers.state import all_finite
from spewy.errors import SolveError


def require_finite(subject: str, *arrays: np.ndarray) -> None:
    """Check that all numbers of some arrays are finite; ``subject`` names them in the error.

    Raises:
        SolveError: a number is infinite or NaN.
    """
    if not all_finite(*arrays):
        raise SolveError(
            f"{subject}: expected finite numbers, found infinities or NaN; nothing is saved, and "
            'solve.precision = "double" may help'
        )
