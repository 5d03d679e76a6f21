# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Functions that emit LLVM instructions: addresses of array elements, broadcasts and shuffles of vectors."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # typed as Any: kernels call an intrinsic without its first argument
FLOAT = ir.FloatType()
FUSE = ("contract",)
"""Fast-math flags of all arithmetic: LLVM may compute a product and a sum in one instruction."""


def pointer(builder: Any, address: Any, index: Any, kind: Any, n_bytes: int) -> Any:
    """Emit a pointer to element ``index`` of the array at ``address``, whose elements have ``n_bytes`` bytes each."""
    offset = builder.mul(index, ir.Constant(ir.IntType(64), n_bytes))
    return builder.inttoptr(builder.add(address, offset), kind.as_pointer())


def spread(builder: Any, number: Any, width: int) -> Any:
    """Emit a vector of ``width`` elements that are all equal to ``number``."""
    kind = ir.VectorType(number.type, width)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, first, zeros)


def shuffle(builder: Any, x: Any, y: Any, mask: list[int]) -> Any:
    """Emit the vector of elements ``mask[0]``, ``mask[1]``, ... of the concatenation of vectors x and y."""
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(ir.IntType(32), len(mask)), mask))
