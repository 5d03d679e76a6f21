"""The open environments of this process: one for each data file, shared by all of its stores."""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path

from lockers.data_file import data_size
from lockers.environment import Environment

# Reentrant: a store that is forgotten without being closed lets go of its file whenever the collector finds it.
_TABLE_LOCK = threading.RLock()
_TABLE: dict[Path, Environment] = {}
_ALL: weakref.WeakSet[Environment] = weakref.WeakSet()
"""Environments of the table, and of files that lost their path to another file."""


def attach(path: Path, *, writer: bool) -> Environment:
    """Return the environment of a data file, and count one more store that uses it; `detach` lets go of it."""
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
    """Undo `attach`; the last store closes the environment, once no transaction of another thread runs."""
    with _TABLE_LOCK:
        environment.users -= 1
        environment.writers -= writer
        last = environment.closed = not environment.users
    if last:
        environment.close()  # outside of the table's lock: a transaction may open another store meanwhile
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
