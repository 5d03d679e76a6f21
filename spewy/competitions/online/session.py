"""Play a session at a server, hand after hand, with one request at a time; each protocol is a subclass of `Session`.

Each message is stored before the next one is sent, so a session continues after an interruption with the hand in which
it was interrupted. If it is unknown whether an action has reached the server, the client sends the action again. If the
answer then has two new actions of the client, the log says that the client may have acted twice in the hand.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable

from spewy.bot.bot import Bot
from spewy.competitions.online.record import Open, Record, Results
from spewy.competitions.online.server import RefusedError, Reply, Server
from spewy.competitions.online.text import Answer
from spewy.errors import InputError, PeerError, error_line, shown
from spewy.match.acpc_text import LoggedHand, read_action
from spewy.match.table import hand_seed


class Session:
    """A session at a server, which a bot plays hand after hand.

    Args:
        bot: the bot that plays; the caller closes it.

    Attributes:
        seconds: seconds that the bot took for each answer.
        idle: seconds without an action after which the server forgets a hand.
    """

    idle = float("inf")

    def __init__(
        self, server: Server, bot: Bot, record: Record, names: tuple[str, str], seed: int = 0
    ) -> None:
        self.server, self.bot, self.record = server, bot, record
        self._names, self._seed = names, seed
        self._faults: list[str] = []
        self.seconds: list[float] = []

    @abstractmethod
    def begin(self) -> Reply:
        """Ask the server for a new hand."""

    @abstractmethod
    def send(self, before: Answer, fields: dict[str, object], action: str) -> Reply:
        """Send an action, such as ``b300``, after the server's answer ``fields``, which was parsed as ``before``."""

    @abstractmethod
    def parse(self, fields: dict[str, object]) -> Answer:
        """Read and check a state of a hand; an `InputError` says what is wrong."""

    def ended(self, answer: Answer) -> None:
        """Handle the last answer of a finished hand, before the hand is recorded."""

    @property
    def results(self) -> Results:
        return self.record.results

    def play(self, hands: int, watch: Callable[[int], None] = lambda done: None) -> None:
        """Play until the session has ``hands`` hands, or until the user wants to end (`Server.stop`)."""
        watch(self.record.count)
        while self.record.count < hands and not self.server.stop.is_set():
            opened = self.record.hand
            if opened is not None:
                self._continue(opened)
            else:
                fields = self.begin().fields
                answer = self.parsed(fields)
                if len(answer.tokens) > 1 - answer.position:
                    raise self._out_of_order(answer, "expected the beginning of a hand, found a later state")
                self._play_hand(answer, Open(number=self.record.count, fields=fields))
            watch(self.record.count)

    def _continue(self, opened: Open) -> None:
        number = opened.number
        if time.time() - opened.since > self.idle:
            hours = self.idle / 3600
            self._lose(
                f"it was interrupted for more than {hours:g} hours, after which the server forgets a hand"
            )
            return
        try:
            answer = self.parsed(opened.fields)
        except PeerError as error:
            self._lose(f"the stored state is not in the protocol: {error}")
            return
        self.server.note(f"hand {number}: continuing after {shown(answer.action)}")
        try:
            self._play_hand(answer, opened)
        except RefusedError as error:
            if self.record.hand is None or self.record.hand.number != number:
                raise
            self._lose(f"it was interrupted and cannot be continued: {error}")

    def _play_hand(self, answer: Answer, opened: Open) -> None:
        self._faults = list(opened.faults)
        hand, position = answer.played.legal or answer.played.hand, answer.position
        seed = hand_seed(self._seed, opened.number)
        self._tell(lambda: self.bot.new_hand(hand.seen_by(position), position, seed))
        self._keep(answer.token, opened)
        while not answer.is_over:
            sent_before = opened.sent is not None
            incr = opened.sent or answer.played.incr(self._decide(answer))
            self._keep(None, Open(number=opened.number, fields=opened.fields, sent=incr))
            answer, opened = self._act(answer, opened, incr, sent_before)
            self._keep(answer.token, opened)
        over = answer.played.hand.seen_by(position)
        self._tell(lambda: self.bot.hand_over(over))
        self._finish(answer, opened.number)

    def _keep(self, token: str | None, opened: Open) -> None:
        self.record.keep(token, opened.model_copy(update={"faults": list(self._faults)}))

    def _act(self, before: Answer, opened: Open, incr: str, sent_before: bool) -> tuple[Answer, Open]:
        number = opened.number
        try:
            reply = self.send(before, opened.fields, incr)
        except RefusedError as error:
            raise RefusedError(
                f"{error}, hand {number}, {shown(incr)} after {shown(before.action)}"
            ) from None
        answer = self.parsed(reply.fields)
        known = before.tokens
        if answer.tokens[: len(known) + 1] != [*known, incr]:
            raise self._out_of_order(answer, f"expected one after {shown(before.action)} and {incr}")
        first, second, seat = before.played.hand, answer.played.hand, before.position
        same = seat == answer.position and first.hole[seat] == second.hole[seat]
        if not (same and second.board[: len(first.board)] == first.board):
            raise self._out_of_order(answer, "its position or cards are not those of the hand")
        extra = answer.own_actions - before.own_actions
        if extra > 1:
            if not (reply.repeated or sent_before):
                raise self._out_of_order(answer, f"the client has acted once, and not {extra} times")
            place = f"after {before.action!r}" if before.action else "at the beginning of the hand"
            self._fault(
                f"action {incr} {place} was sent again, since its answer was lost; the server has played it twice"
            )
        return answer, Open(number=number, fields=reply.fields)

    def _decide(self, answer: Answer) -> str:
        """Ask the bot, which sees the legal form of the hand; return its action, adapted to the hand as played."""
        played, position = answer.played, answer.position
        if played.legal is None or played.legal.to_act != position:
            # The hand is over in the legal form, which the bot sees. In the hand as played a few chips are left.
            return "c"
        hand, begun = played.legal.seen_by(position), time.monotonic()
        try:
            action, wrong = read_action(hand, self.bot.act(hand))
        except Exception as error:  # the session goes on after any error
            action, wrong = hand.betting.passive, error_line(error)
        self.seconds.append(time.monotonic() - begun)
        if wrong is not None:
            self._fault(f"the bot failed after {hand.betting.line!r}: {wrong}")
        # In the hand as it was played, a raise becomes the nearest legal raise, and a call may become a check.
        return read_action(played.hand, action)[0]

    def _finish(self, answer: Answer, number: int) -> None:
        self.ended(answer)
        names = self._names if answer.position == 0 else self._names[::-1]
        logged = LoggedHand(number, answer.played.hand, (names[0], names[1]))
        self.record.finish(logged, answer, self._faults)

    def _lose(self, reason: str) -> None:
        self.server.note(f"WARNING: hand {self.record.count} is lost: {reason}")
        self.record.lose(reason)
        self._faults = []

    def parsed(self, fields: dict[str, object]) -> Answer:
        """Read a state of a hand as `parse` does; a `PeerError` names the server and the hand."""
        try:
            return self.parse(fields)
        except InputError as error:
            raise self.wrong(error) from None

    def _out_of_order(self, answer: Answer, text: str) -> PeerError:
        return self.wrong(f"state {shown(answer.action)} out of order: {text}")

    def wrong(self, error: object) -> PeerError:
        """Return the error for an answer of the server that is not in the protocol."""
        return PeerError(f"{self.server.url}, hand {self.record.count}: {error}")

    def _tell(self, function: Callable[[], None]) -> None:
        try:
            function()
        except Exception as error:  # the session goes on after any error
            self._fault(f"the bot failed: {error_line(error)}")

    def _fault(self, text: str) -> None:
        self._faults.append(text)
        self.server.note(f"ERROR: hand {self.record.count}: {text}")
