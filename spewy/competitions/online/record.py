"""The record of a session at a server, on disk: finished hands, and the state from which a session continues.

``NAME.log``, named after the server's bot, begins with the game and the identities of both players
(`spewy.match.log.bot_line`). It has the hands as `spewy.match.log.read_log` reads them, and comments:

- ``# result HAND:WINNINGS:ESTIMATE``: chips that the client has won, as the server says, and the server's own figure of
  the hand (or ``-``), see `Results.estimates`; this line follows the hand's ``STATE`` line and completes the hand;
- ``# short HAND:TEXT``: a raise below the smallest legal raise. The format of the ACPC's logs lacks such hands, so the
  hand has a line ``# hand HAND:ACTIONS`` in place of the ``STATE`` line; so has a showdown whose cards were not shown;
- ``# fault HAND:TEXT``: a failure of the bot, or an action that the server has played twice;
- ``# lost HAND:TEXT``: a hand that was begun and not finished; the next hand gets the same number.

``session.jsonl`` gets a line for each message: the server's address, the user's name, the session's token, and the hand
that is being played. Only the last line counts. Only the file's owner can read it.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from spewy.competitions.online.text import Answer
from spewy.errors import InputError, one_line, path_text, shown
from spewy.game.gamefile import Game
from spewy.match.acpc_text import LoggedHand
from spewy.match.log import bot_line, has_head, read_log
from spewy.match.score import Mean
from spewy.system.textfile import exists, read_text, replace_text

STATE = "session.jsonl"
MOST_STATE = 1 << 20
"""Number of bytes of ``session.jsonl`` beyond which its old lines are removed at the end of a hand."""
_DONE = re.compile(r"^# (?:result|lost) .*\n", re.MULTILINE)
_HAND = re.compile(r"^(.*)\n# result ([0-9]{1,9}):", re.MULTILINE)
_RESULT = re.compile(
    r"^# result ([0-9]{1,9}):(-?[0-9]{1,6}):(-?[0-9]{1,9}(?:\.[0-9]{1,9})?|-)$", re.MULTILINE
)
_COUNTED = re.compile(r"^# (fault|lost|short) ", re.MULTILINE)


@dataclass(frozen=True)
class Results:
    """The results of a session's finished hands.

    Attributes:
        winnings: chips that the client has won in each hand.
        estimates: the server's own figure of each hand in chips: at Slumbot the *baseline*, an estimate of what the
            server would have won with the client's cards; at GTO Wizard's benchmark AIVAT's estimate of what the client
            has won without luck. None for a hand for which the server has sent none.
        faults: number of times that the bot failed.
        unfinished: number of the hand that is being played; None between two hands.
    """

    winnings: tuple[int, ...] = ()
    estimates: tuple[float | None, ...] = ()
    faults: int = 0
    lost: int = 0
    short: int = 0
    big_blind: int = 100
    unfinished: int | None = None

    @property
    def total(self) -> int:
        return sum(self.winnings)

    @property
    def mean(self) -> Mean:
        """Mean winnings in mbb per hand."""
        return Mean.of(self.winnings, self.big_blind)

    @property
    def estimated(self) -> tuple[float, ...]:
        """The values of ``estimates`` that are not None."""
        return tuple(estimate for estimate in self.estimates if estimate is not None)

    @property
    def estimate(self) -> Mean:
        """Mean of the server's own figures of hands (``estimates``), in mbb per hand."""
        return Mean.of(self.estimated, self.big_blind)

    @property
    def above_estimate(self) -> Mean:
        """Mean of the client's winnings less the server's figure (``estimates``) of the same hand, in mbb per hand."""
        pairs = zip(self.winnings, self.estimates, strict=True)
        return Mean.of([won - each for won, each in pairs if each is not None], self.big_blind)


class Open(BaseModel, extra="forbid", strict=True):
    """A hand that is being played, as it is stored in case of an interruption.

    Attributes:
        fields: the server's last answer.
        sent: the client's action that was sent after that answer; None: no action was sent.
        since: time of the last message, in seconds since the epoch.
    """

    number: int
    fields: dict[str, Any]
    sent: str | None = None
    since: float = Field(default_factory=time.time)
    faults: list[str] = []


class _State(BaseModel, strict=True):
    """A line of ``session.jsonl``."""

    url: str
    user: str
    token: str | None
    hand: Open | None


