"""Delete parts of a solve's data from its folder, to free disk space.

From a solve that walks through all boards, the last rounds can be dropped, with their strategies and regrets. From a
solve with board buckets, the regrets and strategy sums can be dropped; the strategy locker stays, so that bots and the
commands that show strategies still work.

Rounds are dropped in four steps: store the values of the chance leaves above the dropped rounds, mark the rounds as
dropped, delete their arrays, compact the data file. If the process is killed between two steps, the folder is still
consistent, and the next call finishes the work.
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
from spewy.learn.playdown import PlayDown, walked_leaves
from spewy.records.bucket_numbers import drop_numbers
from spewy.records.chunks import Chunks, are_kept, delete_rounds, write_leaves
from spewy.records.progress import dropped_names, first_dropped, mark_dropped, saved_sweeps
from spewy.records.status import STOP
from spewy.records.strategy_locker import FOLDER, StrategyLocker, found_saved
from spewy.run.status_file import LogFile

Progress = Callable[[int, int], None]


def round_number(job: Job, name: str) -> int:
    first, names = job.tree_config.start_round, ROUND_NAMES[: job.rules.num_rounds]
    allowed = names[first + 1 :]
    if name not in allowed:
        if not allowed:
            raise InputError(f"round: no round follows the {names[first]}, with which this solve begins")
        raise InputError(f"round: expected {' or '.join(allowed)}, found {short(name)}")
    return names.index(name)


def drop(job: Job, store: Store, first: int, progress: Progress | None = None) -> tuple[str, ...]:
    """Drop round ``first`` of the game and all later rounds, and return the names of all dropped rounds.

    No other process may have ``store`` open. ``progress`` is called with the number of boards on which the values of
    the chance leaves above the dropped rounds are stored, and with the number of all such boards.
    """
    store.require_alone()
    store.require_sound()
    if not saved_sweeps(store):
        raise InputError(f"{job.name}: no sweep was finished, so there are no strategies to drop")
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
    """Drop the regrets and strategy sums of a solve with board buckets; return the names of the dropped data.

    This process holds the folder's lock, and no other process may have ``store`` open.
    """
    subject = f"{job.name}: only whole games with [boards] can do without their regrets"
    job.require_sampled(subject, "; drop rounds instead")
    if found_saved(store) is not None:
        raise _only_strategies(folder)
    with LogFile(folder) as log:
        store.require_alone()
        store.require_sound()
        _require_play(folder, saved_sweeps(store))
        drop_numbers(store)
        store.compact()
        log.write(STOP, "regrets and sums dropped")
    return ("regrets", "sums")


def require_more_than_strategies(folder: Path) -> None:
    if not holds_store(folder) and holds_store(folder / FOLDER):
        raise _only_strategies(folder)


def _only_strategies(folder: Path) -> InputError:
    return InputError(
        f"folder {path_text(folder)} has only a strategy locker, and no rounds, regrets or strategy sums to drop"
    )


def _keep_leaves(layout: Layout, store: Store, first: int, threads: int, progress: Progress | None) -> None:
    """Compute and store the values at the chance leaves that lead to round ``first``, board by board."""
    t = first - 1 - layout.problem.first_round
    if t >= layout.n_rounds - 1:
        return  # no betting line reaches the round, since the players are all-in before
    played, total = PlayDown(layout, Chunks(layout, store).get), len(layout.boards[t].boards)
    for b in range(total):
        values = walked_leaves(layout.below(t, b), store, played.ranges(t, b), threads)
        write_leaves(layout, store, t, b, values)
        if progress is not None:
            progress(b + 1, total)


def _require_play(folder: Path, deals: int) -> None:
    """Refuse to drop regrets and strategy sums if the strategy locker lacks some of the ``deals`` saved deals."""
    subject = f"folder {path_text(folder)}"
    if not deals:
        raise InputError(f"{subject}: no deal was saved, so there are no regrets and strategy sums to drop")
    if not holds_store(folder / FOLDER):
        raise InputError(
            f"{subject}: the strategy locker is missing, and without the regrets and strategy sums it could not be "
            "made again; solve the job again first, which writes the strategy locker"
        )
    with StrategyLocker.open(folder / FOLDER) as play:
        in_locker = play.saved.deals
    if in_locker != deals:
        raise InputError(
            f"{subject}: the strategy locker has the strategies of {in_locker:,} deals only, of {deals:,} that were "
            "saved; continue the solve first, which writes the rest"
        )
