# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""What threads that run one kernel together need: a counter, and a place where all of them meet.

Both count upward for ever in an int64 array, so nothing has to be reset. Python threads each call one kernel that does
not hold the interpreter lock; a thread that waits gives its processor away, so nothing is lost when other programs run.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from solvers._jit import kernel
from solvers.exact.vector import intrinsic
from solvers.forest import Ints

MEETING, CLAIMS, JUDGED, STOP = 0, 8, 16, 24
"""Places of the counters, on different cache lines."""
SYNC_SIZE = 32
_PATIENCE = 2000  # looks before a waiting thread gives way


@intrinsic
def take(typing_context: Any, counters: Any, index: Any) -> Any:
    """Add 1 to a counter and return what it was, as one step for all threads."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", builder.gep(data, [args[1]]), one, "seq_cst")

    return types.int64(counters, types.intp), generate


@intrinsic
def look(typing_context: Any, counters: Any, index: Any) -> Any:
    """Read a counter that other threads write."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "acquire", 8)

    return types.int64(counters, types.intp), generate


@intrinsic
def give_way(typing_context: Any) -> Any:
    """Let other threads of this processor run: POSIX's sched_yield."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = ir.FunctionType(ir.IntType(32), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, "sched_yield"), [])

    return types.int32(), generate


@kernel
def meet(counters: Ints, n_threads: int, number: int) -> int:
    """Wait until all threads have come to meeting ``number`` = 0, 1, ...; return the next number."""
    if n_threads > 1:
        take(counters, MEETING)
        looks = 0
        while look(counters, MEETING) < n_threads * (number + 1):
            looks += 1
            if looks > _PATIENCE:
                give_way()
    return number + 1
