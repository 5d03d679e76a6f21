"""Numba and LLVM: decorators, vectors, threads, the cache of machine code.

`buckets` and `solvers`, which do not know each other, share this package; it knows nothing of cards and games. Its
words:

- A *kernel* is a function that Numba compiles to machine code and that runs without Python's interpreter lock.
- A *helper function* (`inlined`, `part`) becomes part of the kernels that call it, and has no machine code of its own.
- An *intrinsic* is a function that kernels call; this package writes its LLVM instructions itself.
- A *vector* is 16 (or 8) float32 in one variable. An *address* stands for an array inside a kernel, and an *offset*
  counts array elements from there.
"""

from compiled.cache import folder, stamp
from compiled.decorators import inlined, kernel, part

__all__ = ["folder", "inlined", "kernel", "part", "stamp"]
