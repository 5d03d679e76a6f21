"""Routes for playing against a solved strategy, and for training decisions of solved spots.

A page starts a session with the id of a solve or a batch, and names the session in later requests. Sessions are kept in
memory, and forgotten when they are idle.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from starlette.routing import Route

from lockers import open_store
from spewy.errors import InputError, shown
from spewy.game.names import SEAT_NAMES
from spewy.look.folder import strategy_folder
from spewy.match.contest import Contest, open_contest
from spewy.match.sitting import Sitting
from spewy.match.spots import Spot, Spots, holds_spots
from spewy.match.table import MOST_SEED
from spewy.match.trainer import Trainer
from spewy.web.answers import Parameters, get, optional, post, text
from spewy.web.folders import Entry, Folders
from spewy.web.readers import identity

T = TypeVar("T")
MOST_SESSIONS = 24
"""Largest number of sessions; a new one replaces the session that was used least recently."""
WARM = 2
"""Number of most recently used sessions that keep computed results in memory."""
IDLE_SECONDS = 3600.0
"""Seconds without a request after which a session is forgotten."""


@dataclass(frozen=True)
class Seated:
    """A person who plays hands against a solved strategy.

    Attributes:
        unchanged: checks that the solves are still those with which the person began.
    """

    entry: Entry
    sitting: Sitting
    contest: Contest
    unchanged: Unchanged

    def to_json(self) -> dict[str, Any]:
        """Return `Sitting.to_json`, and the ``kind``, ``folder`` and ``look`` of the solve.

        ``look`` is the id of the solve whose decisions a page can show, or null if lines may leave the solved tree.
        """
        spot, is_limit = self.contest.spot, self.contest.bot.game.limit
        look = _look_id(self.entry, spot) if spot is not None else self.entry.id if is_limit else None
        facts = {"kind": "game" if spot is None else "spot", "look": look, "folder": self.entry.id}
        return self.sitting.to_json() | facts


@dataclass(frozen=True)
class Training:
    """A person who answers the questions of a trainer.

    Attributes:
        unchanged: checks that the solves are still those with which the person began.
    """

    entry: Entry
    trainer: Trainer
    unchanged: Unchanged

    def to_json(self) -> dict[str, Any]:
        question = self.trainer.question
        return {
            "folder": self.entry.id,
            "look": _look_id(self.entry, self.trainer.spot),
            "question": None if question is None else question.to_json(),
            "score": self.trainer.score.to_json(),
        }


class Playing:
    """Answers the requests of people who play or train, each in a session."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._seated, self._training = Sessions[Seated](), Sessions[Training]()

    @property
    def routes(self) -> list[Route]:
        return [
            post("/api/play/new", self._sit),
            post("/api/play/act", self._act),
            post("/api/play/next", self._deal),
            get("/api/play/state", lambda parameters: self._seen(parameters, lambda seated: None)),
            post("/api/train/new", self._train),
            post("/api/train/answer", self._answer),
            post("/api/train/next", self._ask),
        ]

    def _sit(self, parameters: Parameters) -> dict[str, Any]:
        entry, seat, seed = self._chosen(parameters)
        unchanged = Unchanged(entry)
        with ExitStack() as opened:
            contest = opened.enter_context(open_contest(entry.path, seed))
            unchanged.watch(lambda: contest.opened or (entry.path,))
            seated = Seated(entry, Sitting(contest, seat=seat), contest, unchanged)
            _deal(seated.sitting)
            name = self._seated.add(seated, opened.pop_all().close, contest.forget)
            return {"session": name, **seated.to_json()}

    def _act(self, parameters: Parameters) -> dict[str, Any]:
        """Play a person's action, and all that follows up to the person's next decision or the end of the hand.

        The parameter ``action`` is an ACPC action; the parameter ``words`` is a text such as "raise 300".
        """
        words = optional(parameters, "words")
        action = text(parameters, "action", None if words is None else "")

        def play(seated: Seated) -> None:
            if words is None:
                seated.sitting.act(action)
            else:
                seated.sitting.say(words)
            list(seated.sitting.play_on())

        return self._seen(parameters, play)

    def _deal(self, parameters: Parameters) -> dict[str, Any]:
        return self._seen(parameters, lambda seated: _deal(seated.sitting))

    def _seen(self, parameters: Parameters, change: Callable[[Seated], None]) -> dict[str, Any]:
        name = text(parameters, "session")
        with self._seated.use(name) as seated:
            seated.unchanged.require()
            change(seated)
            return {"session": name, **seated.to_json()}

    def _train(self, parameters: Parameters) -> dict[str, Any]:
        entry, seat, seed = self._chosen(parameters)
        unchanged = Unchanged(entry)
        if entry.kind == "solve" and not holds_spots(entry.path):
            raise InputError(
                f"{entry.id} is a whole game; the trainer needs a solved spot or a batch of spots"
            )
        with ExitStack() as opened:
            spots = opened.enter_context(Spots(entry.path))
            unchanged.watch(lambda: spots.opened)
            training = Training(entry, Trainer(spots, seat, seed), unchanged)
            training.trainer.deal()
            name = self._training.add(training, opened.pop_all().close, spots.forget)
            return {"session": name, **training.to_json()}

    def _answer(self, parameters: Parameters) -> dict[str, Any]:
        name, action = text(parameters, "session"), text(parameters, "action")
        with self._training.use(name) as training:
            training.unchanged.require()
            answer = training.trainer.answer(action)
            return {"session": name, "answer": answer.to_json(), **training.to_json()}

    def _ask(self, parameters: Parameters) -> dict[str, Any]:
        name = text(parameters, "session")
        with self._training.use(name) as training:
            training.unchanged.require()
            training.trainer.deal()
            return {"session": name, **training.to_json()}

    def _chosen(self, parameters: Parameters) -> tuple[Entry, int | None, int]:
        entry = self._folders.entry(text(parameters, "folder"))
        seat = optional(parameters, "seat")
        if seat not in (None, *SEAT_NAMES):
            raise InputError(f"parameter seat: expected oop, ip or nothing, found {shown(seat)}")
        seed = parameters.get("seed", secrets.randbits(32))
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MOST_SEED:
            raise InputError(f"parameter seed: expected 0 to {MOST_SEED}, found {shown(seed)}")
        return entry, None if seat is None else SEAT_NAMES.index(seat), seed


