"""One typed door to Numba, so that strict type checking sees through the decorator."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function of clean arrays: machine code kept on disk, no interpreter lock while it runs."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


def part(function: F) -> F:
    """Compile a part of a kernel, to be written out wherever it is called: a call would copy its bundles."""
    return cast(F, numba.njit(cache=True, nogil=True, forceinline=True)(function))
