# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Measures how long the steps of kernels take, for benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from compiled.vector import int64_at, intrinsic, put_int64

PAUSE = 3_000_000
"""Number of ticks, about a millisecond, above which an interval is dropped: another program had the processor."""


class Stopwatch:
    """Makes kernels read the processor's clock at the beginning and end of each step.

    A step is a compiled function that is called by another compiled function of its module. Its time excludes other
    steps that it calls. Create the stopwatch before the kernels run for the first time, since it changes what Numba
    compiles; the changed machine code is not saved. One thread at a time may run the kernels.

    Args:
        modules: modules of kernels.
        names: names of the steps; a name that a module lacks is ignored.

    Attributes:
        ticks: ``[module, step]``, ticks of the processor's clock since the last `reset`.
    """

    def __init__(self, modules: Sequence[ModuleType], names: Sequence[str]) -> None:
        self._state: NDArray[np.int64] = np.zeros(3 + len(modules) * len(names), dtype=np.int64)
        self.ticks: NDArray[np.int64] = self._state[3:].reshape(len(modules), len(names))
        for first, module in enumerate(modules):
            for function in list(vars(module).values()):
                if isinstance(function, Dispatcher) and function.py_func.__module__ == module.__name__:
                    function._cache = NullCache()
            for step, name in enumerate(names):
                if hasattr(module, name):
                    timed = _timed(getattr(module, name), 1 + first * len(names) + step, self._state)
                    setattr(module, name, timed)

    def reset(self) -> None:
        self._state[:] = 0


def _timed(function: Any, step: int, state: NDArray[np.int64]) -> Any:
    """Make a function that calls ``function`` and charges the time to a step, counted from 1.

    ``state`` has the current step (0: none), the last reading of the clock, and the ticks of each step from 0 on.
    """
    address = state.ctypes.data

    @numba.njit(nogil=True, forceinline=True)
    def charge(to: int) -> int:
        now, current = _clock(), int64_at(address, 0)
        ticks = now - int64_at(address, 1)
        if ticks < PAUSE:
            put_int64(address, 2 + current, int64_at(address, 2 + current) + ticks)
        put_int64(address, 0, to)
        put_int64(address, 1, now)
        return int(current)

    @numba.njit(nogil=True, forceinline=True)
    def timed(*args: Any) -> Any:
        before = charge(step)
        result = function(*args)
        charge(before)
        return result

    return timed


@intrinsic
def _clock(typing_context: Any) -> Any:
    """Read the processor's clock, in ticks."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.readcyclecounter")
        return builder.call(function, [])

    return types.int64(), generate
