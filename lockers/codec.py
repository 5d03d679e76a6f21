r"""Keys and arrays as the bytes that a store keeps, and the size of a store on disk. Nothing is pickled.

- The name of a *locker* is an ASCII letter and at most 31 letters, digits, ``.``, ``_`` or ``-``.
- A *key* is any non-empty byte string.
- The *full key* is ``locker + b"\0" + key``. One LMDB database holds the full keys of all lockers in sorted order, so
  the keys of a locker are neighbours. A named LMDB database for each locker would add a page to every transaction.

Names that begin with a dot belong to the store itself: ``.visits`` counts visits (`Transaction.count_visit`).

The bytes of an array are a header, the shape and the items:

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
import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lockers.errors import DamagedLockerError, LockerError

Array: TypeAlias = npt.NDArray[Any]

MAX_KEY_SIZE = 511
"""Largest size of a full key in bytes: LMDB's limit, which `MemoryStore` has too."""
VISITS = ".visits"

_LOCKER = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,31}")
_SEPARATOR = b"\0"

_MAGIC = b"LOCK"
_VERSION, _RAW = 1, 0
_HEAD = struct.Struct("<4sBBcBB3x")  # without the checksum that follows it
_CRC = struct.Struct("<I")
_START = _HEAD.size + _CRC.size
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
_MAX_AXES = 32
_MAX_BYTES = 2**32 - 1  # LMDB stores the length of a value in 32 bits

PAGE = 4096
LARGEST = 2038
"""Largest size in bytes of a key with its value in a page of LMDB's tree; a larger value takes whole pages."""
ENTRY, PAGE_HEADER = 10, 16
"""Bytes of LMDB's headers for a key with its value, and for a page."""
VALUE_HEADER = _START + 8
"""Bytes that `encode` puts before the items of an array with one axis."""
FILLED = 0.65
"""Share of a tree page that is in use when keys come in random order."""
NAME = 18
"""Bytes of a usual key: the name of the locker, the round, the board and the line."""
STORE_BYTES = 6 * PAGE + 69632
"""Bytes of LMDB's own pages and of the lock file."""


def full_key(locker: str, key: bytes) -> bytes:
    r"""Return the full key of a key in a locker.

    >>> full_key("payoff", b"QsJh2h|cr")
    b'payoff\x00QsJh2h|cr'
    """
    if not isinstance(locker, str) or locker not in _known:
        require_locker(locker)
        _known.add(locker)
    return internal_key(locker, key)


_known: set[str] = set()
"""Names that `require_locker` has accepted: a save of a turn makes hundreds of keys of a few lockers."""


def internal_key(locker: str, key: bytes) -> bytes:
    """Return the full key of a key in any locker, including the store's own lockers, such as ``.visits``."""
    if not isinstance(key, bytes) or not key:
        raise LockerError(f"a key of locker {locker!r}: expected non-empty bytes, found {key!r}")
    full = locker.encode("ascii") + _SEPARATOR + key
    if len(full) > MAX_KEY_SIZE:
        raise LockerError(
            f"key {key[:16].hex()}... of locker {locker!r}: expected at most "
            f"{MAX_KEY_SIZE - len(locker) - 1} bytes, found {len(key)}"
        )
    return full


def locker_start(locker: str) -> bytes:
    r"""Return the bytes with which all full keys of a locker begin.

    >>> locker_start("payoff")
    b'payoff\x00'
    """
    require_locker(locker)
    return locker.encode("ascii") + _SEPARATOR


def split_key(full: bytes) -> tuple[str, bytes]:
    r"""Split a full key into the locker's name and the key; the inverse of `full_key`.

    >>> split_key(b"payoff\x00QsJh2h|cr")
    ('payoff', b'QsJh2h|cr')
    """
    name, separator, key = full.partition(_SEPARATOR)
    locker = name.decode("ascii", "replace")
    if not separator or not key or not (locker == VISITS or _LOCKER.fullmatch(locker)):
        raise DamagedLockerError(f"key {full.hex()}: expected a locker name, a zero byte and a key")
    return locker, key


def require_locker(locker: str) -> None:
    if not isinstance(locker, str) or not _LOCKER.fullmatch(locker):
        raise LockerError(
            f"a locker's name: expected a letter and up to 31 letters, digits or '._-', found {locker!r}"
        )


def describe(full: bytes) -> str:
    """Describe a full key for error messages: the locker's name, and the key in hexadecimal."""
    name, _, key = full.partition(_SEPARATOR)
    return f"locker {name.decode('ascii', 'replace')!r}, key {key.hex()}"


def encode(array: Array, full_key: bytes) -> bytes:
    """Return an array as bytes with a checksum that covers the key; `decode` is the inverse.

    The bytes will be stored under ``full_key``.
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
    """Return the array that `encode` turned into bytes; errors name the data file ``path`` that holds the bytes."""
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


@dataclass(frozen=True)
class DiskSize:
    """Predicted size of a store's data file; `plus` returns a size with more values.

    LMDB stores keys and small values together in the pages of a tree, which are two thirds full when keys arrive in
    random order. A large value takes whole pages for itself.

    Attributes:
        own: Bytes of the whole pages that large values take.
        entries: Bytes of keys and small values.
    """

    own: int = 0
    entries: int = 0

    @property
    def tree(self) -> int:
        """Bytes of the pages that hold keys and small values."""
        return int(self.entries / FILLED / (PAGE - PAGE_HEADER) + 1) * PAGE

    @property
    def total(self) -> int:
        """Size of the store's file in bytes."""
        return self.own + self.tree

    def again(self, at_once: int) -> int:
        """Return an upper bound of the data file's bytes after every value has been overwritten.

        LMDB reuses the pages of overwritten values two transactions later, so the old pages of two transactions take
        additional room.

        Args:
            at_once: Bytes that one transaction writes.
        """
        return self.total + min(self.total, 2 * at_once)

    def plus(self, *arrays: np.ndarray) -> DiskSize:
        """Return the size of a store with additional values, each number in ``arrays`` being the bytes of one value."""
        if not arrays:
            return self
        values = VALUE_HEADER + np.concatenate([sizes.ravel() for sizes in arrays])
        small = ENTRY + NAME + values <= LARGEST
        pages = -(-(PAGE_HEADER + values[~small]) // PAGE)
        entries = int(values[small].sum()) + 8 * int((~small).sum()) + (ENTRY + NAME) * len(values)
        return DiskSize(self.own + PAGE * int(pages.sum()), self.entries + entries)
