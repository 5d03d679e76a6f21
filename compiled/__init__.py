"""Numba and LLVM: decorators, vectors, threads, the cache of machine code.

`buckets` and `solvers`, which do not know each other, share this package; it knows nothing of cards and games. The
module `compiled.errors` has the base class of all errors; `lockers` imports this module only, and `import compiled`
alone does not load Numba. The words of this package:

- A *kernel* is a function that Numba compiles to machine code and that runs without Python's interpreter lock.
- A *helper function* (`inlined`, `part`) becomes part of the kernels that call it, and has no machine code of its own.
- An *intrinsic* is a function that kernels call; this package writes its LLVM instructions itself.
- A *vector* is 16 (or 8) float32 in one variable. An *address* stands for an array inside a kernel, and an *offset*
  counts array elements from there.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compiled.decorators import folder, inlined, kernel, part, stamp

__all__ = ["folder", "inlined", "kernel", "part", "stamp"]

if not TYPE_CHECKING:  # otherwise a type checker would accept any name

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.decorators"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
