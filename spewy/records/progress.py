"""Progress of a solve in its lockers: sweeps, checks, the result, and dropped rounds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lockers import Reads, Store, Transaction
from spewy.errors import InputError, SpewyError
from spewy.game.names import ROUND_NAMES
from spewy.records.keys import DROPPED_KEY, META, RESULT_KEY, SWEEP_KEY, TARGET_KEY, TRACE_KEY

Trace = list[tuple[int, float, float]]
"""(sweep, seconds, exploitability in chips) of the checks."""


def saved_sweeps(store: Reads) -> int:
    """Number of finished sweeps in a store."""
    array = store.get(META, SWEEP_KEY)
    return 0 if array is None else int(array)


def finish_sweep(store: Store, sweeps: int) -> None:
    """Record that a sweep is finished, after all of its visits are in the lockers."""
    store.transact(lambda txn: txn.put(META, SWEEP_KEY, np.array(sweeps)))


def require_sweeps(txn: Transaction, expected: int, sweeps: int) -> None:
    """Check that a store still holds the number of sweeps that was read from it.

    Raises:
        SpewyError: another process has saved to this folder meanwhile.
    """
    there = txn.get(META, SWEEP_KEY)
    found = 0 if there is None else int(there)
    if found != expected:
        raise SpewyError(
            f"saving sweep {sweeps}: expected the lockers at sweep {expected}, found {found}: "
            "another process solves in this folder"
        )


def read_trace(store: Reads) -> Trace:
    """The checks in a store."""
    array = store.get(META, TRACE_KEY)
    return [] if array is None else [(int(n), float(s), float(e)) for n, s, e in array]


def write_trace(store: Store, trace: Trace, target: str) -> None:
    """Store the checks, and the target in the words of the job file."""
    array = np.array(trace, dtype=np.float64).reshape(-1, 3)

    def write(txn: Transaction) -> None:
        txn.put(META, TRACE_KEY, array)
        txn.put(META, TARGET_KEY, _bytes(target))

    store.transact(write)


def saved_seconds(store: Reads) -> float:
    """Seconds of work up to the last check of the stored strategies; 0 without a check."""
    sweeps = saved_sweeps(store)
    return next((seconds for done, seconds, _ in reversed(read_trace(store)) if done <= sweeps), 0.0)


def last_target(store: Reads) -> str | None:
    """Target of the last solve; None if no solve was started."""
    array = store.get(META, TARGET_KEY)
    return None if array is None else array.tobytes().decode()


def read_result(store: Reads) -> dict[str, Any] | None:
    """Read what `write_result` stored after the last run; None if a later run has started."""
    array = store.get(META, RESULT_KEY)
    if array is None:
        return None
    found: dict[str, Any] = json.loads(array.tobytes())
    return found


def write_result(store: Store, result: Mapping[str, Any]) -> None:
    """Store the result of a run without interruption."""
    store.transact(lambda txn: txn.put(META, RESULT_KEY, _bytes(json.dumps(result))))


def forget_result(store: Store) -> None:
    """Delete the stored result; called before the strategies change."""
    if store.get(META, RESULT_KEY) is not None:
        store.transact(lambda txn: txn.delete(META, RESULT_KEY))
        store.flush()


def first_dropped(store: Reads) -> int | None:
    """First dropped round of the game, with which all later rounds are dropped; None if no round is dropped."""
    array = store.get(META, DROPPED_KEY)
    return None if array is None else int(array)


def mark_dropped(store: Store, first: int) -> None:
    """Mark round ``first`` and all later rounds as dropped, before their records are deleted."""
    store.transact(lambda txn: txn.put(META, DROPPED_KEY, np.array(first)))


def dropped_names(first: int, n_rounds: int) -> tuple[str, ...]:
    """Names of the dropped rounds.

    >>> dropped_names(2, 4)
    ('turn', 'river')
    """
    return ROUND_NAMES[first:n_rounds]


def require_whole(store: Reads, n_rounds: int, subject: str) -> None:
    """Refuse a store with dropped rounds.

    Raises:
        InputError: some rounds were dropped.
    """
    first = first_dropped(store)
    if first is not None:
        raise dropped_error(f"{subject}: expected the strategies of all rounds", first, n_rounds)


def dropped_error(expected: str, first: int, n_rounds: int) -> InputError:
    """Make the error for missing rounds from ``first`` on; ``expected`` begins its text."""
    names = dropped_names(first, n_rounds)
    return InputError(
        f"{expected}, found {' and '.join(names)} dropped; "
        '"spewy show" and "spewy report" solve dropped chunks where they look, '
        '"spewy solve JOB.toml --again" solves everything from the beginning'
    )


def _bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)
