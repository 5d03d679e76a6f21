# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Vectors for the engines' kernels: 16 or 8 float32 in one variable.

LLVM turns ``<16 x float>`` into as few machine vectors as the processor needs: one on AVX-512, two on AVX2. So kernels
state how many numbers each operation works on, and do not depend on the auto-vectoriser.

Kernels get *addresses* of arrays, not arrays: Numba counts references to arrays, atomically, at every use, which costs
more than the arithmetic. `bare` replaces the arrays of a tuple by their addresses; the owner of the tuple keeps the
arrays alive. In the list, a is the address of an array, i an offset in elements, x and y are vectors:

    load16(a, i), load8(a, i)     the vector of the float32 numbers a[i : i + 16] or a[i : i + 8]
    store(a, i, x)                a[i : i + len(x)] = x; x is a vector or one float32
    int64_at(a, i), int32_at(a, i), float32_at(a, i)              the number a[i] of an array of that type
    put_int64(a, i, n), put_int32(a, i, n), put_float64(a, i, n)  a[i] = n
    fill16(c), fill8(c)           a vector with the number c in all elements
    x + y, x - y, x * y, x / y    element by element; y may be one float32
    where_positive(c, x, y)       the elements of x where the vector c is above 0, of y elsewhere
    where_number(c, x, y)         the elements of x where the vector c is not NaN, of y elsewhere
    maximum(x, y), floor16(x)     element by element

`compiled.precision` loads and stores numbers in single or half precision, `compiled.transpose` transposes squares of 8
x 8 numbers, and `compiled.several` computes with several vectors at once.

LLVM may compute a product and a sum in one instruction (``contract``), so the last bits of results depend on the
processor. It does not reorder other arithmetic.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel, register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from compiled.llvm import FLOAT, FUSE, intrinsic, pointer, spread

WIDTH, TILE = 16, 8
"""Number of elements of a vector, and number of rows of the squares that `compiled.transpose` transposes."""

Address = Any
"""Type of a field or argument that is an array outside kernels and the array's address inside kernels."""


class VectorType(types.Type):
    """Numba's type of a vector of ``width`` float32."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"float32x{width}")


@register_default(VectorType)
class _VectorModel(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: VectorType) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(FLOAT, fe_type.width))


VECTORS = {width: VectorType(width) for width in (WIDTH, TILE)}


def _reader(kind: Any, numba_type: Any, n_bytes: int) -> Any:
    @intrinsic
    def read(typing_context: Any, address: Any, index: Any) -> Any:
        """Read element ``index`` of the array at ``address``."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.load(pointer(builder, *args, kind, n_bytes), align=n_bytes)

        return numba_type(types.intp, types.intp), generate

    return read


load16, load8 = (_reader(ir.VectorType(FLOAT, width), VECTORS[width], 4) for width in (WIDTH, TILE))
int64_at = _reader(ir.IntType(64), types.int64, 8)
int32_at = _reader(ir.IntType(32), types.int32, 4)
float32_at = _reader(FLOAT, types.float32, 4)


@intrinsic
def store(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    """Write a vector or one number to a float32 array, from element ``index`` on."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], pointer(builder, *args[:2], args[2].type, 4), align=4)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, value), generate


def _writer(kind: Any, n_bytes: int) -> Any:
    @intrinsic
    def put(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        """Write ``value`` to element ``index`` of the array at ``address``."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            builder.store(args[2], pointer(builder, *args[:2], args[2].type, n_bytes), align=n_bytes)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, kind), generate

    return put


put_int64, put_float64, put_int32 = (
    _writer(types.int64, 8),
    _writer(types.float64, 8),
    _writer(types.int32, 4),
)


def _filler(width: int) -> Any:
    @intrinsic
    def fill(typing_context: Any, number: Any) -> Any:
        """Make a vector with ``number`` in all elements."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return spread(builder, args[0], width)

        return VECTORS[width](types.float32), generate

    return fill


fill16, fill8 = _filler(WIDTH), _filler(TILE)


@intrinsic
def where_positive(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """Take the elements of ``yes`` where the vector ``condition`` is above 0, and the elements of ``no`` elsewhere."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, [0.0] * sig.args[0].width)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return condition(condition, condition, condition), generate


@intrinsic
def where_number(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """Take the elements of ``yes`` where the vector ``condition`` is not NaN, and the elements of ``no`` elsewhere."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("ord", args[0], args[0]), args[1], args[2])

    return condition(condition, condition, condition), generate


@intrinsic
def maximum(typing_context: Any, x: Any, y: Any) -> Any:
    """Take the larger number of each pair of elements of vectors x and y."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return x(x, x), generate


@intrinsic
def floor16(typing_context: Any, x: Any) -> Any:
    """Round each number of a vector down to a whole number."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = ir.FunctionType(args[0].type, [args[0].type])
        name = f"llvm.floor.v{sig.args[0].width}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), args)

    return x(x), generate


def _operator(symbol: Any, method: str) -> None:
    """Let kernels use one of ``+``, ``-``, ``*``, ``/`` between two vectors, or between a vector and a number."""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], VectorType):
                if isinstance(args[1], VectorType):
                    return signature(args[0], args[0], args[0])
                if isinstance(args[1], types.Number):
                    return signature(args[0], args[0], types.float32)
            return None

    infer_global(symbol)(Template)

    def vectors(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, method)(*args, flags=FUSE)

    def number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, method)(args[0], spread(builder, args[1], sig.args[0].width), flags=FUSE)

    lower_builtin(symbol, VectorType, VectorType)(vectors)
    lower_builtin(symbol, VectorType, types.Float)(number)


for _symbol, _method in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_symbol, _method)


def aligned(size: int, dtype: Any = np.float32) -> np.ndarray:
    """Allocate an array of zeros that begins on a cache line."""
    item = np.dtype(dtype).itemsize
    room = np.zeros(size * item + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size * item].view(dtype)


def bare(bundle: Any) -> Any:
    """Copy a tuple, named or not, with addresses in place of its arrays; nested tuples are copied likewise.

    The arrays must be C-contiguous and outlive the use of the addresses.
    """
    if isinstance(bundle, np.ndarray):
        assert bundle.flags.c_contiguous
        return bundle.ctypes.data
    if isinstance(bundle, tuple):
        parts = map(bare, bundle)
        return type(bundle)(*parts) if hasattr(bundle, "_fields") else tuple(parts)
    return bundle
