"""Compiled functions: the one door to Numba, and where their machine code is kept.

Knows nothing of what is compiled, so `buckets` and `solvers`, which are strangers, share it.
"""

from compiled.door import inlined, kernel
from compiled.machine_code import folder, stamp

__all__ = ["folder", "inlined", "kernel", "stamp"]
