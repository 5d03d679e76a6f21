# mypy: disable-error-code="untyped-decorator,no-untyped-call,import-untyped,misc"
"""Decorators for functions of clean arrays and numbers, typed so that strict checking sees through them."""

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
    """Compile a function: machine code kept on disk, no interpreter lock while it runs.

    Args:
        function: what to compile.
        options: further ones of `numba.njit`, such as ``fastmath``.
    """
    if function is None:
        return partial(_compiled, **options)
    return _compiled(function, **options)


def inlined(function: F) -> F:
    """Compile a part of a kernel, to be written out wherever it is called: a call would copy its bundles."""
    return _compiled(function, forceinline=True)


def _compiled(function: F, **options: Any) -> F:
    dispatcher = numba.njit(nogil=True, **options)(function)
    dispatcher._cache = Cache(function)  # what njit(cache=True) does with Numba's own
    return cast(F, dispatcher)
