r"""Names of lockers, keys in lockers, and the full keys that LMDB stores.

- The name of a *locker* is an ASCII letter and at most 31 letters, digits, ``.``, ``_`` or ``-``.
- A *key* is any non-empty byte string.
- The *full key* is ``locker + b"\0" + key``. One LMDB database holds the full keys of all lockers in sorted order, so
  the keys of a locker are neighbours. A named LMDB database for each locker would add a page to every transaction.

Names that begin with a dot belong to the store itself: the locker ``.visits`` counts visits.
"""

from __future__ import annotations

import re

from lockers.errors import DamagedLockerError, LockerError

MAX_KEY_SIZE = 511
"""Largest size of a full key in bytes: LMDB's limit, which `MemoryStore` has too."""
VISITS = ".visits"

_LOCKER = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,31}")
_SEPARATOR = b"\0"


def full_key(locker: str, key: bytes) -> bytes:
    r"""Return the full key of a key in a locker.

    >>> full_key("payoff", b"QsJh2h|cr")
    b'payoff\x00QsJh2h|cr'
    """
    require_locker(locker)
    return internal_key(locker, key)


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
