"""How far a solve has come, as its lockers tell: sweeps, checks, the result, and which rounds were dropped."""

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
    """Finished sweeps that a store holds."""
    array = store.get(META, SWEEP_KEY)
    return 0 if array is None else int(array)


def finish_sweep(store: Store, sweeps: int) -> None:
    """Count a sweep whose visits are all in the lockers."""
    store.transact(lambda txn: txn.put(META, SWEEP_KEY, np.array(sweeps)))


def require_sweeps(txn: Transaction, expected: int, sweeps: int) -> None:
    """Refuse to write ``sweeps`` over anything but what was read.

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
    """The checks that a store remembers."""
    array = store.get(META, TRACE_KEY)
    return [] if array is None else [(int(n), float(s), float(e)) for n, s, e in array]


def write_trace(store: Store, trace: Trace, target: str) -> None:
    """Remember the checks, and the target that they were held against, as the job file says it."""
    array = np.array(trace, dtype=np.float64).reshape(-1, 3)

    def write(txn: Transaction) -> None:
        txn.put(META, TRACE_KEY, array)
        txn.put(META, TARGET_KEY, _bytes(target))

    store.transact(write)


def saved_seconds(store: Reads) -> float:
    """Seconds of work before the last check of what a store holds; 0 without a check."""
    sweeps = saved_sweeps(store)
    return next((seconds for done, seconds, _ in reversed(read_trace(store)) if done <= sweeps), 0.0)


def last_target(store: Reads) -> str | None:
    """What the last solve was to reach; a job that is read from its folder does not say it."""
    array = store.get(META, TARGET_KEY)
    return None if array is None else array.tobytes().decode()


def read_result(store: Reads) -> dict[str, Any] | None:
    """The result of the last run, as it was given to `write_result`, if no run began to sweep since."""
    array = store.get(META, RESULT_KEY)
    if array is None:
        return None
    found: dict[str, Any] = json.loads(array.tobytes())
    return found


def write_result(store: Store, result: Mapping[str, Any]) -> None:
    """Keep what a run that was not interrupted has reached."""
    store.transact(lambda txn: txn.put(META, RESULT_KEY, _bytes(json.dumps(result))))


def forget_result(store: Store) -> None:
    """The strategies are about to change, visit by visit: what was measured of them will no longer be true."""
    if store.get(META, RESULT_KEY) is not None:
        store.transact(lambda txn: txn.delete(META, RESULT_KEY))
        store.flush()


def first_dropped(store: Reads) -> int | None:
    """The first dropped round of the game, all later ones went with it; None where nothing was dropped."""
    array = store.get(META, DROPPED_KEY)
    return None if array is None else int(array)


def mark_dropped(store: Store, first: int) -> None:
    """From now on round ``first`` and all later ones count as dropped, whatever of them is there still."""
    store.transact(lambda txn: txn.put(META, DROPPED_KEY, np.array(first)))


def dropped_names(first: int, n_rounds: int) -> tuple[str, ...]:
    """The names of the dropped rounds.

    >>> dropped_names(2, 4)
    ('turn', 'river')
    """
    return ROUND_NAMES[first:n_rounds]


def require_whole(store: Reads, n_rounds: int, subject: str) -> None:
    """Refuse what takes the strategies of all rounds.

    Raises:
        InputError: some were dropped.
    """
    first = first_dropped(store)
    if first is not None:
        raise dropped_error(f"{subject}: expected the strategies of all rounds", first, n_rounds)


def dropped_error(expected: str, first: int, n_rounds: int) -> InputError:
    """The error that round ``first`` and all later ones are not there; ``expected`` begins its text."""
    names = dropped_names(first, n_rounds)
    return InputError(
        f"{expected}, found {' and '.join(names)} dropped; "
        '"spewy show" and "spewy report" solve dropped chunks where they look, '
        '"spewy solve JOB.toml --again" solves everything from the beginning'
    )


def _bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)
