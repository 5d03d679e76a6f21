# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Several vectors of 16 float32 in one variable; operations on them are unrolled and stay in registers.

The number of vectors is the length of a tuple of offsets, so Numba compiles a kernel once for each length of the tuple.
In the list below, a is the address of an array, t a tuple of offsets (in array elements), i, n, step and most are whole
numbers, c is a number or a vector, v one vector, and x and y are several vectors:

    stepped(t, i, step)           the offsets (i, i + step, i + 2 * step, ...), as many as t has
    clamped(t, most)              the offsets of t, with ``most`` in place of larger offsets
    shifted(t, i), scaled(t, n)   the offsets of t, each plus i or times n
    int64_each(a, t)              the int64 numbers a[t[0]], a[t[1]], ..., as offsets
    int32_each(a, t)              the int32 numbers a[t[0]], a[t[1]], ..., as offsets
    load_each(a, t)               a vector for each offset k of t: a[k : k + 16]
    store_each(a, t, x)           write vector n of x to a[t[n] : t[n] + 16], for all n
    fill_each(t, c)               a vector for each offset of t, with the number c in all elements
    load_each_as(kind, a, t)      like load_each, for 32-bit or 16-bit numbers (`compiled.precision`)
    store_each_as(kind, a, t, x, d)   like store_each, for 32-bit or 16-bit numbers, with dither d
    prefetch_each(kind, a, t)     prefetch the cache lines of a[t[0]], a[t[1]], ...
    positive_each(x)              the larger of each number and 0
    larger_each(x, y)             the larger number of each pair of numbers of x and y
    total_each(x)                 x[0] + x[1] + ..., from left to right
    x + y, x - y, x * y           vector by vector; x or y may be one vector for all, and y also one float32
    first_only(x, n)              x with zeros in place of vectors n, n + 1, ...
    chain(v, x, y)                v + x[0] * y[0] + x[1] * y[1] + ..., from left to right
    paired(x, y)                  (x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3]), of four vectors each
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.datamodel import PrimitiveModel, register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from compiled.precision import ask_for, read_as, write_as
from compiled.vector import FLOAT, FUSE, VECTORS, WIDTH, VectorType, intrinsic, larger, pointer, spread

_VECTOR, _LONG = ir.VectorType(FLOAT, WIDTH), ir.IntType(64)


class SeveralType(types.Type):
    """Numba's type of ``n`` vectors of 16 float32."""

    def __init__(self, n: int) -> None:
        self.n = n
        super().__init__(name=f"several{n}x{WIDTH}")


@register_default(SeveralType)
class _SeveralModel(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: SeveralType) -> None:
        super().__init__(dmm, fe_type, ir.ArrayType(_VECTOR, fe_type.n))


def _parts(builder: Any, several: Any) -> list[Any]:
    return [builder.extract_value(several, k) for k in range(several.type.count)]


def _joined(builder: Any, parts: list[Any]) -> Any:
    out = ir.Constant(ir.ArrayType(parts[0].type, len(parts)), ir.Undefined)
    for k, part in enumerate(parts):
        out = builder.insert_value(out, part, k)
    return out


def _offsets(n: Any) -> Any:
    return types.UniTuple(types.int64, n)


