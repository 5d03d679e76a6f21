# mypy: disable-error-code="untyped-decorator,no-untyped-call,import-untyped"
"""Arrays mapped from a temporary file, so that kernels can release their memory during a solve.

The file has no name, so it disappears with its process, however the process ends. Its space is allocated at once: a
full disk is an error when the array is made, and not later. Released pages stay in memory while the operating system
has memory to spare; otherwise they are read from the file when a kernel needs them again.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from compiled.vector import intrinsic

PAGE = mmap.PAGESIZE
_DONT_NEED = 4  # the value of MADV_DONTNEED on Linux and macOS; POSIX does not fix it


def mapped(folder: Path, size: int, dtype: Any) -> tuple[np.ndarray, mmap.mmap | None]:
    """Make an array of zeros that is mapped from an unnamed temporary file in ``folder``.

    The second result is the mapping of the file; None if ``size`` is 0.
    """
    n_bytes = size * np.dtype(dtype).itemsize
    if not n_bytes:
        return np.zeros(0, dtype), None
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        mapping = mmap.mmap(file.fileno(), n_bytes)
        return np.frombuffer(mapping, dtype=dtype), mapping


@intrinsic
def release_pages(typing_context: Any, address: Any, start: Any, stop: Any) -> Any:
    """Release the memory of all whole pages between bytes ``start`` and ``stop`` of the mapped array at ``address``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number, small = ir.IntType(64), ir.IntType(32)
        page, mask = ir.Constant(number, PAGE - 1), ir.Constant(number, -PAGE)
        first = builder.and_(builder.add(builder.add(args[0], args[1]), page), mask)
        last = builder.and_(builder.add(args[0], args[2]), mask)
        length = builder.sub(last, first)
        function = ir.FunctionType(small, [ir.IntType(8).as_pointer(), number, small])
        called = cgutils.get_or_insert_function(builder.module, function, "madvise")
        with builder.if_then(builder.icmp_signed(">", length, ir.Constant(number, 0))):
            pointer = builder.inttoptr(first, ir.IntType(8).as_pointer())
            builder.call(called, [pointer, length, ir.Constant(small, _DONT_NEED)])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), generate
