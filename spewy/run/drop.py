"""Delete dispensable data from a folder, to free disk space.

From a solve that walks through all boards, the last rounds can be dropped, with their strategies and regrets. From a
solve by dealt boards, the regrets and sums can be dropped; the strategy locker stays, and bots and looks continue to
work.

The steps of dropping rounds are in an order in which a kill between any two of them leaves a folder that tells the
truth: the values of the leaves that led there, the mark that the rounds are dropped, the deletions, the compaction. The
same command then goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lockers import Store, holds_store
from spewy.chunks.layout import Layout
from spewy.chunks.problem import by_hand
from spewy.errors import InputError, path_text, short
from spewy.game.names import ROUND_NAMES
from spewy.job.job import Job
from spewy.learn.playdown import PlayDown
from spewy.learn.walks import walked_leaves
from spewy.records.bucket_numbers import drop_numbers
from spewy.records.chunks import Chunks, delete_rounds
from spewy.records.leaves import are_kept, write_leaves
from spewy.records.progress import dropped_names, first_dropped, mark_dropped, saved_sweeps
from spewy.records.status import STOP
from spewy.records.strategy_locker import FOLDER, StrategyLocker
from spewy.run.log import LogFile

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
        raise InputError(f"round: expected one after the root's, {wanted}, found {short(name)}")
    return names.index(name)


def drop(job: Job, store: Store, first: int, progress: Progress | None = None) -> tuple[str, ...]:
    """Drop round ``first`` of the game and all later rounds, and return the names of all dropped rounds.

    Args:
        job: the job that the store was made for.
        store: nobody else may have it open.
        first: a round after the root's.
        progress: called with the boards whose leaf values are stored, and the boards in all.

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


def drop_regrets(job: Job, folder: Path, store: Store) -> tuple[str, ...]:
    """Drop regrets and sums of a solve, and return the names of the dropped data.

    Args:
        job: the job that the store was made for.
        folder: folder of the solve; this process holds the folder's lock.
        store: the solve's lockers, which no other process may have open.

    Raises:
        InputError: the job does not deal boards, or the strategy locker lacks some deals.
        lockers.LockerError: another process has the store open, or what is there is damaged.
    """
    if not job.sampled:
        raise InputError(
            f"{job.name}: expected a whole game with [boards], whose regrets can be dropped; found another solve"
        )
    with LogFile(folder) as log:
        store.require_alone()
        store.require_sound()
        _require_play(folder, saved_sweeps(store))
        drop_numbers(store)
        store.compact()
        log.write(STOP, "regrets and sums dropped")
    return ("regrets", "sums")


def _keep_leaves(layout: Layout, store: Store, first: int, threads: int, progress: Progress | None) -> None:
    """Store the values of dropped rounds at the chance leaves above them, board by board."""
    t = first - 1 - layout.problem.first_round
    if t >= layout.n_rounds - 1:
        return  # no line reaches the round: everybody is all-in before
    played, total = PlayDown(layout, Chunks(layout, store).get), len(layout.boards[t].boards)
    for b in range(total):
        values = walked_leaves(layout.below(t, b), store, played.ranges(t, b), threads)
        write_leaves(layout, store, t, b, values)
        if progress is not None:
            progress(b + 1, total)


def _require_play(folder: Path, deals: int) -> None:
    """Refuse to drop regrets and sums if the strategy locker lacks their strategies."""
    there = 0
    if holds_store(folder / FOLDER):
        with StrategyLocker.open(folder / FOLDER) as play:
            there = play.saved.deals
    if not deals or there != deals:
        raise InputError(
            f"folder {path_text(folder)}: expected a strategy locker with the strategies of all deals, "
            f"found {there:,} of {deals:,} deals in it; spewy solve goes on and saves the rest"
        )
