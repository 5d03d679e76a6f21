# mypy: disable-error-code="untyped-decorator,no-untyped-call,import-untyped"
"""Arrays mapped from a file, whose memory is released part by part during passes.

The file has no name, so it disappears with its process, however the process ends. Its space is allocated at once, so a
full disk is an error here and not later. Released pages stay in memory as long as the operating system has memory to
spare, and are read from the disk otherwise.
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

from compiled.llvm import intrinsic

PAGE = mmap.PAGESIZE
_DONT_NEED = 4  # POSIX leaves the number to the system; Linux and macOS agree


def mapped(folder: Path, size: int, dtype: Any) -> tuple[np.ndarray, mmap.mmap | None]:
    """A zeroed array mapped from an unlinked temporary file in a folder, and the mapping (None for size 0).

    Raises:
        OSError: the folder cannot be written, or its disk has no room.
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
    """Release the whole pages within bytes ``start`` to ``stop`` of a mapped array."""

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