def _deal(sitting: Sitting) -> None:
    sitting.deal()
    list(sitting.play_on())


def _look_id(entry: Entry, spot: Spot) -> str:
    return entry.id if entry.kind == "solve" else f"{entry.id}/{spot.folder.name}"


class Unchanged:
    """Checks the folders of a session before each of its requests.

    A session keeps its solves open. Without the check it would show the numbers of a solve that was replaced, and
    reading a data file that was cut off would end the server. Create the object before the solves of ``entry`` are
    opened.
    """

    def __init__(self, entry: Entry) -> None:
        self._name = entry.id
        self._identities = {folder: identity(folder) for folder in entry.solves}
        self._opened: Callable[[], Iterable[Path]] = tuple

    def watch(self, opened: Callable[[], Iterable[Path]]) -> None:
        """From now on, also check the open data files in the folders that ``opened`` returns."""
        self._opened = opened
        self.require()

    def require(self) -> None:
        """Check that no solve was replaced or deleted, and that no open data file was cut off."""
        if any(identity(folder) != before for folder, before in self._identities.items()):
            raise InputError(
                f"folder {shown(self._name)} was replaced or deleted since you began; start again"
            )
        for folder in self._opened():
            open_store(strategy_folder(folder), read_only=True).close()


@dataclass
class _Session(Generic[T]):
    """A person's sitting or training on the server, and functions that release its resources.

    Attributes:
        close: releases the files of the session.
        cool: releases the session's computed results, which are computed again if needed.
        lock: held by the thread that answers a request of the session.
    """

    content: T
    close: Callable[[], None]
    cool: Callable[[], None]
    used: float
    warm: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)
    closed: bool = False


class Sessions(Generic[T]):
    """Keeps sessions by id, and forgets sessions that are idle or too many; ``clock`` returns the time in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, _Session[T]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._sessions)

    def add(self, content: T, close: Callable[[], None], cool: Callable[[], None] = lambda: None) -> str:
        """Add a session, and return its id.

        ``close`` releases the files of the session, once it is forgotten; ``cool`` releases its computed results, once
        `WARM` other sessions were used after it.
        """
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._sessions[name] = _Session(content, close, cool, self._clock())
            old, unused = self._outdated(), self._unused()
        _close(old)
        _cool(unused)
        return name

    @contextmanager
    def use(self, name: str) -> Iterator[T]:
        """Yield the content of a session; threads that use one session wait for each other."""
        with self._lock:
            old = self._outdated()
            session = self._sessions.get(name)
            if session is not None:
                session.used, session.warm = self._clock(), True
                self._sessions.move_to_end(name)
            unused = self._unused()
        _close(old)
        _cool(unused)
        if session is None:
            raise _forgotten(name)
        with session.lock:
            if session.closed:
                raise _forgotten(name)
            yield session.content

    def close(self) -> None:
        with self._lock:
            old, self._sessions = list(self._sessions.values()), OrderedDict()
        _close(old)

    def _unused(self) -> list[_Session[T]]:
        """Return the sessions that must release their computed results; the caller holds the lock."""
        return [session for session in list(self._sessions.values())[:-WARM] if session.warm]

    def _outdated(self) -> list[_Session[T]]:
        """Remove the sessions that are idle or too many, and return them; the caller holds the lock."""
        limit, old = self._clock() - IDLE_SECONDS, []
        while self._sessions:
            oldest = next(iter(self._sessions.values()))
            if len(self._sessions) <= MOST_SESSIONS and oldest.used >= limit:
                break
            old.append(self._sessions.popitem(last=False)[1])
        return old


def _forgotten(name: str) -> InputError:
    return InputError(
        f"session {shown(name)} has ended: it was idle for an hour, or the server was restarted; start again"
    )


def _cool(sessions: list[_Session[T]]) -> None:
    """Let sessions release memory, except those that a thread uses now."""
    for session in sessions:
        if session.lock.acquire(blocking=False):
            try:
                if not session.closed:
                    session.cool()
                session.warm = False
            finally:
                session.lock.release()


def _close(sessions: list[_Session[T]]) -> None:
    for session in sessions:
        with session.lock:
            session.closed = True
            session.close()
