"""Arrays under keys on disk, in LMDB, with a memory twin.

A *locker* is a name, such as ``payoff``; an array lies in it under a key of bytes. Keys with the same part
before the first ``|`` lie in one *shard*, and what one transaction writes to a shard appears together or
not at all:

>>> import numpy as np
>>> def visit(transaction):
...     if transaction.punch(b"QsJh2h|cr", ticket=1):
...         transaction.put("payoff", b"QsJh2h|cr", np.eye(2))
>>> with MemoryStore({"game": "kuhn"}) as store:
...     store.transact(b"QsJh2h", visit)
...     store.transact(b"QsJh2h", visit)
...     store.get("payoff", b"QsJh2h|cr"), store.tickets(b"QsJh2h|cr")
(array([[1., 0.],
       [0., 1.]]), (1, 1))

`open_store` gives the same on disk, for any number of processes at once.
"""

from lockers.disk_size import SHARD_BYTES, DiskSize
from lockers.errors import (
    BusyLockerError,
    DamagedLockerError,
    LockerError,
    LockerFullError,
    ManifestMismatchError,
    ReadOnlyLockerError,
    StorageError,
)
from lockers.folder import LOCK, holds_store, remove_store
from lockers.lmdb_store import LmdbStore, open_store
from lockers.memory import MemoryStore
from lockers.names import shard_part
from lockers.store import Reads, Store, Transaction

__all__ = [
    "LOCK",
    "SHARD_BYTES",
    "BusyLockerError",
    "DamagedLockerError",
    "DiskSize",
    "LmdbStore",
    "LockerError",
    "LockerFullError",
    "ManifestMismatchError",
    "MemoryStore",
    "ReadOnlyLockerError",
    "Reads",
    "StorageError",
    "Store",
    "Transaction",
    "holds_store",
    "open_store",
    "remove_store",
    "shard_part",
]
