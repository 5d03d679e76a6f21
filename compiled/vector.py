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

Tiles of 8 x 8 or 8 x 16 float32 are transposed from array a to array b. ``rows`` and ``columns`` are addresses of
arrays of int64 offsets. For all r, s < 8, and all t < 16:

    transpose8(a, rows, k, i, b, j, stride)         b[j + s * stride + r] = a[rows[k + r] + i + s]
    transpose8_even(a, i, apart, b, j, stride)      b[j + s * stride + r] = a[i + r * apart + s]
    transpose16(a, rows, k, b, j, stride)           b[j + t * stride + r] = a[rows[k + r] + t]
    transpose16_to(a, i, apart, b, columns, k)      b[columns[k + s] + t] = a[i + t * apart + s]

The functions `pointer`, `spread` and `shuffle` emit LLVM instructions for the intrinsics of this package.
`compiled.precision` loads and stores numbers in single or half precision, and `compiled.several` computes with several
vectors at once.

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
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # typed as Any: kernels call an intrinsic without its first argument

WIDTH, TILE = 16, 8
"""Number of elements of a vector, and number of rows of the squares that `transpose8` transposes."""
FLOAT = ir.FloatType()
FUSE = ("contract",)
"""Fast-math flags of all arithmetic: LLVM may compute a product and a sum in one instruction."""

Address = Any
"""Type of a field or argument that is an array outside kernels and the array's address inside kernels."""


def pointer(builder: Any, address: Any, index: Any, kind: Any, n_bytes: int) -> Any:
    """Emit a pointer to element ``index`` of the array at ``address``, of LLVM type ``kind`` with ``n_bytes`` bytes."""
    offset = builder.mul(index, ir.Constant(ir.IntType(64), n_bytes))
    return builder.inttoptr(builder.add(address, offset), kind.as_pointer())


def spread(builder: Any, number: Any, width: int) -> Any:
    """Emit a vector of ``width`` elements that are all equal to ``number``."""
    kind = ir.VectorType(number.type, width)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, first, zeros)


def larger(builder: Any, x: Any, y: Any) -> Any:
    """Emit the larger number of each pair of elements of vectors x and y, which must not be NaN."""
    # not fcmp and select: if y is 0, LLVM makes two instructions of them, a comparison and a bitwise "and"
    kind = x.type
    name = f"llvm.maxnum.v{kind.count}f32"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind, kind]), name)
    return builder.call(function, [x, y], fastmath=("nnan",))


def shuffle(builder: Any, x: Any, y: Any, mask: list[int]) -> Any:
    """Emit the vector of elements ``mask[0]``, ``mask[1]``, ... of the concatenation of vectors x and y."""
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(ir.IntType(32), len(mask)), mask))


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
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], pointer(builder, *args[:2], args[2].type, 4), align=4)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, value), generate


def _writer(kind: Any, n_bytes: int) -> Any:
    @intrinsic
    def put(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
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
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return spread(builder, args[0], width)

        return VECTORS[width](types.float32), generate

    return fill


fill16, fill8 = _filler(WIDTH), _filler(TILE)


@intrinsic
def where_positive(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, [0.0] * sig.args[0].width)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return condition(condition, condition, condition), generate


@intrinsic
def where_number(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("ord", args[0], args[0]), args[1], args[2])

    return condition(condition, condition, condition), generate


@intrinsic
def maximum(typing_context: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return larger(builder, *args)

    return x(x, x), generate


@intrinsic
def floor16(typing_context: Any, x: Any) -> Any:
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


@intrinsic
def transpose8(
    typing_context: Any, source: Any, rows: Any, first: Any, shift: Any, target: Any, start: Any, stride: Any
) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source_, rows_, first_, shift_, target_, start_, stride_ = args
        starts = _listed(context, builder, rows_, first_, shift_)
        _turn(context, builder, source_, starts, target_, _evenly(context, builder, start_, stride_))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 7), generate


@intrinsic
def transpose8_even(
    typing_context: Any, source: Any, first: Any, apart: Any, target: Any, start: Any, stride: Any
) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source_, first_, apart_, target_, start_, stride_ = args
        starts = _evenly(context, builder, first_, apart_)
        _turn(context, builder, source_, starts, target_, _evenly(context, builder, start_, stride_))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), generate


@intrinsic
def transpose16(
    typing_context: Any, source: Any, rows: Any, first: Any, target: Any, start: Any, stride: Any
) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source_, rows_, first_, target_, start_, stride_ = args
        # the offsets are loaded once for both tiles: after a store LLVM would load them again
        starts = _listed(context, builder, rows_, first_, context.get_constant(types.intp, 0))
        for n in (0, TILE):
            shift = context.get_constant(types.intp, n)
            to = builder.add(start_, builder.mul(stride_, shift))
            tile = [builder.add(row, shift) for row in starts]
            _turn(context, builder, source_, tile, target_, _evenly(context, builder, to, stride_))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), generate


@intrinsic
def transpose16_to(
    typing_context: Any, source: Any, first: Any, apart: Any, target: Any, columns: Any, number: Any
) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source_, first_, apart_, target_, columns_, number_ = args
        ends = _listed(context, builder, columns_, number_, context.get_constant(types.intp, 0))
        for n in (0, TILE):
            shift = context.get_constant(types.intp, n)
            starts = _evenly(context, builder, builder.add(first_, builder.mul(apart_, shift)), apart_)
            _turn(context, builder, source_, starts, target_, [builder.add(end, shift) for end in ends])
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), generate


def _evenly(context: Any, builder: Any, first: Any, apart: Any) -> list[Any]:
    return [builder.add(first, builder.mul(apart, context.get_constant(types.intp, n))) for n in range(TILE)]


def _listed(context: Any, builder: Any, places: Any, number: Any, shift: Any) -> list[Any]:
    at = [builder.add(number, context.get_constant(types.intp, n)) for n in range(TILE)]
    return [builder.add(builder.load(pointer(builder, places, n, ir.IntType(64), 8)), shift) for n in at]


def _turn(context: Any, builder: Any, source: Any, rows: list[Any], target: Any, columns: list[Any]) -> None:
    """Emit the transposition of 8 x 8 float32.

    Four numbers of row r and four numbers of row r + 4 fill the two halves of one vector, so that later shuffles move
    numbers only within a half. ``rows`` and ``columns`` are offsets of the eight rows and columns.
    """
    four, eight = ir.VectorType(FLOAT, 4), ir.VectorType(FLOAT, TILE)
    low, high = [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]
    left, right = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
    to = iter(columns)
    for group in (0, 4):
        shift = context.get_constant(types.intp, group)
        halves = [
            builder.load(pointer(builder, source, builder.add(row, shift), four, 4), align=4) for row in rows
        ]
        v = [shuffle(builder, halves[r], halves[r + 4], list(range(8))) for r in range(4)]
        for mask in (low, high):
            x, y = (shuffle(builder, v[k], v[k + 1], mask) for k in (0, 2))
            for pairs in (left, right):
                place = pointer(builder, target, next(to), eight, 4)
                builder.store(shuffle(builder, x, y, pairs), place, align=4)


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