class Record:
    """The stored session in a folder: writes finished hands and the hand in play, and reads them again.

    Args:
        folder: an existing folder that this process has locked.
        user: the user's name at the server; empty without a login.
        names: names of the client's bot and of the server.
        bot: identity of the client's bot (`spewy.match.entrant.Entrant.identity`), and the seed of its random choices.
        site: name of the server's bot, after which the log is named.

    Attributes:
        token: the session's token; None before the first answer.
        hand: the hand that is being played; None between two hands.
    """

    def __init__(
        self,
        folder: Path,
        game: Game,
        url: str,
        user: str,
        names: tuple[str, str],
        bot: Mapping[str, Any],
        site: str,
    ) -> None:
        self._log, self._state = folder / f"{site}.log", folder / STATE
        self._game, self._url, self._user, self._names = game, url, user, names
        self.token: str | None = None
        self.hand: Open | None = None
        self._size: int | None = None
        self._bots = bot, {"bot": site, "url": url, "user": user}
        self._winnings, self._estimates = list[int](), list[float | None]()
        self._counts = Counter[str]()
        self._begin_log()
        self._read_log()
        if exists(self._state):
            self._restore()

    @property
    def count(self) -> int:
        return len(self._winnings)

    @property
    def results(self) -> Results:
        faults, lost, short = (self._counts[name] for name in ("fault", "lost", "short"))
        chips = tuple(self._winnings), tuple(self._estimates)
        unfinished = None if self.hand is None else self.hand.number
        return Results(*chips, faults, lost, short, self._game.big_blind, unfinished)

    def keep(self, token: str | None, hand: Open | None) -> None:
        """Store the session's token and the hand that is being played.

        Args:
            token: the token; None: keep the earlier token.
            hand: the hand; None: no hand is being played.
        """
        self.token, self.hand = token or self.token, hand
        without_token = {"hand": {"fields": {"token"}}} if hand is not None else None
        state = _State(url=self._url, user=self._user, token=self.token, hand=hand)
        line = json.dumps(state.model_dump(exclude=without_token)) + "\n"
        if self._size is None or (hand is None and self._size > MOST_STATE):
            replace_text(self._state, line, private=True)
            self._size = len(line)
        else:
            with self._state.open("a", encoding="utf-8") as file:
                file.write(line)
            self._size += len(line)

    def finish(self, logged: LoggedHand, answer: Answer, faults: Sequence[str]) -> None:
        """Append a finished hand to the log, with the server's last answer and the failures of the bot."""
        assert answer.winnings is not None
        number, short, estimate = logged.number, answer.played.short, answer.estimate
        self._append("short", number, short)
        self._append("fault", number, faults)
        whole = not short and answer.played.is_shown
        self._write(logged.text if whole else f"# hand {number}:{answer.action}")
        told = "-" if estimate is None else f"{estimate:.6f}".rstrip("0").rstrip(".")
        self._write(f"# result {number}:{answer.winnings}:{told}")
        self._winnings.append(answer.winnings)
        self._estimates.append(estimate)
        self.keep(None, None)

    def lose(self, reason: str) -> None:
        """Record in the log that the current hand was lost, and why; afterwards no hand is in play."""
        self._append("fault", self.count, self.hand.faults if self.hand is not None else ())
        self._append("lost", self.count, [reason])
        self.keep(None, None)

    def hands(self) -> list[LoggedHand]:
        text = read_text(self._log, self._subject)
        return list(read_log(self._game, text.splitlines(), self._subject))

    @property
    def _subject(self) -> str:
        return f"log {path_text(self._log)}"

    def _append(self, kind: str, number: int, texts: Sequence[str]) -> None:
        for text in texts:
            self._write(f"# {kind} {number}:{one_line(text)}")
        self._counts[kind] += len(texts)

    def _write(self, line: str) -> None:
        with self._log.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def _begin_log(self) -> None:
        """Write the head of a new log, or remove an incomplete hand from the log."""
        bots = [bot_line(name, bot) for name, bot in zip(self._names, self._bots, strict=True)]
        head = "\n".join([f"# game {self._game.name}", f"# names {'|'.join(self._names)}", *bots, ""])
        text = read_text(self._log, self._subject) if exists(self._log) else ""
        text = text if has_head(text, head, self._subject) else head
        ends = [match.end() for match in _DONE.finditer(text)]
        replace_text(self._log, text[: ends[-1]] if ends else head)

    def _read_log(self) -> None:
        text = read_text(self._log, self._subject)
        hands = {after: line for line, after in _HAND.findall(text)}
        for number, (logged, won, estimate) in enumerate(_RESULT.findall(text)):
            if int(logged) != number:
                raise InputError(
                    f"{self._subject}: expected the result of hand {number}, found hand {logged}"
                )
            if not self._has_won(hands.get(logged, ""), number, int(won)):
                raise InputError(
                    f"{self._subject}: expected a line with hand {number} and the winnings {won} before its result, "
                    f"found {shown(hands.get(logged, 'none'))}; the log was changed or damaged, use another folder"
                )
            self._winnings.append(int(won))
            self._estimates.append(None if estimate == "-" else _number(estimate))
        self._counts.update(_COUNTED.findall(text))

    def _has_won(self, line: str, number: int, won: int) -> bool:
        """Whether a line of the log is hand ``number``, and says that the client has won ``won`` chips.

        A line ``# hand`` has no winnings, so only its number is compared.
        """
        mine, other = self._names
        ends = f":{won}|{-won}:{mine}|{other}", f":{-won}|{won}:{other}|{mine}"
        return line.startswith(f"# hand {number}:") or (
            line.startswith(f"STATE:{number}:") and line.endswith(ends)
        )

    def _restore(self) -> None:
        subject = f"file {path_text(self._state)}"
        try:
            text = read_text(self._state, subject)
            whole = text[: text.rfind("\n")]  # a last line without an end was cut
            state = _State.model_validate(json.loads(whole.rpartition("\n")[2]))
        except (ValueError, RecursionError):
            raise InputError(
                f"{subject}: expected a session that this command has written; remove the file"
            ) from None
        if (state.url, state.user) != (self._url, self._user):
            raise InputError(
                f"{subject}: its session is at {shown(state.url)} as {shown(state.user)}, and this one is at "
                f"{shown(self._url)} as {shown(self._user)}; use another folder"
            )
        self.token = state.token
        if state.hand is not None and state.hand.number == self.count:  # else the log has the hand already
            self.hand = state.hand


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)
