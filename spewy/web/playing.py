"""Routes for playing against a solved strategy, and for training decisions of solved spots.

A page starts a session with the id of a solve or a batch, and names the session in later requests.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from starlette.routing import Route

import spewy
from spewy.errors import InputError, shown
from spewy.game.names import SEAT_NAMES
from spewy.match.contest import GameContest
from spewy.match.sitting import Sitting
from spewy.match.spot_contest import SpotContest
from spewy.match.spots import Spot, Spots, holds_spots
from spewy.match.table import MOST_SEED
from spewy.match.trainer import Trainer
from spewy.web.answers import Parameters, get, optional, post, text
from spewy.web.folders import Entry, Folders
from spewy.web.sessions import Sessions
from spewy.web.unchanged import Unchanged


@dataclass(frozen=True)
class Seated:
    """A person who plays hands against a solved strategy.

    Attributes:
        entry: the solve or batch.
        sitting: the person's hands.
        contest: the game that the person plays.
        unchanged: checks that the solves are still those with which the person began.
    """

    entry: Entry
    sitting: Sitting
    contest: SpotContest | GameContest
    unchanged: Unchanged

    def to_json(self) -> dict[str, Any]:
        """Return the state of the hand as a JSON object: `Sitting.to_json`, and facts about the contest.

        ``look`` is the id of the solve whose decisions a page can show, or null if lines may leave the solved tree.
        """
        if isinstance(self.contest, SpotContest):
            facts: dict[str, Any] = {"kind": "spot", "look": _look_id(self.entry, self.contest.spot)}
        else:
            facts = {"kind": "game", "look": self.entry.id if self.contest.game.limit else None}
        return self.sitting.to_json() | facts | {"folder": self.entry.id}


@dataclass(frozen=True)
class Training:
    """A person who answers the questions of a trainer.

    Attributes:
        entry: the solve or batch.
        trainer: asks the questions.
        unchanged: checks that the solves are still those with which the person began.
    """

    entry: Entry
    trainer: Trainer
    unchanged: Unchanged

    def to_json(self) -> dict[str, Any]:
        """Return the question that waits for an answer, and the score, as a JSON object."""
        question = self.trainer.question
        return {
            "folder": self.entry.id,
            "look": _look_id(self.entry, self.trainer.spot),
            "question": None if question is None else question.to_json(),
            "score": self.trainer.score.to_json(),
        }


class Playing:
    """Answers the requests of people who play or train, each in a session.

    Args:
        folders: the folders of the server.
    """

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._seated, self._training = Sessions[Seated](), Sessions[Training]()

    @property
    def routes(self) -> list[Route]:
        """The routes of playing and training."""
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
        """Begin a sitting of a person at a solve or batch, and deal its first hand."""
        entry, seat, seed = self._chosen(parameters)
        unchanged = Unchanged(entry)
        with ExitStack() as opened:
            contest: SpotContest | GameContest
            if entry.kind == "batch" or holds_spots(entry.path):
                spots = opened.enter_context(Spots(entry.path))
                unchanged.watch(lambda: spots.opened)
                contest, cool = SpotContest(spots, seed), spots.forget
            else:
                bot = opened.enter_context(closing(spewy.open_bot(entry.path)))
                unchanged.watch(lambda: (entry.path,))
                contest, cool = GameContest(bot, seed), bot.forget
            seated = Seated(entry, Sitting(contest, seat=seat), contest, unchanged)
            _deal(seated.sitting)
            return {"session": self._seated.add(seated, opened.pop_all().close, cool), **seated.to_json()}

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
        """Begin the next hand of a sitting."""
        return self._seen(parameters, lambda seated: _deal(seated.sitting))

    def _seen(self, parameters: Parameters, change: Callable[[Seated], None]) -> dict[str, Any]:
        """Apply ``change`` to the sitting that the parameters name, and return its new state."""
        name = text(parameters, "session")
        with self._seated.use(name) as seated:
            seated.unchanged.require()
            change(seated)
            return {"session": name, **seated.to_json()}

    def _train(self, parameters: Parameters) -> dict[str, Any]:
        """Begin a training with decisions of a solve or batch, and ask its first question."""
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
        """Score a person's answer to the question of a trainer; return the scored answer and the person's score."""
        name, action = text(parameters, "session"), text(parameters, "action")
        with self._training.use(name) as training:
            training.unchanged.require()
            answer = training.trainer.answer(action)
            return {"session": name, "answer": answer.to_json(), **training.to_json()}

    def _ask(self, parameters: Parameters) -> dict[str, Any]:
        """Let a trainer ask its next question; return the question and the person's score."""
        name = text(parameters, "session")
        with self._training.use(name) as training:
            training.unchanged.require()
            training.trainer.deal()
            return {"session": name, **training.to_json()}

    def _chosen(self, parameters: Parameters) -> tuple[Entry, int | None, int]:
        """Return the solve or batch, the seat and the seed of a new session."""
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
    """Return the id of a spot's solve: the id of the entry, or that of one of its boards if the entry is a batch."""
    return entry.id if entry.kind == "solve" else f"{entry.id}/{spot.folder.name}"
