# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Named tuples that kernels read from memory by their address.

When Python passes a named tuple to a kernel, Numba copies its numbers one by one, a fifth of a microsecond each. A
`Packed` object copies a tuple into memory once, and a call passes only its address. Inside a kernel ``unpack(packed)``
is the tuple. If all elements of the tuple are tuples of one type, ``unpack_at(packed, i)`` is element ``i``.

`Records` is a table of whole numbers whose rows are named tuples. Inside a kernel ``record_at(records, i)`` is row
``i``, and only the fields that the kernel uses are loaded.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core.datamodel import PrimitiveModel, register_default
from numba.extending import NativeValue, unbox

from compiled.vector import aligned, bare, intrinsic, pointer

_FORMATS: dict[type, tuple[str, int]] = {
    bool: ("?", 1),
    int: ("q", 8),
    float: ("d", 8),
    np.float32: ("f", 4),
    np.int32: ("i", 4),
    np.int16: ("h", 2),
}
"""Code of the module `struct`, and size in bytes, for each type of number."""


R = TypeVar("R", bound=tuple[int, ...])


class RecordsType(types.Type):
    """Numba's type of a `Records` table: the address of rows that are named tuples of one class."""

    def __init__(self, row: type) -> None:
        fields: tuple[str, ...] = row._fields
        self.record = types.NamedUniTuple(types.int64, len(fields), row)
        super().__init__(name=f"Records({row.__module__}.{row.__name__}{fields})")


class Records:
    """A table ``[row, field]`` of whole numbers whose rows are named tuples of one class."""

    def __init__(self, row: type[R], rows: Sequence[R] | np.ndarray) -> None:
        self.row = row
        if not isinstance(rows, np.ndarray):  # NumPy looks at each tuple of a list for a protocol of arrays
            rows = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * len(row._fields))
        self.table = np.ascontiguousarray(rows, dtype=np.int64).reshape(-1, len(row._fields))
        self.address: int = self.table.ctypes.data
        if row not in _records:
            _records[row] = RecordsType(row)
        self._numba_type_ = _records[row]

    def __len__(self) -> int:
        return len(self.table)

    @property
    def nbytes(self) -> int:
        return self.table.nbytes


_records: dict[type, RecordsType] = {}


class PackedType(types.Type):
    """Numba's type of a `Packed` tuple: the address of a tuple of a given Numba type."""

    def __init__(self, bundle: Any) -> None:
        self.bundle = bundle
        super().__init__(name=f"Packed({bundle})")


@register_default(RecordsType)
@register_default(PackedType)
class _AddressModel(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.IntType(64))


class Packed:
    """A tuple of numbers, arrays and tuples, copied into memory with addresses in place of its arrays.

    The object keeps the arrays alive.
    """

    def __init__(self, bundle: Any) -> None:
        self._bundle = bundle
        numbers: list[Any] = []
        shape = _spread(bundle, numbers)
        if shape not in _types:
            _types[shape] = PackedType(typeof(bare(bundle))), struct.Struct("=" + _format(shape)[0])
        self._numba_type_, layout = _types[shape]
        self._memory = aligned(layout.size, np.uint8)
        self.address: int = self._memory.ctypes.data
        layout.pack_into(self._memory.data, 0, *numbers)


_types: dict[Any, tuple[PackedType, struct.Struct]] = {}
"""Numba type and memory layout by the result of `_spread`, cached since Numba takes milliseconds to type a large tuple.
"""


def _spread(bundle: Any, numbers: list[Any]) -> Any:
    """Append all numbers of nested tuples to a list, in order, with addresses in place of arrays and `Records`.

    Return the class of a number, or a tuple's class followed by the results for its members; for `Records` also the
    class of the rows.
    """
    kind = type(bundle)
    if isinstance(bundle, np.ndarray):
        numbers.append(bare(bundle))
        return int
    if kind is Records:
        numbers.append(bundle.address)
        return Records, bundle.row
    if issubclass(kind, tuple):
        return kind, *[_spread(part, numbers) for part in bundle]
    numbers.append(bundle)
    return kind


def _format(shape: Any) -> tuple[str, int]:
    """Format of a tuple for the module `struct`, in LLVM's layout, and the tuple's alignment in bytes.

    ``shape`` is the result of `_spread` for the tuple.
    """
    if not isinstance(shape, tuple):
        return _FORMATS[shape]
    if shape[0] is Records:
        return _FORMATS[int]
    text, widest = "", 1
    for code, alignment in map(_format, shape[1:]):
        widest = max(widest, alignment)
        text += "x" * (-struct.calcsize("=" + text) % alignment) + code
    return text + "x" * (-struct.calcsize("=" + text) % widest), widest


@unbox(RecordsType)
@unbox(PackedType)
def _unbox(kind: Any, packed: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(packed, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=c.pyapi.c_api_error())


@intrinsic
def unpack(typing_context: Any, packed: Any) -> Any:
    """Load the tuple of a `Packed` object, inside a kernel."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.return_type)
        return builder.load(builder.inttoptr(args[0], kind.as_pointer()), align=8)

    return packed.bundle(packed), generate


@intrinsic
def unpack_at(typing_context: Any, packed: Any, index: Any) -> Any:
    """Load element ``index`` of a `Packed` tuple whose elements are tuples of one type, inside a kernel."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.return_type)
        first = builder.inttoptr(args[0], kind.as_pointer())
        return builder.load(builder.gep(first, [args[1]]), align=8)

    return packed.bundle.dtype(packed, types.intp), generate


@intrinsic
def record_at(typing_context: Any, records: Any, index: Any) -> Any:
    """Load row ``index`` of a `Records` table as a named tuple, inside a kernel."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        n = sig.return_type.count
        first = builder.mul(args[1], ir.Constant(ir.IntType(64), n))
        places = (builder.add(first, ir.Constant(ir.IntType(64), k)) for k in range(n))
        fields = [builder.load(pointer(builder, args[0], at, ir.IntType(64), 8), align=8) for at in places]
        return context.make_tuple(builder, sig.return_type, fields)

    return records.record(records, types.intp), generate
