"""Drop the last rounds of a solve: their strategies and regrets go, and the disk gets its room back.

The steps are in an order in which a kill between any two of them leaves a folder that tells the truth: the values of
the leaves that led there, the mark that the rounds are dropped, the deletions, the compaction. The same command then
goes on.
"""

from __future__ import annotations

from collections.abc import Callable

from lockers import Store
from spewy.chunks.layout import Layout
from spewy.chunks.problem import by_hand
from spewy.errors import InputError, short
from spewy.game.names import ROUND_NAMES
from spewy.job.job import Job
from spewy.learn.playdown import PlayDown
from spewy.learn.walks import walked_leaves
from spewy.records.chunks import Chunks, delete_rounds
from spewy.records.leaves import are_kept, write_leaves
from spewy.records.progress import dropped_names, first_dropped, mark_dropped, saved_sweeps

Progress = Callable[[int, int], None]


def round_number(job: Job, name: str) -> int:
    """The number of a round that may be dropped.

    Raises:
        InputError: the game has no such round, or it is not after the root's.
    """
    first, names = job.tree_config.start_round, ROUND_NAMES[: job.rules.num_rounds]
    allowed = names[first + 1 :]
    if name not in allowed:
        wanted = " or ".join(allowed) or f"none, for nothing follows the {names[first]}"
        raise InputError(f"--round: expected a round after the root's, {wanted}, found {short(name)}")
    return names.index(name)


def drop(job: Job, store: Store, first: int, progress: Progress | None = None) -> tuple[str, ...]:
    """Drop round ``first`` of the game and all later ones; the names of all that are dropped now.

    Args:
        job: what the store was made for.
        store: nobody else may have it open.
        first: a round after the root's.
        progress: told of each board whose leaves have their values, and of how many there are.

    Raises:
        InputError: no sweep was finished.
        lockers.LockerError: another process has the store open.
    """
    store.require_alone()
    store.require_sound()
    if not saved_sweeps(store):
        raise InputError(f"{job.name}: expected a solve with at least one finished sweep, found none")
    before = first_dropped(store)
    if before is None or first < before:
        if not are_kept(store, first - 1):
            _keep_leaves(Layout.of(by_hand(job.problem, before)), store, first, job.solve.threads, progress)
        store.flush()
        mark_dropped(store, first)
    else:
        first = before
    delete_rounds(store, first, job.rules.num_rounds)
    store.flush()
    store.compact()
    return dropped_names(first, job.rules.num_rounds)


def _keep_leaves(layout: Layout, store: Store, first: int, threads: int, progress: Progress | None) -> None:
    """Store what the dropped rounds' strategies are worth at each chunk that leads there, board by board."""
    t = first - 1 - layout.problem.first_round
    if t >= layout.n_rounds - 1:
        return  # no line reaches the round: everybody is all-in before
    played, total = PlayDown(layout, Chunks(layout, store).get), len(layout.boards[t].boards)
    for b in range(total):
        values = walked_leaves(layout.below(t, b), store, played.ranges(t, b), threads)
        write_leaves(layout, store, t, b, values)
        if progress is not None:
            progress(b + 1, total)
