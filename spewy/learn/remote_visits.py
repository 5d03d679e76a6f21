"""Let a cluster's workers make visits, although they cannot open the lockers.

A task has all arrays that its visits read; the answer has all arrays to write. The solve's own process writes the
answers to the lockers, visit by visit, as if it had made the visits itself. So a worker that vanishes during a task has
changed nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lockers import Store
from spewy.chunks.layout import Layout, Subgames
from spewy.errors import PeerError, shown
from spewy.learn.visit import Improver, VisitSettings
from spewy.records.chunks import Snapshot, Visit, commit_visit, visits

if TYPE_CHECKING:
    from spewy.learn.engine import Stop

MOST_BYTES = 32 * 2**20
"""Largest size in bytes of the arrays in a task, unless a single visit reads more."""
ITEMSIZE = 8
"""Bytes of a number in an array."""

Place = tuple[int, int]
"""A chunk of a round: the number of its board, and the number of the line that enters it."""
Shape = tuple[int, int]
"""Shape of a player's array: number of (decision, action) pairs, number of rows."""
Shapes = dict[bytes, tuple[Shape, Shape]]
"""Shapes of both players' arrays, by the chunk's key."""


@dataclass(frozen=True)
class RemoteTask:
    """Visits of some chunks of a round, with all arrays that the visits read.

    Attributes:
        t: number of the round, from 0 at the layout's root.
        seen: for each chunk, the number of its earlier visits, and the sweep of the last visit.
        read: a copy of the arrays that the visits read from the lockers.
    """

    t: int
    places: tuple[Place, ...]
    seen: tuple[tuple[int, int], ...]
    read: Snapshot


