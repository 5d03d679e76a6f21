"""Play a session at Slumbot's server, hand after hand, with one request at a time.

Each message is stored before the next one is sent, so a session continues after an interruption with the hand in which
it was interrupted. If it is unknown whether an action has reached the server, the client sends the action again. The
server's answer lists the actions of the hand before the client's last action. If this list differs from the actions
that the client knows, the log says that the client may have acted twice in the hand.

The folder of a session has the log of finished hands, and the state from which an interrupted session continues:

``slumbot.log`` begins with the game and the identities of both players (`spewy.match.log.bot_line`). It has the
hands as `spewy.match.log.read_log` reads them, and comments:

- ``# result HAND:WINNINGS:BASELINE``: chips that the client has won, as the server says, and the server's baseline (or
  ``-``); this line follows the hand's ``STATE`` line and completes the hand;
- ``# short HAND:TEXT``: a raise below the smallest legal raise. The format of the ACPC's logs lacks such hands, so the
  hand has a line ``# hand HAND:ACTIONS`` in place of the ``STATE`` line;
- ``# fault HAND:TEXT``: a failure of the bot;
- ``# lost HAND:TEXT``: a hand that was begun and not finished; the next hand gets the same number.

``session.jsonl`` gets a line for each message: the server's address, the user's name, the session's token, and the hand
that is being played. Only the last line counts. Only the file's owner can read it.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from spewy.bot.bot import Bot
from spewy.competitions.slumbot.text import Answer, parse_answer, parse_token
from spewy.competitions.slumbot.wire import RefusedError, Reply, Server
from spewy.errors import InputError, PeerError, error_line, one_line, path_text, shown
from spewy.game.gamefile import Game
from spewy.match.acpc_text import LoggedHand, read_action
from spewy.match.log import bot_line, has_head, read_log
from spewy.match.score import Mean
from spewy.match.table import hand_seed
from spewy.system.textfile import exists, read_text, replace_text

LOG, STATE = "slumbot.log", "session.jsonl"
MOST_STATE = 1 << 20
"""Number of bytes of ``session.jsonl`` beyond which its old lines are removed at the end of a hand."""
IDLE = 24 * 3600
"""Seconds after which the server forgets a hand in which nobody acts."""
_DONE = re.compile(r"^# (?:result|lost) .*\n", re.MULTILINE)
_HAND = re.compile(r"^(.*)\n# result ([0-9]{1,9}):", re.MULTILINE)
_RESULT = re.compile(r"^# result ([0-9]{1,9}):(-?[0-9]{1,6}):(-?[0-9]{1,9}|-)$", re.MULTILINE)
_COUNTED = re.compile(r"^# (fault|lost|short) ", re.MULTILINE)
_TOKENS = re.compile(r"[kcf]|b[0-9]+")


@dataclass(frozen=True)
class Results:
    """The results of a session's finished hands.

    A *baseline* is the server's estimate of the chips that it would have won with the client's cards.

    Attributes:
        baselines: baseline of each hand in chips; None for a hand for which the server has sent none.
        faults: number of times that the bot failed.
        unfinished: number of the hand that is being played; None between two hands.
    """

    winnings: tuple[int, ...] = ()
    baselines: tuple[int | None, ...] = ()
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
    def with_baseline(self) -> tuple[tuple[int, int], ...]:
        """Winnings and baseline in chips of each hand for which the server has sent a baseline."""
        pairs = zip(self.winnings, self.baselines, strict=True)
        return tuple((won, baseline) for won, baseline in pairs if baseline is not None)

    @property
    def baseline_total(self) -> int:
        """Sum of the server's baselines in chips: what it would have won with the client's cards."""
        return sum(baseline for _, baseline in self.with_baseline)

    @property
    def baseline(self) -> Mean:
        """Mean in mbb per hand of the server's baselines: what it would have won with the client's cards."""
        return Mean.of([baseline for _, baseline in self.with_baseline], self.big_blind)

    @property
    def above_baseline(self) -> Mean:
        """Mean in mbb per hand of the client's winnings less the server's baseline for the same cards."""
        return Mean.of([won - baseline for won, baseline in self.with_baseline], self.big_blind)


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

    @property
    def is_forgotten(self) -> bool:
        """Whether the last message about the hand is more than a day old, so that the server has forgotten the hand."""
        return time.time() - self.since > IDLE


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

    Attributes:
        token: the session's token; None before the first answer.
        hand: the hand that is being played; None between two hands.
    """

    def __init__(
        self, folder: Path, game: Game, url: str, user: str, names: tuple[str, str], bot: Mapping[str, Any]
    ) -> None:
        self._log, self._state = folder / LOG, folder / STATE
        self._game, self._url, self._user, self._names = game, url, user, names
        self.token: str | None = None
        self.hand: Open | None = None
        self._size: int | None = None
        self._bots = bot, {"bot": "slumbot", "url": url, "user": user}
        self._winnings, self._baselines = list[int](), list[int | None]()
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
        chips = tuple(self._winnings), tuple(self._baselines)
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
        number, short = logged.number, answer.played.short
        baseline = "-" if answer.baseline is None else answer.baseline
        self._append("short", number, short)
        self._append("fault", number, faults)
        self._write(f"# hand {number}:{answer.action}" if short else logged.text)
        self._write(f"# result {number}:{answer.winnings}:{baseline}")
        self._winnings.append(answer.winnings)
        self._baselines.append(answer.baseline)
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
        """Read the results and the numbers of comments of all finished hands."""
        text = read_text(self._log, self._subject)
        hands = {after: line for line, after in _HAND.findall(text)}
        for number, (logged, won, baseline) in enumerate(_RESULT.findall(text)):
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
            self._baselines.append(None if baseline == "-" else int(baseline))
        self._counts.update(_COUNTED.findall(text))

    def _has_won(self, line: str, number: int, won: int) -> bool:
        """Whether a line of the log is hand ``number``, and says that the client has won ``won`` chips.

        A line ``# hand``, for a hand with a raise below the smallest legal raise, does not say who has won.
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


@dataclass(frozen=True)
class Login:
    """Name and password with which a client logs in at the server.

    Attributes:
        password: the user's password, which never appears in logs or messages to the user.
    """

    user: str
    password: str = field(repr=False)


class Session:
    """A session at Slumbot's server, which a bot plays hand after hand.

    Args:
        bot: the bot that plays; the caller closes it.

    Attributes:
        seconds: seconds that the bot took for each answer.
    """

    def __init__(
        self,
        server: Server,
        bot: Bot,
        record: Record,
        names: tuple[str, str],
        login: Login | None = None,
        seed: int = 0,
    ) -> None:
        if login is not None and not server.is_private:
            raise InputError(f"{server.url}: a password is sent over https only; give an address with https")
        if login is not None:
            server.hide(login.password)
        self._server, self._bot, self._record = server, bot, record
        self._names, self._login, self._seed = names, login, seed
        self._faults: list[str] = []
        self._total: int | None = None
        self.seconds: list[float] = []

    @property
    def results(self) -> Results:
        return self._record.results

    def play(self, hands: int, watch: Callable[[int], None] = lambda done: None) -> None:
        """Play until the session has a number of hands, or until the user wants to end (`Server.stop`)."""
        watch(self._record.count)
        while self._record.count < hands and not self._server.stop.is_set():
            opened = self._record.hand
            if opened is not None:
                self._continue(opened)
            else:
                answer, fields = self._new_hand()
                self._play_hand(answer, Open(number=self._record.count, fields=fields))
            watch(self._record.count)

    def _continue(self, opened: Open) -> None:
        """Continue the hand in which an earlier run was interrupted."""
        number = opened.number
        self._server.note(f"hand {number}: continuing after {shown(opened.fields.get('action'))}")
        if opened.is_forgotten:
            self._lose("it was interrupted for more than a day, after which the server forgets a hand")
            return
        try:
            answer = self._parsed(opened.fields)
        except PeerError as error:
            self._lose(f"the stored state is not in the protocol: {error}")
            return
        try:
            self._play_hand(answer, opened)
        except RefusedError as error:
            if self._record.hand is None or self._record.hand.number != number:
                raise
            self._lose(f"it was interrupted and cannot be continued: {error}")

    def _new_hand(self) -> tuple[Answer, dict[str, object]]:
        """Ask for a new hand, after a login if there is no token; return its state and the server's JSON object."""
        known = self._record.token
        if known is None and self._login is not None:
            self._log_in(self._login)

        def post() -> Reply:
            token = self._record.token
            return self._server.post("new_hand", {} if token is None else {"token": token})

        try:
            reply = post()
        except RefusedError as error:
            if known is None:
                raise
            if self._login is None:
                raise PeerError(
                    f"{error}; the session may have expired: remove session.jsonl from the folder to begin a new one, "
                    "the logged hands stay"
                ) from None
            self._server.note(f"WARNING: {error}; logging in again")
            self._log_in(self._login)
            reply = post()
        answer = self._parsed(reply.fields)
        if answer.token is None and self._record.token is None:
            raise self._wrong("token: expected one in the answer to new_hand, found none")
        if len(_TOKENS.findall(answer.action)) > 1 - answer.position:
            raise self._out_of_order(answer, "expected the beginning of a hand, found a later state")
        return answer, reply.fields

    def _log_in(self, login: Login) -> None:
        fields = self._server.post("login", {"username": login.user, "password": login.password}).fields
        try:
            token = parse_token(fields)
        except InputError as error:
            raise PeerError(f"{self._server.url}, answer to login: {error}") from None
        self._record.keep(token, None)
        self._total = None  # the server counts the chips of each login by themselves

    def _play_hand(self, answer: Answer, opened: Open) -> None:
        self._faults = list(opened.faults)
        hand, position = answer.played.legal or answer.played.hand, answer.position
        seed = hand_seed(self._seed, opened.number)
        self._tell(lambda: self._bot.new_hand(hand.seen_by(position), position, seed))
        self._keep(answer.token, opened)
        while not answer.is_over:
            sent_before = opened.sent is not None
            incr = opened.sent or answer.played.incr(self._decide(answer))
            self._keep(None, Open(number=opened.number, fields=opened.fields, sent=incr))
            answer, opened = self._act(answer, incr, opened.number, sent_before)
            self._keep(answer.token, opened)
        over = answer.played.hand.seen_by(position)
        self._tell(lambda: self._bot.hand_over(over))
        self._finish(answer, opened.number)

    def _keep(self, token: str | None, opened: Open) -> None:
        self._record.keep(token, opened.model_copy(update={"faults": list(self._faults)}))

    def _act(self, before: Answer, incr: str, number: int, sent_before: bool) -> tuple[Answer, Open]:
        try:
            reply = self._server.post("act", {"token": self._record.token, "incr": incr})
        except RefusedError as error:
            raise RefusedError(
                f"{error}, hand {number}, {shown(incr)} after {shown(before.action)}"
            ) from None
        answer = self._parsed(reply.fields)
        known, told = _TOKENS.findall(before.action), _TOKENS.findall(answer.action)
        if told[: len(known) + 1] != [*known, incr]:
            raise self._out_of_order(answer, f"expected one after {shown(before.action)} and {incr}")
        first, second, seat = before.played.hand, answer.played.hand, before.position
        same = seat == answer.position and first.hole[seat] == second.hole[seat]
        if not (same and second.board[: len(first.board)] == first.board):
            raise self._out_of_order(answer, "its position or cards are not those of the hand")
        twice = answer.old_action is not None and _TOKENS.findall(answer.old_action) != known
        if twice and (reply.repeated or sent_before):
            place = f"after {before.action!r}" if before.action else "at the beginning of the hand"
            self._fault(
                f"action {incr} {place} was sent again, since its answer was lost; the server may have played it twice"
            )
        return answer, Open(number=number, fields=reply.fields)

    def _decide(self, answer: Answer) -> str:
        """Ask the bot, which sees the hand's legal form; return an ACPC action for the hand as it was played."""
        played, position = answer.played, answer.position
        if played.legal is None or played.legal.to_act != position:
            # The hand is over in the legal form, which the bot sees. In the hand as played a few chips are left.
            return "c"
        hand, begun = played.legal.seen_by(position), time.monotonic()
        try:
            action, wrong = read_action(hand, self._bot.act(hand))
        except Exception as error:  # the session goes on after any error
            action, wrong = hand.betting.passive, error_line(error)
        self.seconds.append(time.monotonic() - begun)
        if wrong is not None:
            self._fault(f"the bot failed after {hand.betting.line!r}: {wrong}")
        # In the hand as it was played, a raise becomes the nearest legal raise, and a call may become a check.
        return read_action(played.hand, action)[0]

    def _finish(self, answer: Answer, number: int) -> None:
        assert answer.winnings is not None
        before, self._total = self._total, answer.session_total
        if before is not None and self._total not in (None, before + answer.winnings):
            self._server.note(
                f"WARNING: hand {number}: the chips won are {answer.winnings}, and the server's total of the session "
                f"went from {before} to {self._total}"
            )
        names = self._names if answer.position == 0 else self._names[::-1]
        logged = LoggedHand(number, answer.played.hand, (names[0], names[1]))
        self._record.finish(logged, answer, self._faults)

    def _lose(self, reason: str) -> None:
        self._server.note(f"WARNING: hand {self._record.count} is lost: {reason}")
        self._record.lose(reason)
        self._faults = []

    def _parsed(self, fields: dict[str, object]) -> Answer:
        try:
            return parse_answer(self._bot.game, fields)
        except InputError as error:
            raise self._wrong(error) from None

    def _out_of_order(self, answer: Answer, text: str) -> PeerError:
        return self._wrong(f"state {shown(answer.action)} out of order: {text}")

    def _wrong(self, error: object) -> PeerError:
        return PeerError(f"{self._server.url}, hand {self._record.count}: {error}")

    def _tell(self, function: Callable[[], None]) -> None:
        try:
            function()
        except Exception as error:  # the session goes on after any error
            self._fault(f"the bot failed: {error_line(error)}")

    def _fault(self, text: str) -> None:
        self._faults.append(text)
        self._server.note(f"ERROR: hand {self._record.count}: {text}")
