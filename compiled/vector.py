# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""The vector type of the engines: 16 hands or lines, or 8 betting lanes, of single precision in one variable.

LLVM turns ``<16 x float>`` into as few machine vectors as the processor needs (two on AVX2, one on AVX-512), so
kernels say what is computed on how many numbers and do not depend on the auto-vectoriser's moods.

Kernels get *addresses* of arrays, not arrays: Numba counts references to arrays, atomically, at every use, which costs
more than the arithmetic. `bare` makes bundles of addresses of bundles of arrays, which their owner keeps alive. With a
an address and i an offset in elements:

    load16(a, i), load8(a, i)     a[i : i + 16], a[i : i + 8] as a vector of float32
    store(a, i, x)                the other way
    int64_at(a, i), int32_at(a, i), float32_at(a, i), put_int64(a, i, n), put_int32(a, i, n),
    put_float64(a, i, x)
    fill16(c), fill8(c)           the number c everywhere
    x + y, x - y, x * y, x / y    also with one float32
    where_positive(c, x, y)       x where c > 0, else y; where_number(c, x, y): x where c is not NaN
    maximum(x, y)                 the larger of each pair
    floor16(x)                    the largest whole number that is not above x
    quantum_kept(k, x)            the distance from x >= 0 to the next larger number that is kept as ``k``, a power of 2
    load16_kept(k, a, i), store_kept(k, a, i, x, d), prefetch_kept(k, a, i), size_kept(k)
                                  the same for numbers that are kept as ``k``, `SINGLE` or `HALF`; a half is rounded
                                  toward 0 after adding d / `DROPPED` of its last bit; bytes of one
    transpose8(a, rows, k, i, b, j, stride)
                                  b[j + s * stride + r] = a[rows[k + r] + i + s] for r, s < 8
    transpose8_even(a, i, apart, b, j, stride)
                                  b[j + s * stride + r] = a[i + r * apart + s]
    transpose8_to(a, i, apart, b, columns, k, j)
                                  b[columns[k + s] + j + r] = a[i + r * apart + s]

Products that are added may be fused (``contract``), so results are those of one machine, bit for bit; nothing else is
reordered.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel, register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic as _intrinsic

HANDS, LANES = 16, 8
"""How many hands, and how many betting lanes, a vector holds."""

intrinsic: Any = _intrinsic  # what it makes takes other arguments than the functions it is given
SINGLE, HALF = np.int32(0), np.int16(0)
"""How numbers are kept, float32 or float16: by its type, so that kernels are compiled for one or the other."""

DROPPED = 1 << 13
"""In float32, the last bit of a float16."""

LARGEST = 65504.0
"""That float16 keeps."""

Address = Any
"""Arrays for whoever makes a bundle, addresses in the kernels."""

_FLOAT, _HALVES = ir.FloatType(), ir.VectorType(ir.IntType(16), HANDS)
_QUANTA = {types.int32: (2.0**-23, 2.0**-100), types.int16: (2.0**-10, 2.0**-24)}
"""The quantum of numbers in [1, 2), and the smallest quantum that is used, by kind.

Single precision has smaller quanta, but arithmetic with numbers that small is slow.
"""
_TRUNCATES = bool(get_host_cpu_features().get("f16c"))
_KEPT = {types.int32: (ir.VectorType(_FLOAT, HANDS), 4), types.int16: (_HALVES, 2)}
_FUSE = ("contract",)


class VectorType(types.Type):
    """``width`` numbers of single precision."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"float32x{width}")


@register_default(VectorType)
class _VectorModel(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: VectorType) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(_FLOAT, fe_type.width))


VECTORS = {width: VectorType(width) for width in (HANDS, LANES)}


def _pointer(builder: Any, address: Any, index: Any, kind: Any, n_bytes: int) -> Any:
    """Where a value of a kind begins, ``index`` elements of ``n_bytes`` behind an address."""
    offset = builder.mul(index, ir.Constant(ir.IntType(64), n_bytes))
    return builder.inttoptr(builder.add(address, offset), kind.as_pointer())


def _reader(kind: Any, numba_type: Any, n_bytes: int) -> Any:
    @intrinsic
    def read(typing_context: Any, address: Any, index: Any) -> Any:
        """Read from an address."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.load(_pointer(builder, *args, kind, n_bytes), align=n_bytes)

        return numba_type(types.intp, types.intp), generate

    return read


load16, load8 = (_reader(ir.VectorType(_FLOAT, width), VECTORS[width], 4) for width in (HANDS, LANES))
int64_at = _reader(ir.IntType(64), types.int64, 8)
int32_at = _reader(ir.IntType(32), types.int32, 4)
float32_at = _reader(_FLOAT, types.float32, 4)


