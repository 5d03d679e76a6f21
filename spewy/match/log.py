"""Logs of matches in the format of the ACPC's dealer; a run appends each hand, and continues from its log.

A log's head says which match it has, and which bots play it: for each seat a line ``# bot NAME {...}`` with the values
that identify the bot (`spewy.match.entrant.Entrant.identity`). Hands of other bots are never added.

Lines that begin with ``#`` are comments. The comments about a hand come before its ``STATE`` line, so a hand is
complete as soon as the log has its ``STATE`` line:

- ``# aivat HAND:VALUE``: AIVAT's estimate of the chips that player 0 won, without luck;
- ``# fault HAND:PLAYER:TEXT``: something that a player did wrong;
- ``# sources HAND:PLAYER:SOURCE TIMES, ...``: number of a player's decisions from each source, such as
  ``stored`` (the stored strategy) or ``re-solved``;
- ``# spent HAND:PLAYER:ROUND SECONDS STAGE SECONDS ..., ...``: each decision's round and time,
  in total and for each stage of its re-solve (`spewy.bot.tally`);
- ``# failure HAND:PLAYER:REASON: TEXT``: a decision or re-solve that failed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spewy.bot.tally import SOURCES, Failure, Tally, parse_spent
from spewy.errors import InputError, one_line, path_text, short, shown
from spewy.game.gamefile import Game
from spewy.match.acpc_text import MOST_TOLD, FinalScore, LoggedHand, parse_logged
from spewy.match.table import Fault, Played
from spewy.system.textfile import exists, read_text, replace_text

_WHOLE = re.compile(r"^STATE:.*\n", re.MULTILINE)
_SCORE = re.compile(r"^SCORE:.*\n", re.MULTILINE)
_COMMENT = re.compile(r"^# (aivat|fault|sources|spent|failure) ([0-9]{1,18}):(.*)$", re.MULTILINE)
_SOURCE = re.compile(rf"({'|'.join(SOURCES)}) ([0-9]{{1,9}})")
_FAILURE = re.compile(r"([A-Za-z0-9_]{1,100}): (.*)")
_WANTED = {
    "fault": "WHAT",
    "sources": "SOURCE TIMES, ... with each source once",
    "spent": "ROUND SECONDS, ... with each stage once",
    "failure": "REASON: WHAT",
}
"""What a comment says about a player, after the number of the hand and the player."""


def read_log(game: Game, lines: Iterable[str], subject: str = "log") -> Iterator[LoggedHand]:
    """Yield the hands of a log; comments and scores are skipped. Error messages begin with ``subject``."""
    for number, line in hand_lines(lines):
        try:
            yield parse_logged(game, line)
        except InputError as error:
            raise InputError(f"{subject}, line {number}: {error}") from None


def hand_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a log that hold hands, each with its number; comments and scores are skipped."""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith(("#", ";", "SCORE:")):
            yield number, text


def bot_line(name: str, identity: Mapping[str, Any]) -> str:
    """Return the line of a log's head that holds a bot's name and identity."""
    return f"# bot {name} {json.dumps(identity)}"


def has_head(text: str, head: str, subject: str) -> bool:
    """Whether a log begins with its head; false for an empty log, and for a log that ends within the head.

    Args:
        head: the head, with a line `bot_line` for each bot that plays now.
    """
    if text.startswith(head):
        return True
    if head.startswith(text):
        return False
    lines = zip(head.split("\n"), [*text.split("\n"), ""], strict=False)
    expected, found = next((line, other) for line, other in lines if line != other)
    bot, before = _read_bot(expected), _read_bot(found)
    if bot is None:
        raise InputError(
            f"{subject} belongs to another match: expected the line {short(expected, MOST_TOLD)!r}, "
            f"found {short(found, MOST_TOLD)!r}; choose another folder"
        )
    if before is None or before[0] != bot[0]:
        raise InputError(
            f"{subject} does not say which bots played its hands, as logs of earlier versions; choose another folder"
        )
    raise InputError(
        f"{subject} has hands of another bot: {changes(bot[0], before[1], bot[1])}; "
        "choose another folder, or the bot and options of the log"
    )


