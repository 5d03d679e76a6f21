"""Arrays as bytes: a header, the shape and the items. Nothing is pickled.

======  =====  =============================================================================
offset  bytes  content
======  =====  =============================================================================
0       4      magic ``LOCK``
4       1      version of this layout, 1
5       1      encoding of the items, always 0 (raw bytes)
6       1      dtype kind, one of ``b i u f`` (bool, int, unsigned int, float)
7       1      dtype item size in bytes
8       1      number of axes
9       3      zeros
12      4      CRC-32 of the key, bytes 0 to 11, the shape and the items
16      8 * n  shape
16+8n   rest   the items in C order (n is the number of axes)
======  =====  =============================================================================

All numbers are little-endian. Arrays of another byte order are refused, because a conversion would change their dtype.
The checksum covers the key, so that reading a value under a wrong key fails.
"""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lockers.errors import DamagedLockerError, LockerError
from lockers.keys import describe

Array: TypeAlias = npt.NDArray[Any]

_MAGIC = b"LOCK"
_VERSION, _RAW = 1, 0
_HEAD = struct.Struct("<4sBBcBB3x")  # without the checksum that follows it
_CRC = struct.Struct("<I")
_START = _HEAD.size + _CRC.size
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
_MAX_AXES = 32
_MAX_BYTES = 2**32 - 1  # LMDB stores the length of a value in 32 bits


def encode(array: Array, full_key: bytes) -> bytes:
    """Return an array as bytes with a checksum that covers the key; `decode` is the inverse.

    The bytes will be stored under ``full_key`` (`lockers.keys`).
    """
    _require_storable(array, full_key)
    size = _START + 8 * array.ndim + array.nbytes
    if size > _MAX_BYTES:
        raise LockerError(f"{describe(full_key)}: expected at most {_MAX_BYTES} bytes, found {size}")
    # asarray and not ascontiguousarray, which would turn 0 axes into 1.
    items: Any = np.asarray(array, order="C")
    body = memoryview(items).cast("B") if items.size else b""
    head = _HEAD.pack(_MAGIC, _VERSION, _RAW, array.dtype.kind.encode(), array.dtype.itemsize, array.ndim)
    shape = struct.pack(f"<{array.ndim}Q", *array.shape)
    return b"".join((head, _CRC.pack(_checksum(full_key, head, shape, body)), shape, body))


def decode(value: bytearray, full_key: bytes) -> Array:
    """Return the array that `encode` turned into bytes.

    The array shares the memory of ``value`` and is writable.
    """
    if len(value) < _START:
        raise _damaged(full_key, f"a header of {_START} bytes", f"{len(value)} bytes")
    magic, version, codec, kind_byte, item_size, axes = _HEAD.unpack_from(value)
    if magic != _MAGIC:
        raise _damaged(full_key, f"magic {_MAGIC.hex()}", magic.hex())
    start = _START + 8 * axes
    if axes > _MAX_AXES or len(value) < start:
        raise _damaged(full_key, f"a shape of at most {_MAX_AXES} axes in the value", f"{axes} axes")
    view = memoryview(value)
    (expected,) = _CRC.unpack_from(value, _HEAD.size)
    checksum = _checksum(full_key, view[: _HEAD.size], view[_START:start], view[start:])
    if checksum != expected:
        raise _damaged(full_key, f"checksum {expected:08x}", f"{checksum:08x}")
    # The checksum is right: if the next checks fail, another version of this module wrote the value.
    kind = kind_byte.decode("ascii", "replace")
    if (version, codec) != (_VERSION, _RAW) or item_size not in _SIZES.get(kind, ()):
        raise _damaged(
            full_key,
            f"version {_VERSION}, codec {_RAW}, a known dtype",
            f"version {version}, codec {codec}, dtype {kind}{item_size}",
        )
    shape = struct.unpack_from(f"<{axes}Q", value, _START)
    size = math.prod(shape) * item_size
    if len(value) - start != size:
        raise _damaged(full_key, f"{size} bytes for shape {shape}", f"{len(value) - start} bytes")
    dtype = np.dtype(f"<{kind}{item_size}")
    if size == 0:
        return np.empty(shape, dtype)
    return np.frombuffer(value, dtype, offset=start).reshape(shape)


def decode_from(path: Path, value: bytearray, full_key: bytes) -> Array:
    """Return the array of the bytes that `encode` made; errors name the data file ``path`` from which they come."""
    try:
        return decode(value, full_key)
    except DamagedLockerError as error:
        raise DamagedLockerError(f"{path}: {error}") from None


def _require_storable(array: Array, full_key: bytes) -> None:
    if not isinstance(array, np.ndarray):
        raise LockerError(f"{describe(full_key)}: expected a numpy array, found {type(array).__name__}")
    dtype = array.dtype
    if dtype.itemsize not in _SIZES.get(dtype.kind, ()) or dtype.str[0] == ">":
        raise LockerError(
            f"{describe(full_key)}: expected little-endian bool, int, uint or float items "
            f"of at most 8 bytes, found dtype {dtype.str}"
        )
    if array.ndim > _MAX_AXES:
        raise LockerError(f"{describe(full_key)}: expected at most {_MAX_AXES} axes, found {array.ndim}")


def _checksum(
    full_key: bytes, head: bytes | memoryview, shape: bytes | memoryview, body: bytes | memoryview
) -> int:
    return zlib.crc32(body, zlib.crc32(shape, zlib.crc32(head, zlib.crc32(full_key))))


def _damaged(full_key: bytes, expected: str, found: str) -> DamagedLockerError:
    return DamagedLockerError(f"{describe(full_key)}: expected {expected}, found {found}")
