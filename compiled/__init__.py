"""Numba and LLVM: decorators, vectors, threads, the cache of machine code.

`buckets` and `solvers`, which do not know each other, share this package; it knows nothing of cards and games.
"""

from compiled.cache import folder, stamp
from compiled.decorators import inlined, kernel

__all__ = ["folder", "inlined", "kernel", "stamp"]
