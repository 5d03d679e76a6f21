# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""LLVM building blocks of several intrinsics: addresses of elements, broadcasts, shuffles."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # the callable that it returns takes fewer arguments than the decorated function
FLOAT = ir.FloatType()
FUSE = ("contract",)
"""Fast-math flags of all arithmetic: a product and a sum may become one instruction."""


def pointer(builder: Any, address: Any, index: Any, kind: Any, n_bytes: int) -> Any:
    """The pointer to element ``index`` of an array at ``address`` whose elements have ``n_bytes``."""
    offset = builder.mul(index, ir.Constant(ir.IntType(64), n_bytes))
    return builder.inttoptr(builder.add(address, offset), kind.as_pointer())


def spread(builder: Any, number: Any, width: int) -> Any:
    """Vector with one number in all lanes."""
    kind = ir.VectorType(number.type, width)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, first, zeros)


def shuffle(builder: Any, x: Any, y: Any, mask: list[int]) -> Any:
    """Lanes ``mask`` of the concatenation of two vectors."""
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(ir.IntType(32), len(mask)), mask))