@intrinsic
def stepped(typing_context: Any, like: Any, first: Any, step: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        steps = (builder.mul(args[2], ir.Constant(_LONG, k)) for k in range(like.count))
        return _joined(builder, [builder.add(args[1], step) for step in steps])

    return _offsets(like.count)(like, types.intp, types.intp), generate


def _each_with_number(compute: Any) -> Any:
    @intrinsic
    def function(typing_context: Any, offsets: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _joined(builder, [compute(builder, k, args[1]) for k in _parts(builder, args[0])])

        return _offsets(offsets.count)(offsets, types.intp), generate

    return function


clamped = _each_with_number(lambda b, k, most: b.select(b.icmp_signed("<", k, most), k, most))
shifted = _each_with_number(lambda b, k, by: b.add(k, by))
scaled = _each_with_number(lambda b, k, by: b.mul(k, by))


def _each_from(kind: Any, n_bytes: int) -> Any:
    @intrinsic
    def function(typing_context: Any, address: Any, offsets: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            read = (
                builder.load(pointer(builder, args[0], k, kind, n_bytes), align=n_bytes)
                for k in _parts(builder, args[1])
            )
            return _joined(builder, [k if n_bytes == 8 else builder.sext(k, _LONG) for k in read])

        return _offsets(offsets.count)(types.intp, offsets), generate

    return function


int64_each, int32_each = _each_from(_LONG, 8), _each_from(ir.IntType(32), 4)


@intrinsic
def load_each(typing_context: Any, address: Any, offsets: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        places = (pointer(builder, args[0], k, _VECTOR, 4) for k in _parts(builder, args[1]))
        return _joined(builder, [builder.load(place, align=4) for place in places])

    return SeveralType(offsets.count)(types.intp, offsets), generate


@intrinsic
def store_each(typing_context: Any, address: Any, offsets: Any, several: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for k, part in zip(_parts(builder, args[1]), _parts(builder, args[2]), strict=True):
            builder.store(part, pointer(builder, args[0], k, _VECTOR, 4), align=4)
        return context.get_dummy_value()

    return types.void(types.intp, offsets, several), generate


@intrinsic
def load_each_as(typing_context: Any, kind: Any, address: Any, offsets: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _joined(builder, [read_as(builder, sig.args[0], args[1], k) for k in _parts(builder, args[2])])

    return SeveralType(offsets.count)(kind, types.intp, offsets), generate


@intrinsic
def store_each_as(
    typing_context: Any, kind: Any, address: Any, offsets: Any, several: Any, dither: Any
) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for k, part in zip(_parts(builder, args[2]), _parts(builder, args[3]), strict=True):
            write_as(builder, sig.args[0], args[1], k, part, args[4])
        return context.get_dummy_value()

    return types.void(kind, types.intp, offsets, several, types.int32), generate


@intrinsic
def prefetch_each(typing_context: Any, kind: Any, address: Any, offsets: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for k in _parts(builder, args[2]):
            ask_for(builder, sig.args[0], args[1], k)
        return context.get_dummy_value()

    return types.void(kind, types.intp, offsets), generate


@intrinsic
def positive_each(typing_context: Any, several: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(_VECTOR, [0.0] * WIDTH)
        return _joined(builder, [larger(builder, x, zero) for x in _parts(builder, args[0])])

    return several(several), generate


@intrinsic
def larger_each(typing_context: Any, several: Any, others: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        both = zip(*(_parts(builder, arg) for arg in args), strict=True)
        return _joined(builder, [larger(builder, x, y) for x, y in both])

    return several(several, several), generate


@intrinsic
def total_each(typing_context: Any, several: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, *rest = _parts(builder, args[0])
        for part in rest:
            first = builder.fadd(first, part, flags=FUSE)
        return first

    return VECTORS[WIDTH](several), generate


@intrinsic
def fill_each(typing_context: Any, like: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _joined(builder, [spread(builder, args[1], WIDTH)] * like.count)

    return SeveralType(like.count)(like, types.float32), generate


@intrinsic
def first_only(typing_context: Any, several: Any, n: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(_VECTOR, [0.0] * WIDTH)
        parts = enumerate(_parts(builder, args[0]))
        inside = ((builder.icmp_signed("<", ir.Constant(_LONG, k), args[1]), part) for k, part in parts)
        return _joined(builder, [builder.select(condition, part, zero) for condition, part in inside])

    return several(several, types.intp), generate


@intrinsic
def chain(typing_context: Any, start: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        total = args[0]
        for left, right in zip(_parts(builder, args[1]), _parts(builder, args[2]), strict=True):
            total = builder.fadd(total, builder.fmul(left, right, flags=FUSE), flags=FUSE)
        return total

    return start(start, x, y), generate


@intrinsic
def paired(typing_context: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        both = zip(_parts(builder, args[0]), _parts(builder, args[1]), strict=True)
        a, b, c, d = (builder.fmul(left, right, flags=FUSE) for left, right in both)
        return builder.fadd(builder.fadd(a, b, flags=FUSE), builder.fadd(c, d, flags=FUSE), flags=FUSE)

    return VECTORS[WIDTH](x, y), generate


def _operator(symbol: Any, method: str) -> None:
    """Let kernels use ``+``, ``-`` or ``*`` between several vectors and several vectors, one vector or one number."""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], SeveralType):
                known = isinstance(args[1], SeveralType | VectorType)
                return signature(args[0], args[0], args[1] if known else types.float32)
            if len(args) == 2 and isinstance(args[0], VectorType) and isinstance(args[1], SeveralType):
                return signature(args[1], *args)
            return None

    infer_global(symbol)(Template)

    def compute(builder: Any, several: Any, others: list[Any]) -> Any:
        both = zip(_parts(builder, several), others, strict=True)
        return _joined(builder, [getattr(builder, method)(x, y, flags=FUSE) for x, y in both])

    def with_several(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return compute(builder, args[0], _parts(builder, args[1]))

    def with_vector(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return compute(builder, args[0], [args[1]] * sig.args[0].n)

    def vector_with(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        spread_out = _joined(builder, [args[0]] * sig.args[1].n)
        return compute(builder, spread_out, _parts(builder, args[1]))

    def with_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return compute(builder, args[0], [spread(builder, args[1], WIDTH)] * sig.args[0].n)

    lower_builtin(symbol, SeveralType, SeveralType)(with_several)
    lower_builtin(symbol, SeveralType, VectorType)(with_vector)
    lower_builtin(symbol, VectorType, SeveralType)(vector_with)
    lower_builtin(symbol, SeveralType, types.Float)(with_number)


for _symbol, _method in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _operator(_symbol, _method)
