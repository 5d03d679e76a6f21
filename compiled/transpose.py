# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Transposition of squares of 8 x 8 float32 from one array to another.

Let a be the address of the array that is read, and b the address of the array that is written. For all r, s < 8:

    transpose8(a, rows, k, i, b, j, stride)         b[j + s * stride + r] = a[rows[k + r] + i + s]
    transpose8_even(a, i, apart, b, j, stride)      b[j + s * stride + r] = a[i + r * apart + s]
    transpose8_to(a, i, apart, b, columns, k, j)    b[columns[k + s] + j + r] = a[i + r * apart + s]

``rows`` and ``columns`` are addresses of arrays of int64 offsets.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from compiled.llvm import FLOAT, intrinsic, pointer, shuffle
from compiled.vector import TILE


@intrinsic
def transpose8(
    typing_context: Any, source: Any, rows: Any, first: Any, shift: Any, target: Any, start: Any, stride: Any
) -> Any:
    """Transpose 8 x 8 float32: ``target[start + s * stride + r] = source[rows[first + r] + shift + s]``; r, s < 8."""

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
    """Transpose 8 x 8 float32: ``target[start + s * stride + r] = source[first + r * apart + s]`` for r, s < 8."""

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
    """Transpose 8 x 8 float32 to listed offsets.

    For all r, s < 8: ``target[columns[number + s] + shift + r] = source[first + r * apart + s]``.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source_, first_, apart_, target_, *listed = args
        starts = _evenly(context, builder, first_, apart_)
        _turn(context, builder, source_, starts, target_, _listed(context, builder, *listed))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 7), generate


def _evenly(context: Any, builder: Any, first: Any, apart: Any) -> list[Any]:
    return [builder.add(first, builder.mul(apart, context.get_constant(types.intp, n))) for n in range(TILE)]


def _listed(context: Any, builder: Any, places: Any, number: Any, shift: Any) -> list[Any]:
    at = [builder.add(number, context.get_constant(types.intp, n)) for n in range(TILE)]
    return [builder.add(builder.load(pointer(builder, places, n, ir.IntType(64), 8)), shift) for n in at]


def _turn(context: Any, builder: Any, source: Any, rows: list[Any], target: Any, columns: list[Any]) -> None:
    """Emit the transposition of 8 x 8 float32.

    Four numbers of row r and four numbers of row r + 4 fill the two halves of one vector, so that later shuffles move
    numbers only within a half.

    Args:
        context: Numba's code generator.
        builder: the builder of LLVM instructions.
        source: address of the array that is read.
        rows: offset in ``source`` of each of the eight rows.
        target: address of the array that is written.
        columns: offset in ``target`` at which each of the eight columns is written.
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
