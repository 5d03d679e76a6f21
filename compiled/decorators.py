# mypy: disable-error-code="untyped-decorator,no-untyped-call,import-untyped,misc"
"""Decorators that compile functions with Numba; mypy still sees the types of the functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast, overload

import numba

from compiled.cache import Cache

F = TypeVar("F", bound=Callable[..., Any])


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(**options: Any) -> Callable[[F], F]: ...
def kernel(function: F | None = None, **options: Any) -> F | Callable[[F], F]:
    """Compile a function with Numba; its machine code is cached on disk, and calls release the interpreter lock.

    Args:
        function: the function to compile; None if the decorator is used with options.
        options: further options of `numba.njit`, such as ``fastmath``.
    """
    if function is None:
        return partial(_compiled, **options)
    return _compiled(function, **options)


def inlined(function: F) -> F:
    """Compile a helper function that Numba always inlines into kernels, since a call would copy its tuples."""
    return _compiled(function, forceinline=True)


def _compiled(function: F, **options: Any) -> F:
    dispatcher = numba.njit(nogil=True, **options)(function)
    dispatcher._cache = Cache(function)  # njit(cache=True) sets Numba's own cache here
    return cast(F, dispatcher)
