"""Arrays under keys, on disk in LMDB or in memory.

A *locker* has a name, such as ``payoff``, and holds arrays under keys of bytes. The writes of one transaction appear
together or not at all, and `count_visit` counts no id twice:

>>> import numpy as np
>>> def visit(transaction):
...     if transaction.count_visit(b"QsJh2h|cr", visit_id=1):
...         transaction.put("payoff", b"QsJh2h|cr", np.eye(2))
>>> with MemoryStore({"game": "kuhn"}) as store:
...     store.transact(visit)
...     store.transact(visit)
...     store.get("payoff", b"QsJh2h|cr"), store.visits(b"QsJh2h|cr")
(array([[1., 0.],
       [0., 1.]]), (1, 1))

`open_store` opens a store on disk for many processes at once. `MemoryStore`, its twin in memory, has the same methods.
"""

from lockers.codec import STORE_BYTES, DiskSize
from lockers.errors import (
    DamagedLockerError,
    LockerError,
    LockerFullError,
    ManifestMismatchError,
    ReadOnlyLockerError,
    StorageError,
)
from lockers.files import DATA, FORMAT, LOCK, discard_store, holds_store, lacks_manifest, require_manifest
from lockers.lmdb import LmdbStore, open_store, remove_store
from lockers.store import MemoryStore, Reads, Store, Transaction

__all__ = [
    "DATA",
    "FORMAT",
    "LOCK",
    "STORE_BYTES",
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
    "discard_store",
    "holds_store",
    "lacks_manifest",
    "open_store",
    "remove_store",
    "require_manifest",
]