def changes(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Describe how two identities of a bot differ.

    >>> changes("mine", {"bot": "folder", "rounds": 1, "menu": "lean"}, {"bot": "folder", "rounds": 2, "menu": "lean"})
    'mine had rounds 1, and has rounds 2'
    """
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    if "bot" in keys:
        keys = ["bot"]
    was, now_is = (" and ".join(f"{key} {shown(bot.get(key))}" for key in keys) for bot in (before, now))
    return f"{name} had {was}, and has {now_is}"


def _read_bot(line: str) -> tuple[str, dict[str, Any]] | None:
    fields = re.fullmatch(r"# bot (\S+) (\{.*\})", line)
    try:
        return (fields[1], dict(json.loads(fields[2]))) if fields else None
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class RunRead:
    """The content of a run's log.

    Attributes:
        records: the finished hands, in the order of play.
        aivat: for each hand AIVAT's estimate of the chips that player 0 won; None for a hand without an estimate.
        faults: faults of both players, each with the number of its hand.
        tallies: the comments about decisions, each with the number of its hand and the player: the sources of the
            player's decisions in the hand, their times, or a failure.
    """

    records: tuple[LoggedHand, ...]
    aivat: tuple[float | None, ...]
    faults: tuple[tuple[int, Fault], ...]
    tallies: tuple[tuple[int, int, Tally], ...]


@dataclass(frozen=True)
class RunLog:
    """The log of one run of a match.

    Attributes:
        names: names of the bots, by seat.
        bots: identities of the bots (`spewy.match.entrant.Entrant.identity`), by seat.
        aivat: whether the log has AIVAT's estimates.
        seconds: seconds that a bot may take for each answer; None: no limit.
    """

    path: Path
    game: Game
    hands: int
    seed: int
    names: tuple[str, str]
    bots: tuple[Mapping[str, Any], Mapping[str, Any]]
    aivat: bool
    seconds: float | None = None

    def begin(self) -> int:
        """Start a new log, or remove an incomplete hand from the end of a log; return its number of hands."""
        text = self._whole() or self._head
        replace_text(self.path, text)
        return len(_WHOLE.findall(text))

    def add(self, number: int, played: Played, names: tuple[str, str], aivat: float | None) -> None:
        """Append a finished hand to the log, with its comments.

        Args:
            names: names of the bots, in the order of the players of this hand.
            aivat: AIVAT's estimate of the chips that player 0 won; None: there is no estimate.
        """
        lines = [f"# fault {number}:{fault.player}:{one_line(fault.text)}" for fault in played.faults]
        for player, tally in enumerate(played.tallies):
            if tally.sources:
                lines.append(f"# sources {number}:{player}:{_sources_text(tally.sources)}")
            if tally.spent:
                lines.append(f"# spent {number}:{player}:{', '.join(each.text for each in tally.spent)}")
            lines += [
                f"# failure {number}:{player}:{failure.reason}: {one_line(failure.text)}"
                for failure in tally.failures
            ]
        if aivat is not None:
            lines.append(f"# aivat {number}:{aivat:.6g}")
        lines.append(LoggedHand(number, played.hand, names).text)
        self._append("\n".join(lines) + "\n")

    def end(self) -> None:
        """Append the line with the score: the chips that each seat has won."""
        totals = [0, 0]
        for record in self.read().records:
            for value, name in zip(record.hand.net(), record.names, strict=True):
                totals[self.names.index(name)] += value
        self._append(f"{FinalScore((totals[0], totals[1]), self.names).text}\n")

    def count(self) -> int:
        return len(_WHOLE.findall(self._whole()))

    @property
    def ended(self) -> bool:
        """Whether the log has its last line, the score."""
        return self._whole() != "" and _SCORE.search(self._text()) is not None

    def read(self) -> RunRead:
        text, subject = self._whole(), f"log {path_text(self.path)}"
        records = tuple(read_log(self.game, text.splitlines(), subject))
        for number, record in enumerate(records):
            if record.number != number or set(record.names) != set(self.names):
                raise InputError(
                    f"{subject}: expected hand {number} of {' and '.join(self.names)}, "
                    f"found hand {record.number} of {' and '.join(record.names)}"
                )
        estimates = dict[int, float]()
        faults, tallies = list[tuple[int, Fault]](), list[tuple[int, int, Tally]]()
        for kind, number, rest in _COMMENT.findall(text):
            if kind == "aivat":
                estimates[int(number)] = _number(rest, subject)
                continue
            player, colon, content = rest.partition(":")
            tally = Tally() if kind == "fault" else _tally(kind, content)
            if player not in ("0", "1") or not colon or tally is None:
                wanted = f"# {kind} HAND:PLAYER:{_WANTED[kind]}"
                raise InputError(f"{subject}: expected {wanted}, found {shown(rest)}")
            if kind == "fault":
                faults.append((int(number), Fault(int(player), content)))
            else:
                tallies.append((int(number), int(player), tally))
        aivat = tuple(estimates.get(record.number) for record in records)
        return RunRead(records, aivat, tuple(faults), tuple(tallies))

    @property
    def _head(self) -> str:
        luck = "with" if self.aivat else "without"
        limit = "without a limit" if self.seconds is None else f"at most {self.seconds:.12g} s"
        lines = [
            f"# name/game/hands/seed {self.path.stem} {self.game.name} {self.hands} {self.seed}",
            f"# seats {'|'.join(self.names)}, {luck} aivat",
            *(bot_line(name, bot) for name, bot in zip(self.names, self.bots, strict=True)),
            f"# answers {limit}",
        ]
        return "\n".join(lines) + "\n"

    def _text(self) -> str:
        return read_text(self.path, f"log {path_text(self.path)}") if exists(self.path) else ""

    def _whole(self) -> str:
        """Return the log's text up to its last complete hand; empty if the log is missing or has no complete hand."""
        text, head = self._text(), self._head
        if not _WHOLE.search(text) and text.startswith(head.partition("\n")[0]):
            return ""  # a bot that could not be started may be mended
        if not has_head(text, head, f"log {path_text(self.path)}"):
            return ""
        return text[: [match.end() for match in _WHOLE.finditer(text)][-1]]

    def _append(self, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)


def _number(text: str, subject: str) -> float:
    if not re.fullmatch(r"-?[0-9.]{1,20}(e[-+]?[0-9]{1,3})?", text):
        raise InputError(f"{subject}: expected # aivat HAND:VALUE, found {shown(text)}")
    return float(text)


def _sources_text(sources: Counter[str]) -> str:
    return ", ".join(f"{source} {sources[source]}" for source in SOURCES if sources[source])


def _tally(kind: str, text: str) -> Tally | None:
    """Read the text of a comment about decisions; None if the text has another form."""
    if kind == "failure":
        failure = _FAILURE.fullmatch(text)
        return None if failure is None else Tally(failures=[Failure(failure[1], failure[2])])
    parts = text.split(", ")
    if kind == "spent":
        spent = [each for each in map(parse_spent, parts) if each is not None]
        return Tally(spent=spent) if len(spent) == len(parts) else None
    sources = {each[1]: int(each[2]) for each in map(_SOURCE.fullmatch, parts) if each is not None}
    return Tally(Counter(sources)) if len(sources) == len(parts) else None
