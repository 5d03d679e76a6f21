"""Visits by workers without lockers: a task carries the entries to read, and the answer carries the results.

The process of the solve commits the answers, visit by visit, as if it had made the visits itself. So a worker that is
lost on the way has changed nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lockers import Store
from spewy.chunks.layout import Layout
from spewy.chunks.subgame import Subgames
from spewy.errors import PeerError, shown
from spewy.learn.visit import Improver, VisitSettings
from spewy.records.chunks import Visit, commit_visit, visits
from spewy.records.patched_reads import Snapshot

if TYPE_CHECKING:
    from spewy.learn.engine import Stop

MOST_BYTES = 32 * 2**20
"""Largest number of bytes of entries in a task, unless a single visit reads more."""
ITEMSIZE = 8

Place = tuple[int, int]
"""``(b, r)`` of a chunk."""
Shape = tuple[int, int]
"""Shape ``[slot, row]`` of a player's array."""
Shapes = dict[bytes, tuple[Shape, Shape]]
"""Shapes of both players' arrays, by the chunk's key."""


@dataclass(frozen=True)
class RemoteTask:
    """Visits of one round, and the entries that they read.

    Attributes:
        t: the round, from the layout's root.
        places: the chunks.
        seen: number of visits of each chunk that were counted, and the sweep of the last one.
        read: entries of the lockers.
    """

    t: int
    places: tuple[Place, ...]
    seen: tuple[tuple[int, int], ...]
    read: Snapshot