@intrinsic
def store(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    """Write a vector, or one number, to consecutive float32."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _pointer(builder, *args[:2], args[2].type, 4), align=4)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, value), generate


def _writer(kind: Any, n_bytes: int) -> Any:
    @intrinsic
    def put(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        """Write one number."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            builder.store(args[2], _pointer(builder, *args[:2], args[2].type, n_bytes), align=n_bytes)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, kind), generate

    return put


put_int64, put_float64, put_int32 = (
    _writer(types.int64, 8),
    _writer(types.float64, 8),
    _writer(types.int32, 4),
)


@intrinsic
def load16_kept(typing_context: Any, kind: Any, address: Any, index: Any) -> Any:
    """Read consecutive numbers of a kind as a vector of float32."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        stored, n_bytes = _KEPT[sig.args[0]]
        return _widened(builder, builder.load(_pointer(builder, *args[1:], stored, n_bytes), align=n_bytes))

    return VECTORS[HANDS](kind, types.intp, types.intp), generate


@intrinsic
def store_kept(typing_context: Any, kind: Any, address: Any, index: Any, value: Any, dither: Any) -> Any:
    """Write a vector to consecutive numbers of a kind.

    To round, a float32's bits are added to as an integer: magnitudes and their last bits grow together. What is too
    large for float16 becomes `LARGEST`.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        stored, n_bytes = _KEPT[sig.args[0]]
        place = _pointer(builder, *args[1:3], stored, n_bytes)
        builder.store(
            args[3] if stored == args[3].type else _halved(builder, args[3], args[4]), place, align=n_bytes
        )
        return context.get_dummy_value()

    return types.void(kind, types.intp, types.intp, value, types.int32), generate


@intrinsic
def prefetch_kept(typing_context: Any, kind: Any, address: Any, index: Any) -> Any:
    """Ask for the cache line of a number that will be read and written soon; any address will do."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, number = ir.IntType(8), ir.IntType(32)
        function = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), number, number, number])
        called = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
        hints = [ir.Constant(number, n) for n in (0, 3, 1)]
        builder.call(called, [_pointer(builder, *args[1:], byte, _KEPT[sig.args[0]][1]), *hints])
        return context.get_dummy_value()

    return types.void(kind, types.intp, types.intp), generate


@intrinsic
def size_kept(typing_context: Any, kind: Any) -> Any:
    """Bytes of a number of a kind."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_constant(types.intp, _KEPT[sig.args[0]][1])

    return types.intp(kind), generate


def _widened(builder: Any, value: Any) -> Any:
    single = ir.VectorType(_FLOAT, HANDS)
    if value.type == single:
        return value
    return builder.fpext(builder.bitcast(value, ir.VectorType(ir.HalfType(), HANDS)), single)


def _halved(builder: Any, value: Any, dither: Any) -> Any:
    words = ir.VectorType(ir.IntType(32), HANDS)
    bits = builder.add(builder.bitcast(value, words), _spread(builder, dither, HANDS))
    if _TRUNCATES:
        value = builder.bitcast(bits, value.type)
        return _shuffle(
            builder, *[_truncated(builder, value, start) for start in (0, HANDS // 2)], list(range(HANDS))
        )
    bits = builder.and_(bits, ir.Constant(words, [-DROPPED] * HANDS))
    value = builder.bitcast(bits, value.type)
    for comparison, bound in (("<", LARGEST), (">", -LARGEST)):
        limit = ir.Constant(value.type, [bound] * HANDS)
        value = builder.select(builder.fcmp_ordered(comparison, value, limit), value, limit)
    return builder.bitcast(builder.fptrunc(value, ir.VectorType(ir.HalfType(), HANDS)), _HALVES)


def _truncated(builder: Any, value: Any, start: int) -> Any:
    """Eight of the numbers by the instruction that rounds toward 0, infinity excluded."""
    eight, number = ir.VectorType(_FLOAT, 8), ir.IntType(32)
    function = ir.FunctionType(ir.VectorType(ir.IntType(16), 8), [eight, number])
    called = cgutils.get_or_insert_function(builder.module, function, "llvm.x86.vcvtps2ph.256")
    part = _shuffle(builder, value, value, list(range(start, start + 8)))
    return builder.call(called, [part, ir.Constant(number, 3)])


def _spread(builder: Any, number: Any, width: int) -> Any:
    kind = ir.VectorType(number.type, width)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, first, zeros)


def _filler(width: int) -> Any:
    @intrinsic
    def fill(typing_context: Any, number: Any) -> Any:
        """One number everywhere."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _spread(builder, args[0], width)

        return VECTORS[width](types.float32), generate

    return fill


fill16, fill8 = _filler(HANDS), _filler(LANES)


@intrinsic
def where_positive(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` where the condition is above 0, else ``no``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, [0.0] * sig.args[0].width)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return condition(condition, condition, condition), generate


@intrinsic
def where_number(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` where the condition is not NaN, else ``no``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("ord", args[0], args[0]), args[1], args[2])

    return condition(condition, condition, condition), generate


@intrinsic
def maximum(typing_context: Any, x: Any, y: Any) -> Any:
    """The larger of each pair."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return x(x, x), generate


@intrinsic
def floor16(typing_context: Any, x: Any) -> Any:
    """The largest whole numbers that are not above the numbers of a vector."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = ir.FunctionType(args[0].type, [args[0].type])
        name = f"llvm.floor.v{sig.args[0].width}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), args)

    return x(x), generate


@intrinsic
def quantum_kept(typing_context: Any, kind: Any, x: Any) -> Any:
    """The spacing of numbers of a kind at each number of a vector; see the module."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        words = ir.VectorType(ir.IntType(32), HANDS)
        exponent = ir.Constant(words, [0x7F800000] * HANDS)
        power = builder.bitcast(builder.and_(builder.bitcast(args[1], words), exponent), args[1].type)
        of_one, least = (ir.Constant(args[1].type, [value] * HANDS) for value in _QUANTA[sig.args[0]])
        quantum = builder.fmul(power, of_one)
        return builder.select(builder.fcmp_ordered(">", quantum, least), quantum, least)

    return x(kind, x), generate


@intrinsic
def transpose8(
    typing_context: Any, source: Any, rows: Any, first: Any, shift: Any, target: Any, start: Any, stride: Any
) -> Any:
    """Write eight rows of eight as columns; see the module."""

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
    """Write eight rows of eight, evenly apart, as columns; see the module."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source_, first_, apart_, target_, start_, stride_ = args
        starts = _evenly(context, builder, first_, apart_)
        _turn(context, builder, source_, starts, target_, _evenly(context, builder, start_, stride_))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), generate


@intrinsic
def transpose8_to(
    typing_context: Any,
    source: Any,
    first: Any,
    apart: Any,
    target: Any,
    columns: Any,
    number: Any,
    shift: Any,
) -> Any:
    """Write eight rows of eight, evenly apart, as columns at listed places; see the module."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source_, first_, apart_, target_, *listed = args
        starts = _evenly(context, builder, first_, apart_)
        _turn(context, builder, source_, starts, target_, _listed(context, builder, *listed))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 7), generate


def _evenly(context: Any, builder: Any, first: Any, apart: Any) -> list[Any]:
    return [builder.add(first, builder.mul(apart, context.get_constant(types.intp, n))) for n in range(LANES)]


def _listed(context: Any, builder: Any, places: Any, number: Any, shift: Any) -> list[Any]:
    at = [builder.add(number, context.get_constant(types.intp, n)) for n in range(LANES)]
    return [builder.add(builder.load(_pointer(builder, places, n, ir.IntType(64), 8)), shift) for n in at]


def _turn(context: Any, builder: Any, source: Any, rows: list[Any], target: Any, columns: list[Any]) -> None:
    """Rows r and r + 4 are read into the two halves of a vector, so that all else happens within halves."""
    four, eight = ir.VectorType(_FLOAT, 4), ir.VectorType(_FLOAT, LANES)
    low, high = [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]
    left, right = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
    to = iter(columns)
    for group in (0, 4):
        shift = context.get_constant(types.intp, group)
        halves = [
            builder.load(_pointer(builder, source, builder.add(row, shift), four, 4), align=4) for row in rows
        ]
        v = [_shuffle(builder, halves[r], halves[r + 4], list(range(8))) for r in range(4)]
        for mask in (low, high):
            x, y = (_shuffle(builder, v[k], v[k + 1], mask) for k in (0, 2))
            for pairs in (left, right):
                place = _pointer(builder, target, next(to), eight, 4)
                builder.store(_shuffle(builder, x, y, pairs), place, align=4)


def _shuffle(builder: Any, x: Any, y: Any, mask: list[int]) -> Any:
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(ir.IntType(32), len(mask)), mask))


def _operator(symbol: Any, method: str) -> None:
    """Let an arithmetic operator take vectors, and a vector with one number."""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], VectorType):
                return signature(
                    args[0], args[0], args[0] if isinstance(args[1], VectorType) else types.float32
                )
            return None

    infer_global(symbol)(Template)

    def vectors(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, method)(*args, flags=_FUSE)

    def number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, method)(args[0], _spread(builder, args[1], sig.args[0].width), flags=_FUSE)

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
    """Zeros that begin on a cache line."""
    item = np.dtype(dtype).itemsize
    room = np.zeros(size * item + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size * item].view(dtype)


def bare(bundle: Any) -> Any:
    """A tuple, named or not, with addresses in place of its arrays, and of those of tuples in it.

    The arrays must be C-contiguous and outlive the use of the addresses.
    """
    if isinstance(bundle, np.ndarray):
        assert bundle.flags.c_contiguous
        return bundle.ctypes.data
    if isinstance(bundle, tuple):
        parts = map(bare, bundle)
        return type(bundle)(*parts) if hasattr(bundle, "_fields") else tuple(parts)
    return bundle
