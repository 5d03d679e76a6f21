"""Progress of a solve as its lockers record it: sweeps, checks, the result, and dropped rounds.

The functions ``require_...`` check what must hold before a save (`require_sweeps`, `require_finite`) or before reading.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lockers import Reads, Store, Transaction
from solvers.state import all_finite
from spewy.errors import InputError, SolveError, SpewyError
from spewy.game.names import ROUND_NAMES
from spewy.records.keys import (
    CHOICE_KEY,
    DROPPED_KEY,
    META,
    QUICK_KEY,
    RESULT_KEY,
    SWEEP_KEY,
    TARGET_KEY,
    TRACE_KEY,
)

Trace = list[tuple[int, float, float]]
"""Number of sweeps, seconds of work, and exploitability in chips at each check."""


def saved_sweeps(store: Reads) -> int:
    """Read the number of sweeps (visits to all chunks), or of deals with board buckets, in a save; 0 without a save."""
    array = store.get(META, SWEEP_KEY)
    return 0 if array is None else int(array)


def finish_sweep(store: Store, sweeps: int) -> None:
    """Record the number of finished sweeps; the lockers must have all visits of the last sweep already."""
    store.transact(lambda txn: txn.put(META, SWEEP_KEY, np.array(sweeps)))


def require_sweeps(txn: Transaction, expected: int, sweeps: int) -> None:
    """Check that no other process has saved since this one read or saved ``expected`` sweeps."""
    array = txn.get(META, SWEEP_KEY)
    stored = 0 if array is None else int(array)
    if stored != expected:
        raise SpewyError(
            f"saving sweep {sweeps}: expected the lockers at sweep {expected}, found {stored}: "
            "another process solves in this folder"
        )


def read_trace(store: Reads) -> Trace:
    array = store.get(META, TRACE_KEY)
    return [] if array is None else [(int(n), float(s), float(e)) for n, s, e in array]


def write_trace(store: Store, trace: Trace, target: str) -> None:
    array = np.array(trace, dtype=np.float64).reshape(-1, 3)

    def write(txn: Transaction) -> None:
        txn.put(META, TRACE_KEY, array)
        txn.put(META, TARGET_KEY, _bytes(target))

    store.transact(write)


def saved_seconds(store: Reads) -> float:
    """Return the seconds of work up to the last check at or before the saved sweep; 0 without a check."""
    sweeps = saved_sweeps(store)
    return next((seconds for done, seconds, _ in reversed(read_trace(store)) if done <= sweeps), 0.0)


def last_target(store: Reads) -> str | None:
    """Read the target of the last run, as its job file wrote it; None if no run was started."""
    array = store.get(META, TARGET_KEY)
    return None if array is None else array.tobytes().decode()


def _read(store: Reads, key: bytes) -> dict[str, Any] | None:
    array = store.get(META, key)
    if array is None:
        return None
    data: dict[str, Any] = json.loads(array.tobytes())
    return data


def read_result(store: Reads) -> dict[str, Any] | None:
    """Read the result that `write_result` stored; None if the last run has not finished."""
    return _read(store, RESULT_KEY)


def write_result(store: Store, result: Mapping[str, Any]) -> None:
    store.transact(lambda txn: txn.put(META, RESULT_KEY, _bytes(json.dumps(result))))


def forget_result(store: Store) -> None:
    """Delete the stored result; called before the strategies change."""
    if store.get(META, RESULT_KEY) is not None:
        store.transact(lambda txn: txn.delete(META, RESULT_KEY))
        store.flush()


def read_choice(store: Reads) -> dict[str, Any] | None:
    """Read the measures of a choice among equilibria that `write_choice` stored; None: there was no choice."""
    return _read(store, CHOICE_KEY)


def write_choice(store: Store, choice: Mapping[str, Any]) -> None:
    store.transact(lambda txn: txn.put(META, CHOICE_KEY, _bytes(json.dumps(choice))))


def first_dropped(store: Reads) -> int | None:
    """Read the number of the first dropped round of the game; None if no round was dropped."""
    array = store.get(META, DROPPED_KEY)
    return None if array is None else int(array)


def quick_seconds(store: Reads) -> float | None:
    """Read the seconds of the last solve if it was quick (job key ``quick``); None: not quick, or no solve."""
    array = store.get(META, QUICK_KEY)
    return None if array is None else float(array)


def mark_dropped(store: Store, first: int) -> None:
    """Mark round ``first`` and all later rounds as dropped; called before their arrays are deleted."""
    store.transact(lambda txn: txn.put(META, DROPPED_KEY, np.array(first)))


def dropped_names(first: int, n_rounds: int) -> tuple[str, ...]:
    """Return the names of the rounds from number ``first`` to the last of ``n_rounds``.

    >>> dropped_names(2, 4)
    ('turn', 'river')
    """
    return ROUND_NAMES[first:n_rounds]


def require_whole(store: Reads, n_rounds: int, subject: str) -> None:
    first = first_dropped(store)
    if first is not None:
        raise dropped_error(f"{subject}: expected the strategies of all rounds", first, n_rounds)


def dropped_error(expected: str, first: int, n_rounds: int) -> InputError:
    names = dropped_names(first, n_rounds)
    return InputError(
        f"{expected}, found {' and '.join(names)} dropped; "
        '"spewy show" and "spewy report" re-solve the dropped chunks that they show, '
        '"spewy solve JOB.toml --again" solves everything from scratch'
    )


def _bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def require_finite(subject: str, *arrays: np.ndarray) -> None:
    """Check that all numbers are finite before they are saved, since a solve can overflow."""
    if not all_finite(*arrays):
        raise SolveError(
            f"{subject}: expected finite numbers, found infinities or NaN; nothing is saved, and "
            'solve.precision = "double" may help'
        )
