"""The table of data files that this process has open; all stores of one file share an `Environment`."""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path

from lockers.data_file import data_size
from lockers.environment import Environment

# Reentrant, because the garbage collector may detach a store that was not closed while this thread holds the lock.
_TABLE_LOCK = threading.RLock()
_TABLE: dict[Path, Environment] = {}
_ALL: weakref.WeakSet[Environment] = weakref.WeakSet()
"""All environments of the process, also those of files that were replaced by another file."""


def attach(path: Path, *, writer: bool) -> Environment:
    """Return the environment of a data file for one more store; `detach` undoes the call.

    Args:
        path: The data file.
        writer: Whether the store may write.

    Raises:
        LockerError: The file is missing, empty or unreadable.
    """
    path = Path(os.path.realpath(path))
    data_size(path)
    with _TABLE_LOCK:
        environment = _TABLE.get(path)
        if environment is None or environment.replaced():
            environment = _TABLE[path] = Environment(path)
            _ALL.add(environment)
        environment.closed = False
        environment.users += 1
        environment.writers += writer
    return environment


def detach(environment: Environment, *, writer: bool) -> None:
    """Undo `attach` for one store; after the last store, close the file once no transaction runs."""
    with _TABLE_LOCK:
        environment.users -= 1
        environment.writers -= writer
        last = environment.closed = not environment.users
    if last:
        environment.close()  # not under the table's lock, because a running transaction may open another store
        with _TABLE_LOCK:
            if not environment.users and _TABLE.get(environment.path) is environment:
                del _TABLE[environment.path]


def _before_fork() -> None:
    _TABLE_LOCK.acquire()
    for environment in list(_ALL):
        environment.before_fork()


def _after_fork_in_parent() -> None:
    for environment in list(_ALL):
        environment.after_fork_in_parent()
    _TABLE_LOCK.release()


def _after_fork_in_child() -> None:
    global _TABLE_LOCK
    _TABLE_LOCK = threading.RLock()
    for environment in list(_ALL):
        environment.after_fork_in_child()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child
)
