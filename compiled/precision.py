# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Numbers that are stored in single or half precision and computed in single precision.

The precision of an array is its *kind*: the constant `SINGLE` or `HALF`. The two constants have different Numba types,
so Numba compiles each kernel separately for the two precisions. In the list below, a is the address of an array, i an
offset in elements, and x a vector of 16 float32:

    load_as(kind, a, i)           16 consecutive numbers as a vector of float32
    store_as(kind, a, i, x, d)    write vector x; `HALF` adds d / `DITHER_STEPS` of the last bit, then rounds toward 0,
                                  and numbers beyond the range of a float16 become plus or minus `LARGEST`
    prefetch_as(kind, a, i)       prefetch the cache line of a number; any address is allowed
    size_of(kind)                 size of a number in bytes
    quantum_of(kind, x)           distance from each x >= 0 to the next larger stored number: a power of 2, at least
                                  2**-100

The dither d changes from iteration to iteration. So rounding is right on average, and a change that is smaller than the
last bit takes effect in some iterations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils

from compiled.vector import FLOAT, VECTORS, WIDTH, intrinsic, pointer, shuffle, spread

SINGLE, HALF = np.int32(0), np.int16(0)
"""The two precisions of stored numbers: float32 and float16."""

DITHER_STEPS = 1 << 13
"""Size of a float16's last bit, counted in last bits of a float32."""

LARGEST = 65504.0
"""Largest finite number of a float16."""

_HALVES = ir.VectorType(ir.IntType(16), WIDTH)
_QUANTA = {types.int32: (2.0**-23, 2.0**-100), types.int16: (2.0**-10, 2.0**-24)}
"""Distance between neighbouring numbers in [1, 2), and smallest distance in use, by precision.

Near 0 single precision has smaller distances, but arithmetic with such small numbers is slow.
"""
_TRUNCATES = bool(get_host_cpu_features().get("f16c"))
_KINDS = {types.int32: (ir.VectorType(FLOAT, WIDTH), 4), types.int16: (_HALVES, 2)}


@intrinsic
def load_as(typing_context: Any, kind: Any, address: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return read_as(builder, sig.args[0], *args[1:])

    return VECTORS[WIDTH](kind, types.intp, types.intp), generate


@intrinsic
def store_as(typing_context: Any, kind: Any, address: Any, index: Any, value: Any, dither: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        write_as(builder, sig.args[0], *args[1:])
        return context.get_dummy_value()

    return types.void(kind, types.intp, types.intp, value, types.int32), generate


@intrinsic
def prefetch_as(typing_context: Any, kind: Any, address: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        ask_for(builder, sig.args[0], *args[1:])
        return context.get_dummy_value()

    return types.void(kind, types.intp, types.intp), generate


@intrinsic
def size_of(typing_context: Any, kind: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_constant(types.intp, _KINDS[sig.args[0]][1])

    return types.intp(kind), generate


@intrinsic
def quantum_of(typing_context: Any, kind: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        words = ir.VectorType(ir.IntType(32), WIDTH)
        exponent = ir.Constant(words, [0x7F800000] * WIDTH)
        power = builder.bitcast(builder.and_(builder.bitcast(args[1], words), exponent), args[1].type)
        of_one, least = (ir.Constant(args[1].type, [value] * WIDTH) for value in _QUANTA[sig.args[0]])
        quantum = builder.fmul(power, of_one)
        return builder.select(builder.fcmp_ordered(">", quantum, least), quantum, least)

    return x(kind, x), generate


def read_as(builder: Any, kind: Any, address: Any, index: Any) -> Any:
    stored, n_bytes = _KINDS[kind]
    return _widened(builder, builder.load(pointer(builder, address, index, stored, n_bytes), align=n_bytes))


def write_as(builder: Any, kind: Any, address: Any, index: Any, value: Any, dither: Any) -> None:
    stored, n_bytes = _KINDS[kind]
    place = pointer(builder, address, index, stored, n_bytes)
    builder.store(value if stored == value.type else _halved(builder, value, dither), place, align=n_bytes)


def ask_for(builder: Any, kind: Any, address: Any, index: Any) -> None:
    byte, number = ir.IntType(8), ir.IntType(32)
    function = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), number, number, number])
    called = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
    hints = [ir.Constant(number, n) for n in (0, 3, 1)]
    builder.call(called, [pointer(builder, address, index, byte, _KINDS[kind][1]), *hints])


def _widened(builder: Any, value: Any) -> Any:
    single = ir.VectorType(FLOAT, WIDTH)
    if value.type == single:
        return value
    return builder.fpext(builder.bitcast(value, ir.VectorType(ir.HalfType(), WIDTH)), single)


def _halved(builder: Any, value: Any, dither: Any) -> Any:
    """Emit the conversion of a vector to float16: add the dither to the bits of each float32, then round toward 0."""
    words = ir.VectorType(ir.IntType(32), WIDTH)
    bits = builder.add(builder.bitcast(value, words), spread(builder, dither, WIDTH))
    if _TRUNCATES:
        value = builder.bitcast(bits, value.type)
        return shuffle(
            builder, *[_truncated(builder, value, start) for start in (0, WIDTH // 2)], list(range(WIDTH))
        )
    bits = builder.and_(bits, ir.Constant(words, [-DITHER_STEPS] * WIDTH))
    value = builder.bitcast(bits, value.type)
    for comparison, bound in (("<", LARGEST), (">", -LARGEST)):
        limit = ir.Constant(value.type, [bound] * WIDTH)
        value = builder.select(builder.fcmp_ordered(comparison, value, limit), value, limit)
    return builder.bitcast(builder.fptrunc(value, ir.VectorType(ir.HalfType(), WIDTH)), _HALVES)


def _truncated(builder: Any, value: Any, start: int) -> Any:
    """Emit the conversion of eight float32 to float16, from element ``start`` on.

    The processor's instruction rounds toward 0, so it never gives infinity.
    """
    eight, number = ir.VectorType(FLOAT, 8), ir.IntType(32)
    function = ir.FunctionType(ir.VectorType(ir.IntType(16), 8), [eight, number])
    called = cgutils.get_or_insert_function(builder.module, function, "llvm.x86.vcvtps2ph.256")
    part = shuffle(builder, value, value, list(range(start, start + 8)))
    return builder.call(called, [part, ir.Constant(number, 3)])