class RemoteVisits:
    """Packs visits of a solve into tasks, and commits the answers.

    Args:
        parts: of the problem's layout.
        store: the lockers.
        settings: how chunks are solved.
    """

    def __init__(self, parts: Subgames, store: Store, settings: VisitSettings) -> None:
        self._parts, self._layout = parts, parts.layout
        self._store, self._settings = store, settings
        self._known: dict[tuple[int, Place], Shapes] = {}

    def portions(self, t: int, sweep: int, workers: int) -> Iterator[list[Place]]:
        """Yield unvisited chunks of a round in portions, several for each worker."""
        places = [place for place in self._layout.chunks(t) if self._seen(t, place)[1] < sweep]
        most, portion, weight = -(-len(places) // (4 * workers)), list[Place](), 0
        for place in places:
            mine = self._weight(t, place)
            if portion and (len(portion) >= most or weight + mine > MOST_BYTES):
                yield portion
                portion, weight = [], 0
            portion.append(place)
            weight += mine
        if portion:
            yield portion

    def pack(self, t: int, places: Sequence[Place]) -> RemoteTask:
        """Pack visits of some chunks, with all entries that they read."""
        seen = tuple(self._seen(t, place) for place in places)
        own = [key for place in places for key in self._shapes(t, place)]
        arrays = {kind: list(own) for kind in self._settings.kept}
        arrays.setdefault(self._settings.played, []).extend(self._above(t, {b for b, _ in places}))
        payoffs = [self._layout.key(t + 1, *below) for place in places for below in self._below(t, place)]
        return RemoteTask(t, tuple(places), seen, Snapshot(self._store, arrays, payoffs))

    def commit(self, task: RemoteTask, sweep: int, found: Any, who: str) -> int:
        """Write the answer of a task; return the number of visits.

        Raises:
            PeerError: visits of these chunks cannot have left it.
        """
        shapes = [self._shapes(task.t, place) for place in task.places]
        self._require(task, shapes, found, who)
        done = 0
        for (b, r), seen, visit in zip(task.places, task.seen, found, strict=True):
            done += commit_visit(self._layout, self._store, (task.t, b, r), seen, sweep, visit)
        return done

    def _seen(self, t: int, place: Place) -> tuple[int, int]:
        return visits(self._layout, self._store, t, *place)

    def _above(self, t: int, boards: set[int]) -> Iterator[bytes]:
        """Yield the keys of the chunks through which lines lead to some boards of round t."""
        layout = self._layout
        for a in reversed(range(t)):
            boards = {layout.board(a + 1, b).parent for b in boards}
            for b in sorted(boards):
                for r, chunk in enumerate(layout.betting[a].chunks):
                    if len(chunk.exits):
                        yield layout.key(a, b, r)

    def _below(self, t: int, place: Place) -> list[Place]:
        """Return the chunks of the next round whose payoffs a visit reads."""
        layout, (b, r) = self._layout, place
        exits = layout.tree(t, r).exits.tolist()
        if not exits or self._settings.enters_live(layout, t):
            return []
        return [(entry.child, root) for entry in layout.board(t, b).entries for root in exits]

    def _shapes(self, t: int, place: Place) -> Shapes:
        """Return the shapes of all chunks that a visit improves: this chunk, and the live chunks below."""
        found = self._known.get((t, place))
        if found is None:
            layout, (b, r) = self._layout, place
            if self._settings.enters_live(layout, t):
                part = self._parts.of(t, b, r)
                inside = [(i, *inner) for i in range(part.n_rounds) for inner in part.chunks(i)]
                found = {part.key(*inner): _shapes(part, *inner) for inner in inside}
            else:
                found = {layout.key(t, b, r): _shapes(layout, t, b, r)}
            self._known[t, place] = found
        return found

    def _weight(self, t: int, place: Place) -> int:
        """Number of bytes that a visit reads, without the strategies above."""
        layout, settings = self._layout, self._settings
        arrays = sum(x * y for shapes in self._shapes(t, place).values() for x, y in shapes)
        matrices = 0
        if below := self._below(t, place):
            rows = [layout.n_rows(t + 1, board) for board, _ in below]
            matrices = settings.views(layout, t + 1) * sum(x * y for x, y in rows)
        return ITEMSIZE * (len(settings.kept) * arrays + matrices)

    def _require(self, task: RemoteTask, shapes: Sequence[Shapes], found: Any, who: str) -> None:
        """Refuse an answer that cannot result from visits of these chunks."""
        layout, t, settings = self._layout, task.t, self._settings
        subject = (
            f"{who}, {len(task.places):,} visits from chunk {layout.key(t, *task.places[0]).decode()} on"
        )
        if not isinstance(found, list) or len(found) != len(shapes):
            raise PeerError(f"{subject}: expected what each of them leaves, found {shown(found)}")
        for (b, r), mine, visit in zip(task.places, shapes, found, strict=True):
            views = (settings.views(layout, t), *layout.n_rows(t, b)) if t else None
            if not (isinstance(visit, Visit) and _is_whole(visit, mine, set(settings.kept), views)):
                raise PeerError(
                    f"{subject}: expected finite numbers of chunk {layout.key(t, b, r).decode()} in their places, "
                    "found others"
                )


def _shapes(layout: Layout, t: int, b: int, r: int) -> tuple[Shape, Shape]:
    slots, rows = layout.tree(t, r).forest.n_slots, layout.n_rows(t, b)
    return (slots[0], rows[0]), (slots[1], rows[1])


def _is_whole(visit: Visit, shapes: Shapes, kept: set[Any], payoffs: tuple[int, ...] | None) -> bool:
    """Whether a visit's result has finite arrays and payoffs of the expected shapes."""
    try:
        arrays: list[tuple[Any, Any]] = [
            (array, shape)
            for key, mine in shapes.items()
            for pair in visit.arrays[key].values()
            for array, shape in zip(pair, mine, strict=True)
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


_mine = threading.local()


def kept_parts(token: str, layout: Callable[[], Layout]) -> Subgames:
    """Return the subgames of a layout, cached for all portions of a solve in this thread."""
    if getattr(_mine, "token", None) != token:
        _mine.parts, _mine.token = Subgames(layout()), token
    parts: Subgames = _mine.parts
    return parts


def do_remote_task(
    parent: Stop, token: str, layout: Layout, settings: VisitSettings, task: RemoteTask
) -> list[Visit]:
    """Make the visits of a task in a worker; fewer if the parent asks to return early."""
    improver = Improver(layout, task.read, settings, kept_parts(token, lambda: layout))
    found = []
    for (b, r), (number, _) in zip(task.places, task.seen, strict=True):
        if parent.is_set():
            break
        found.append(improver.visit(task.t, b, r, number + 1))
    return found