class RemoteVisits:
    """Makes tasks for a cluster's workers, and writes their answers to the lockers."""

    def __init__(self, parts: Subgames, store: Store, settings: VisitSettings) -> None:
        self._parts, self._layout = parts, parts.layout
        self._store, self._settings = store, settings
        self._known: dict[tuple[int, Place], Shapes] = {}

    def portions(self, t: int, sweep: int, workers: int) -> Iterator[list[Place]]:
        """Divide the chunks of round t that a sweep has not visited yet into lists, one for each task.

        There are about four tasks for each worker, more if the arrays of a task would exceed 32 MiB.
        """
        places = [place for place in self._layout.chunks(t) if self._seen(t, place)[1] < sweep]
        most, portion, size = -(-len(places) // (4 * workers)), list[Place](), 0
        for place in places:
            n_bytes = self._weight(t, place)
            if portion and (len(portion) >= most or size + n_bytes > MOST_BYTES):
                yield portion
                portion, size = [], 0
            portion.append(place)
            size += n_bytes
        if portion:
            yield portion

    def pack(self, t: int, places: Sequence[Place]) -> RemoteTask:
        seen = tuple(self._seen(t, place) for place in places)
        own = [key for place in places for key in self._shapes(t, place)]
        arrays = {kind: list(own) for kind in self._settings.kept}
        arrays.setdefault(self._settings.played, []).extend(self._above(t, {b for b, _ in places}))
        payoffs = [self._layout.key(t + 1, *below) for place in places for below in self._below(t, place)]
        return RemoteTask(t, tuple(places), seen, Snapshot(self._store, arrays, payoffs))

    def commit(self, task: RemoteTask, sweep: int, answer: Any, who: str) -> int:
        """Write an answer of the worker ``who``; return the number of written visits.

        Other processes may have made some of the visits before.
        """
        shapes = [self._shapes(task.t, place) for place in task.places]
        self._require(task, shapes, answer, who)
        done = 0
        for (b, r), seen, visit in zip(task.places, task.seen, answer, strict=True):
            done += commit_visit(self._layout, self._store, (task.t, b, r), seen, sweep, visit)
        return done

    def _seen(self, t: int, place: Place) -> tuple[int, int]:
        return visits(self._layout, self._store, t, *place)

    def _above(self, t: int, boards: set[int]) -> Iterator[bytes]:
        """Yield the keys of all chunks of earlier rounds from which play can reach some given boards of round t."""
        layout = self._layout
        for a in reversed(range(t)):
            boards = {layout.board(a + 1, b).parent for b in boards}
            for b in sorted(boards):
                for r, chunk in enumerate(layout.betting[a].chunks):
                    if len(chunk.exits):
                        yield layout.key(a, b, r)

    def _below(self, t: int, place: Place) -> list[Place]:
        """Return the chunks of the next round whose payoff matrices are read when a chunk of round t is visited."""
        layout, (b, r) = self._layout, place
        exits = layout.tree(t, r).exits.tolist()
        if not exits or self._settings.enters_live(layout, t):
            return []
        return [(entry.child, root) for entry in layout.board(t, b).entries for root in exits]

    def _shapes(self, t: int, place: Place) -> Shapes:
        """Return the shapes of the chunk's own arrays, and of those of the live chunks below it."""
        shapes = self._known.get((t, place))
        if shapes is None:
            layout, (b, r) = self._layout, place
            if self._settings.enters_live(layout, t):
                subgame = self._parts.of(t, b, r)
                inside = [(i, *inner) for i in range(subgame.n_rounds) for inner in subgame.chunks(i)]
                shapes = {subgame.key(*inner): _shapes(subgame, *inner) for inner in inside}
            else:
                shapes = {layout.key(t, b, r): _shapes(layout, t, b, r)}
            self._known[t, place] = shapes
        return shapes

    def _weight(self, t: int, place: Place) -> int:
        """Compute how many bytes a visit of a chunk reads, not counting strategies of earlier rounds."""
        layout, settings = self._layout, self._settings
        arrays = sum(x * y for shapes in self._shapes(t, place).values() for x, y in shapes)
        matrices = 0
        if below := self._below(t, place):
            rows = [layout.n_rows(t + 1, board) for board, _ in below]
            matrices = settings.views(layout, t + 1) * sum(x * y for x, y in rows)
        return ITEMSIZE * (len(settings.kept) * arrays + matrices)

    def _require(self, task: RemoteTask, shapes: Sequence[Shapes], answer: Any, who: str) -> None:
        layout, t, settings = self._layout, task.t, self._settings
        subject = (
            f"{who}, {len(task.places):,} visits from chunk {layout.key(t, *task.places[0]).decode()} on"
        )
        if not isinstance(answer, list) or len(answer) != len(shapes):
            raise PeerError(
                f"{subject}: expected a list with the result of each visit, found {shown(answer)}"
            )
        for (b, r), of_chunk, visit in zip(task.places, shapes, answer, strict=True):
            payoffs = (settings.views(layout, t), *layout.n_rows(t, b)) if t else None
            if not (isinstance(visit, Visit) and _is_whole(visit, of_chunk, set(settings.kept), payoffs)):
                raise PeerError(
                    f"{subject}: expected all arrays of chunk {layout.key(t, b, r).decode()}, with finite numbers, "
                    "found a missing array, another shape, or numbers that are not finite"
                )


def _shapes(layout: Layout, t: int, b: int, r: int) -> tuple[Shape, Shape]:
    slots, rows = layout.tree(t, r).forest.n_slots, layout.n_rows(t, b)
    return (slots[0], rows[0]), (slots[1], rows[1])


def _is_whole(visit: Visit, shapes: Shapes, kept: set[Any], payoffs: tuple[int, ...] | None) -> bool:
    try:
        arrays: list[tuple[Any, Any]] = [
            (array, shape)
            for key, of_chunk in shapes.items()
            for pair in visit.arrays[key].values()
            for array, shape in zip(pair, of_chunk, strict=True)
        ]
        if visit.payoffs is not None or payoffs is not None:
            arrays.append((visit.payoffs, payoffs))
        return (
            visit.arrays.keys() == shapes.keys()
            and all(kinds.keys() == kept for kinds in visit.arrays.values())
            and all(
                isinstance(array, np.ndarray)
                and array.dtype == np.float64
                and array.shape == shape
                and bool(np.isfinite(array).all())
                for array, shape in arrays
            )
        )
    except (AttributeError, KeyError, TypeError, ValueError):  # it has another form
        return False


_cache = threading.local()


def kept_parts(token: str, layout: Callable[[], Layout]) -> Subgames:
    """Return this thread's cache of subgames for the solve ``token``; a thread keeps only its last solve's cache."""
    if getattr(_cache, "token", None) != token:
        _cache.parts, _cache.token = Subgames(layout()), token
    parts: Subgames = _cache.parts
    return parts


def do_remote_task(
    parent: Stop, token: str, layout: Layout, settings: VisitSettings, task: RemoteTask
) -> list[Visit]:
    """Make the visits of a task in a worker, and return their results; ``parent`` can end the task early."""
    improver = Improver(layout, task.read, settings, kept_parts(token, lambda: layout))
    results = []
    for (b, r), (number, _) in zip(task.places, task.seen, strict=True):
        if parent.is_set():
            break
        results.append(improver.visit(task.t, b, r, number + 1))
    return results
