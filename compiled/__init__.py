"""Numba and LLVM: decorators, vectors, threads, the cache of machine code.

Knows nothing of what is compiled, so `buckets` and `solvers`, which are strangers, share it.
"""

from compiled.cache import folder, stamp
from compiled.decorators import inlined, kernel

__all__ = ["folder", "inlined", "kernel", "stamp"]
