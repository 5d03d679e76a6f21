# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg,attr-defined,import-untyped,misc"
"""Bundles that lie in memory, so that a kernel takes one address in place of hundreds of numbers.

Numba takes a named tuple apart number by number at every call, a fifth of a microsecond each, which was most of what
a small river cost. A `Packed` bundle is taken apart once. In a kernel ``unpack(packed)`` is the bundle, and
``unpack_at(packed, i)`` is part i of a bundle that is a tuple of equals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core.datamodel import PrimitiveModel, register_default
from numba.extending import NativeValue, unbox

from compiled import kernel
from solvers.vector import aligned, bare, intrinsic


class PackedType(types.Type):
    """The address of a bundle of a type."""

    def __init__(self, bundle: Any) -> None:
        self.bundle = bundle
        super().__init__(name=f"Packed({bundle})")


@register_default(PackedType)
class _PackedModel(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: PackedType) -> None:
        super().__init__(dmm, fe_type, ir.IntType(64))


class Packed:
    """A bundle of numbers and arrays, kept alive, and a copy of it in memory with addresses in place of arrays."""

    def __init__(self, bundle: Any) -> None:
        self._bundle = bundle
        numbers = bare(bundle)
        shape = _shape(numbers)
        if shape not in _types:
            _types[shape] = PackedType(typeof(numbers))
        self._numba_type_ = _types[shape]
        self._memory = aligned(8 * _count(shape), np.uint8)
        self.address: int = self._memory.ctypes.data
        _write(self.address, numbers)


_types: dict[Any, PackedType] = {}
"""By shape: Numba takes milliseconds to find the type of a large bundle."""


def _shape(bundle: Any) -> Any:
    """The classes of a bundle and of all that is in it."""
    kind = type(bundle)
    return (kind, *map(_shape, bundle)) if issubclass(kind, tuple) else kind


def _count(shape: Any) -> int:
    return sum(map(_count, shape[1:])) if isinstance(shape, tuple) else 1


@unbox(PackedType)
def _unbox(kind: Any, packed: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(packed, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=c.pyapi.c_api_error())


@intrinsic
def _put(typing_context: Any, address: Any, bundle: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], args[1].type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.intp, bundle), generate


@kernel
def _write(address: int, bundle: Any) -> None:
    _put(address, bundle)


@intrinsic
def unpack(typing_context: Any, packed: Any) -> Any:
    """The bundle itself."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.return_type)
        return builder.load(builder.inttoptr(args[0], kind.as_pointer()), align=8)

    return packed.bundle(packed), generate


@intrinsic
def unpack_at(typing_context: Any, packed: Any, index: Any) -> Any:
    """Part ``index`` of a tuple of bundles of one type."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.return_type)
        first = builder.inttoptr(args[0], kind.as_pointer())
        return builder.load(builder.gep(first, [args[1]]), align=8)

    return packed.bundle.dtype(packed, types.intp), generate
