# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Counters, a barrier and a clock for threads that run a kernel together.

Each thread calls one kernel, which does not hold the interpreter lock. The counters are eight-byte numbers in memory
that all threads share; they only grow while a kernel runs.

A thread waits at the barrier until all threads have arrived. First it polls for some microseconds, which is usually
enough. Then it yields its processor to other threads. Finally it sleeps, so that on a busy machine the late threads get
a processor.
"""

from __future__ import annotations

import time
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from compiled.decorators import kernel
from compiled.vector import Address, intrinsic

MEETING, CLAIMS, JUDGED, STOP, ABSENT, ASKED = 0, 8, 16, 24, 32, 40
"""Indices of the counters: barrier arrivals, claimed tasks, measurements, stop signals, absent threads, stop requests.

A thread is absent if it will never arrive at barrier 0. `STOP` changes before a barrier and is read after it, so all
threads stop at the same place. `ASKED` may change at any time, so one thread alone reads it. Each counter is on a cache
line of its own.
"""
SYNC_SIZE = 48
CALLED_OFF = -1
"""Result of `meet` if one of the threads will never arrive."""
_LOOKS, _OFFERS = 2000, 300
"""Number of polls before a waiting thread yields its processor, and number of yields before it sleeps."""
_NAP = 20  # microseconds; the operating system makes it longer
_COUNTER = ir.IntType(64)


def _counter(builder: Any, args: Any) -> Any:
    """Emit a pointer to the counter with index ``args[1]``; the counters begin at address ``args[0]``."""
    offset = builder.mul(args[1], ir.Constant(_COUNTER, 8))
    return builder.inttoptr(builder.add(args[0], offset), _COUNTER.as_pointer())


@intrinsic
def take(typing_context: Any, counters: Any, index: Any) -> Any:
    """Add 1 to the counter ``index`` atomically, and return its value before the addition."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _counter(builder, args), ir.Constant(_COUNTER, 1), "seq_cst")

    return types.int64(types.intp, types.intp), generate


@intrinsic
def look(typing_context: Any, counters: Any, index: Any) -> Any:
    """Read a counter that other threads may change at the same time."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load_atomic(_counter(builder, args), "acquire", 8)

    return types.int64(types.intp, types.intp), generate


@intrinsic
def give_way(typing_context: Any) -> Any:
    """Yield this processor to other threads (POSIX's sched_yield)."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = ir.FunctionType(ir.IntType(32), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, "sched_yield"), [])

    return types.int32(), generate


@intrinsic
def nap(typing_context: Any, microseconds: Any) -> Any:
    """Sleep for at least the given number of microseconds (POSIX's usleep)."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        called = cgutils.get_or_insert_function(builder.module, function, "usleep")
        return builder.call(called, [builder.trunc(args[0], ir.IntType(32))])

    return types.int32(types.int64), generate


@intrinsic
def now(typing_context: Any) -> Any:
    """Time in seconds, inside a kernel; `clock` gives the same time outside kernels."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number, second = ir.IntType(64), ir.DoubleType()
        there = cgutils.alloca_once(builder, ir.ArrayType(number, 2))
        function = ir.FunctionType(ir.IntType(32), [ir.IntType(32), there.type])
        called = cgutils.get_or_insert_function(builder.module, function, "clock_gettime")
        builder.call(called, [ir.Constant(ir.IntType(32), time.CLOCK_MONOTONIC), there])
        whole, billionths = (
            builder.sitofp(builder.extract_value(builder.load(there), n), second) for n in (0, 1)
        )
        return builder.fadd(whole, builder.fmul(billionths, ir.Constant(second, 1e-9)))

    return types.float64(), generate


def clock() -> float:
    """Time in seconds, outside kernels; `now` gives the same time inside kernels."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


@kernel
def meet(counters: Address, n_threads: int, number: int) -> int:
    """Wait at barrier ``number`` = 0, 1, ... until all threads have reached it; return the number of the next barrier.

    Python can raise an error in a thread before the thread calls its kernel, but never inside the kernel. So every
    kernel begins with barrier 0. If a thread fails before its kernel, the counter `ABSENT` becomes 1, and barrier 0
    returns `CALLED_OFF` to all threads that wait at it. Later barriers are never called off.
    """
    if n_threads > 1:
        take(counters, MEETING)
        looks = 0
        while look(counters, MEETING) < n_threads * (number + 1):
            if number == 0 and look(counters, ABSENT):
                return CALLED_OFF
            looks += 1
            if looks > _LOOKS + _OFFERS:
                nap(_NAP)
            elif looks > _LOOKS:
                give_way()
    return number + 1
