"""Play a session at Slumbot's server, hand after hand, with one request at a time.

Each message is stored before the next one is sent, so a session continues after an interruption with the hand in which
it was interrupted. If it is unknown whether an action has reached the server, the client sends the action again. The
server's answer lists the actions of the hand before the client's last action. If this list differs from the actions
that the client knows, the log says that the client may have acted twice in the hand.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from spewy.bot.bot import Bot
from spewy.competitions.slumbot.record import Open, Record, Results
from spewy.competitions.slumbot.text import Answer, parse_answer, parse_token
from spewy.competitions.slumbot.wire import RefusedError, Reply, Server
from spewy.errors import InputError, PeerError, error_line, shown
from spewy.match.acpc_text import LoggedHand, read_action
from spewy.match.table import hand_seed

_TOKENS = re.compile(r"[kcf]|b[0-9]+")


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
