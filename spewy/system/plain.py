"""Converts values, such as arrays, to types that JSON has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Convert numpy's arrays and scalars, tuples and mappings to lists, numbers and dictionaries; NaN becomes None.

    >>> plain({"ev": (1.5, float("nan"))})
    {'ev': [1.5, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
