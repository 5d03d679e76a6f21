r"""How lockers, keys and shards are named.

- A *locker* is a short ASCII name: a letter, then at most 31 letters, digits, ``.``, ``_`` or ``-``.
- A *key* is any non-empty byte string. Its *shard part* is what stands before the first ``|``, or all of
  it: ``b"QsJh2h|cr120c/"`` and ``b"QsJh2h"`` belong to the shard part ``b"QsJh2h"``, so a transaction can
  hold both.
- A *shard* is ``CRC-32(shard part) mod number of shards``; the locker plays no part in it.
- In LMDB a key reads ``locker + b"\0" + key``. One tree per shard with prefixed keys, rather than a named
  sub-database per locker: a sub-database costs every transaction that touches it a root page of its own,
  and needs handles that are opened in transactions, once per process. Sorting by locker keeps ``keys`` a
  range scan.

Names that begin with a dot belong to the store itself: ``.ticket`` counts the visits.
"""

from __future__ import annotations

import re
import zlib

from lockers.errors import DamagedLockerError, LockerError

MAX_KEY_SIZE = 511  # LMDB's compiled-in limit; the memory twin keeps it too, so that a program fits both
TICKETS = ".ticket"

_LOCKER = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,31}")
_SEPARATOR = b"\0"
_SHARD_END = b"|"


def full_key(locker: str, key: bytes) -> bytes:
    r"""Return the key under which a store files ``key`` of ``locker``.

    >>> full_key("payoff", b"QsJh2h|cr")
    b'payoff\x00QsJh2h|cr'
    """
    require_locker(locker)
    return internal_key(locker, key)


def internal_key(locker: str, key: bytes) -> bytes:
    """Return the same as `full_key`, for the store's own lockers too."""
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
    r"""Return what all full keys of a locker begin with.

    >>> locker_start("payoff")
    b'payoff\x00'
    """
    require_locker(locker)
    return locker.encode("ascii") + _SEPARATOR


def split_key(full: bytes) -> tuple[str, bytes]:
    r"""Return the locker and the key of a full key: the inverse of `full_key`.

    >>> split_key(b"payoff\x00QsJh2h|cr")
    ('payoff', b'QsJh2h|cr')
    """
    name, separator, key = full.partition(_SEPARATOR)
    locker = name.decode("ascii", "replace")
    if not separator or not key or not (locker == TICKETS or _LOCKER.fullmatch(locker)):
        raise DamagedLockerError(f"key {full.hex()}: expected a locker name, a zero byte and a key")
    return locker, key


def require_locker(locker: str) -> None:
    """Refuse a name that no locker may have."""
    if not isinstance(locker, str) or not _LOCKER.fullmatch(locker):
        raise LockerError(
            f"a locker's name: expected a letter and up to 31 letters, digits or '._-', found {locker!r}"
        )


def shard_part(key: bytes) -> bytes:
    """Return the part of a key that decides its shard.

    >>> shard_part(b"QsJh2h|cr"), shard_part(b"QsJh2h")
    (b'QsJh2h', b'QsJh2h')
    """
    return key.partition(_SHARD_END)[0]


def owns_prefix(prefix: bytes) -> bool:
    """Return whether all keys with this prefix have one shard part, hence one shard."""
    return _SHARD_END in prefix


def shard_of(key: bytes, shards: int) -> int:
    """Return the number of the shard that owns a key: stable over processes, machines and versions."""
    return zlib.crc32(shard_part(key)) % shards


def describe(full: bytes) -> str:
    """Return how an error names a full key."""
    name, _, key = full.partition(_SEPARATOR)
    return f"locker {name.decode('ascii', 'replace')!r}, key {key.hex()}"
