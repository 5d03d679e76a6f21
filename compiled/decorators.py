# mypy: disable-error-code="untyped-decorator,no-untyped-call,import-untyped,misc"
"""Decorators that compile functions with Numba; mypy still sees the types of the functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast, overload

import numba
from numba._dynfunc import make_function
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from compiled.cache import Cache

_njit: Any = numba.njit  # its type hints lack some options
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
    """Compile a helper function that Numba always inlines into kernels, since a call would copy its tuples.

    Only compiled functions can call it. Errors that it raises may have constant arguments only.
    """
    return _within_kernels(function, forceinline=True)


def part(function: F) -> F:
    """Compile a large helper function as part of each kernel that calls it; LLVM chooses whether to inline it.

    The limits of `inlined` apply.
    """
    return _within_kernels(function)


def _compiled(function: F, **options: Any) -> F:
    dispatcher = _njit(nogil=True, **options)(function)
    dispatcher._cache = Cache(function)  # njit(cache=True) sets Numba's own cache here
    return cast(F, dispatcher)


def _within_kernels(function: F, **options: Any) -> F:
    dispatcher = _njit(
        nogil=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=_HelperCompiler,
        **options,
    )(function)
    dispatcher.get_call_template = partial(_without_constants, dispatcher.get_call_template)
    return cast(F, dispatcher)


def _without_constants(
    version: Callable[..., Any], arguments: Sequence[types.Type], keywords: Mapping[str, types.Type]
) -> Any:
    """Find the version of a helper function for the types of a call, by Numba's method ``version``.

    A constant argument has a type of its own in Numba, which would compile a version for each combination of constants.
    One version for all is enough, since LLVM puts the constants into the code that it inlines.
    """
    named = {name: types.unliteral(each) for name, each in keywords.items()}
    return version([types.unliteral(each) for each in arguments], named)


class _Instructions(JITCodeLibrary):
    """LLVM instructions of a helper function, which only its kernels turn into machine code.

    Inlined functions are optimised alone, too, since kernels are a little faster then. Optimising large parts alone
    takes long, and was not found to make kernels faster.
    """

    inlined = False

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        if self.inlined:
            self._optimize_final_module()
        self._finalized = True


class _HelperCompiler(Compiler):
    """Numba's compiler, which leaves a helper function as LLVM instructions. A call from Python raises a TypeError."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        context = self.state.targetctx
        self.state.flags.no_compile = True
        self.state.library = _Instructions(context.codegen(), function.__qualname__)
        self.state.library.inlined = self.state.flags.forceinline
        result = super().compile_extra(function)
        # Numba finds the instructions by this object; it usually calls machine code, and here raises a TypeError.
        module, kept = result.fndesc.lookup_module(), (result.library,)
        name = make_function(module, function.__name__, "", _bad_argument(), result.environment, kept)
        context.insert_user_function(name, result.fndesc, [result.library])
        return result._replace(entry_point=name)


def _bad_argument() -> int:
    """Address of a function of Python's C interface that raises a TypeError."""
    address = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p).value
    assert address is not None
    return address
