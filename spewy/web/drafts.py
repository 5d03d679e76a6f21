"""Drafts of jobs: the text of a job file, and the same job as nested dictionaries, which a form on a page shows.

A page sends either the text or the dictionaries, and gets both back with the errors of the job's own validation. Drafts
never name files: a range, or a game that does not come with Spewy, is written into the job itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lockers import open_store
from spewy.batch.job_boards import JobBoards, validated
from spewy.errors import InputError, shown
from spewy.game.gamefile import format_game, load_game, shipped_games
from spewy.game.names import SEAT_NAMES
from spewy.job.job import Job
from spewy.job.write import DOCS, write_job
from spewy.look.folder import stored_job, strategy_folder
from spewy.records.progress import last_target
from spewy.system.textfile import parse_toml, read_text
from spewy.web.folders import Entry

MOST_CHARACTERS = 400_000
"""Largest length of a job's text; two ranges of 1,326 numbers with many digits have some 60,000 characters."""
SUBJECT = re.compile(r"^job[^:]*: ")
"""Matches the subject with which the errors of a job begin, such as ``job: ``."""
KEY = re.compile(r"^[a-z_]+(\.[^\s.,:]+)*(?=[\s,:])")
"""Matches the key at the beginning of an error, such as ``spot.oop``."""


@dataclass(frozen=True)
class Draft:
    """A job that may be invalid.

    Attributes:
        text: the text of the job file.
        data: the same job as nested dictionaries.
    """

    text: str
    data: dict[str, Any]

    @classmethod
    def of_text(cls, text: str) -> Draft:
        """Make a draft from the text of a job file.

        Raises:
            InputError: the text is too long, has too many or too deeply nested keys, or is not TOML.
        """
        data = parse_toml(text, "job", MOST_CHARACTERS)
        try:
            json.dumps(data, allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            raise InputError(
                "job: expected texts, usual numbers, lists and tables, found another value"
            ) from None
        return cls(text, data)

    @classmethod
    def of_data(cls, data: Mapping[str, Any], about: str = "") -> Draft:
        """Make a draft from the dictionaries of a job, and write its text.

        Args:
            data: the job as nested dictionaries.
            about: description of the job, which becomes the comment at the top of the file.
        """
        header = tuple(filter(None, (about, f"Written by spewy serve. {DOCS}")))
        return cls.of_text(write_job(data, header))

    @cached_property
    def boards(self) -> JobBoards | None:
        """The boards of a job on several boards; None for other jobs.

        Raises:
            InputError: the boards are invalid.
        """
        return JobBoards.of(self.data, "")

    @cached_property
    def job(self) -> Job:
        """The job; for several boards, the job on the first board.

        Raises:
            InputError: the job is invalid, or names a file.
        """
        _require_no_files(self.data)
        return validated(self.data, "job") if self.boards is None else self.boards.job(0)

    @property
    def name(self) -> str:
        """Name of the job; empty if there is none."""
        name = self.data.get("name")
        return name if isinstance(name, str) else ""

    def of_first_board(self) -> Draft:
        """Return the draft of the job on its first board, or this draft if it has only one board."""
        if self.boards is None:
            return self
        spot = {key: value for key, value in self.data["spot"].items() if key != "boards"}
        return Draft.of_data(self.data | {"spot": {"board": self.boards.boards[0], **spot}})


def problems(error: InputError) -> list[dict[str, str]]:
    """Split the error of a job into its single errors, each with its key and its message.

    >>> problems(InputError("job: spot.pot: expected a value, found none; job: unknown key spots"))
    [{'key': 'spot.pot', 'message': 'expected a value, found none'}, {'key': '', 'message': 'unknown key spots'}]
    """
    text = str(error)
    match = SUBJECT.match(text)
    subject = match.group() if match else ""
    # Each error may repeat the subject.
    begins = rf"; (?:{re.escape(subject)}|(?=[a-z_]+(?:\.[^\s.,:]+)+: |lock [0-9]+[,:] ))"
    lines = re.split(begins, text.removeprefix(subject)) if subject else [text]
    return [_problem(line) for line in lines]


def draft_of_solve(entry: Entry, *, beside: bool) -> Draft:
    """Return the job of a solve or a batch.

    Args:
        entry: the solve or batch.
        beside: whether to look for a job file beside the folder. If the file describes this job, the draft has the
            file's own text, with its comments; otherwise the text is written anew from the stored job.

    Raises:
        InputError: the lockers are not those of a solve.
        lockers.LockerError: the lockers are damaged.
    """
    solve = entry.path if entry.kind == "solve" else entry.path / entry.boards[0].rpartition("/")[2]
    with open_store(strategy_folder(solve), read_only=True) as store:
        job, target = stored_job(store, solve), last_target(store)
    file = job_file(entry.path)
    if beside and file.is_file():
        try:
            draft = Draft.of_text(read_text(file, f"file {file.name}"))
            if entry.kind == "batch" or draft.job.manifest() == job.manifest():
                return draft
        except InputError:  # the file is another job, or none
            pass
    data = job.model_dump(mode="json", exclude_defaults=True, exclude_unset=False)
    if target is not None:
        data["solve"] = data.get("solve", {}) | {"target": target}
    data["game"] = _game(job)
    if entry.kind == "batch":
        boards = [name.rpartition("/")[2] for name in entry.boards]
        data["spot"] = {key: boards if key == "board" else value for key, value in data["spot"].items()}
        data["spot"] = {"boards": data["spot"].pop("board"), **data["spot"]}
    return Draft.of_data(data)


def job_file(folder: Path) -> Path:
    """Return the path of the job file of a solve that a page has started: it lies beside the solve's folder."""
    return folder.parent / f"{folder.name}.toml"


def _problem(line: str) -> dict[str, str]:
    match = KEY.match(line)
    if match is None or "." not in match.group():
        named = re.match(r"(name|unit|betting tree): |(?:unknown key )?(lock) [0-9]", line)
        key = {"betting tree": "bets"}.get(named[1], named[1] or named[2]) if named else ""
        return {"key": key, "message": line.partition(": ")[2] if key in ("name", "unit") else line}
    rest = line[match.end() :]
    message = rest.removeprefix(":").removeprefix(",").strip()
    if match.group().startswith("bets."):
        message = re.sub(r"^position \d+: ", "", message)  # the message quotes the wrong size
    return {"key": match.group(), "message": message}


def _require_no_files(data: Mapping[str, Any]) -> None:
    """Refuse names of files in a draft: a page may read only the folders of the server.

    Raises:
        InputError: a range is in a file, or the game does not come with Spewy.
    """
    spot, game = data.get("spot"), data.get("game")
    for seat in SEAT_NAMES:
        value = spot.get(seat) if isinstance(spot, dict) else None
        if isinstance(value, dict) or (isinstance(value, str) and value.lstrip().startswith("@")):
            raise InputError(
                f"job: spot.{seat}: expected a range, found {shown(value)}; a page reads no files, so paste the "
                "range itself"
            )
    name = game.get("file") if isinstance(game, dict) else None
    if isinstance(name, str) and name not in shipped_games():
        raise InputError(
            f"job: game.file: expected one of {', '.join(shipped_games())}, found {shown(name)}; a page reads no "
            "files, so paste the text of the game into game.text"
        )


def _game(job: Job) -> dict[str, str]:
    """Return the section ``[game]`` of a job: the name of a game that comes with Spewy, or the text of the game."""
    text = format_game(job.rules)
    for name in shipped_games():
        if format_game(load_game(name)) == text:
            return {"file": name}
    return {"text": text}
