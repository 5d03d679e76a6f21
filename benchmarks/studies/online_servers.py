"""Local stand-ins for servers, at which ``spewy play slumbot`` and ``spewy play gtowizard`` play without a network.

    python -m benchmarks.studies.online_servers [BOT] [--protocol slumbot] [--port 8080] [--seed 0]
        [--user NAME --password WORD] [--key test]

BOT is the folder of a solved game of no-limit hold'em with 200 big blinds, or the name of a bot that plays by a fixed
rule, such as ``equity`` (see ``spewy match``). The server listens at 127.0.0.1 only, and ends with Ctrl-C.

A stand-in knows the rules and the protocol, and checks every message. A seed decides the cards. The blinds are 50 and
100, each hand begins with stacks of 20,000 chips, and the client's position alternates. The *baseline* of a hand is
what the client would have won with its cards if both players had checked and called to the end.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from benchmarks.command import as_command
from buckets.cards import card_name
from spewy.bot.bot import Bot
from spewy.bot.options import Options
from spewy.competitions.online.gtowizard import GAME_NAME
from spewy.competitions.online.slumbot import IDLE
from spewy.competitions.online.text import incr_text, online_game, parse_incr
from spewy.errors import InputError, PeerError, shown
from spewy.game.hand import Hand
from spewy.match.entrant import parse_entrant
from spewy.match.table import Dealt, Table, deals, decisions, hand_seed

HOST = "127.0.0.1"
MOST_BODY = 10_000
"""Largest number of bytes of a request."""

Spoil = Callable[[int, str, bytes], tuple[int, bytes] | Iterable[bytes]]
"""Replaces an answer; takes the HTTP status, the path and the body, and returns a status and a body, or pieces of raw
bytes, which are sent as they are before the connection is closed."""


class WrongRequestError(PeerError):
    """A request is not in the protocol, or asks for something illegal."""


@dataclass
class _Game:
    """The hand of a client that is being played, and the results of a session so far.

    Attributes:
        cards: iterator over the cards of the hands to come.
        user: name of the user who logged in; empty without a login.
        table: the hand that is being played; None between two hands.
        dealt: all cards of the current or last hand; None before the first hand.
        position: the client's player number in the current or last hand: 0 is the big blind, 1 the button.
        before: chips that each player had put in before the current betting round.
        begun: number of hands that were dealt.
        hands: number of finished hands.
        total: chips that the client has won in the finished hands.
        baseline: sum of the baselines of the finished hands.
        active: time of the client's last request, on the clock of `time.monotonic`.
    """

    cards: Iterator[Dealt]
    user: str = ""
    table: Table | None = None
    dealt: Dealt | None = None
    position: int = 1
    before: int = 0
    begun: int = 0
    hands: int = 0
    total: int = 0
    baseline: int = 0
    active: float = field(default_factory=time.monotonic)


class StandIn:
    """A stand-in for a server: it deals, checks every message, and lets its bot act; `reply` answers each request.

    Args:
        bot: the bot in the server's place; the caller closes it.
        seed: seed of the cards and of the bot's random choices.
    """

    def __init__(self, bot: Bot, seed: int = 0) -> None:
        self._bot, self._seed = bot, seed
        self._asked: _Game | None = None

    @abstractmethod
    def reply(
        self, path: str, fields: dict[str, Any], headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        """Return the HTTP status and the JSON object of the answer to a request."""

    def _deal(self, game: _Game) -> None:
        game.position, game.begun = 1 - game.position, game.begun + 1
        game.dealt = next(game.cards)
        game.table, game.before = Table(self._bot.game, game.dealt), 0

    def _step(self, game: _Game, table: Table, action: str) -> None:
        before = table.hand.betting.round
        table.step(action)
        if table.hand.betting.round != before:
            game.before = max(table.hand.betting.spent)

    def _act(self, game: _Game, incr: str) -> None:
        assert game.table is not None
        try:
            self._step(game, game.table, parse_incr(game.table.hand, incr, game.before))
        except InputError as error:
            raise WrongRequestError(str(error)) from None

    def _let_bot_act(self, game: _Game) -> Table:
        table, bot = game.table, 1 - game.position
        assert table is not None
        if self._asked is not game or not table.hand.betting.line:
            self._bot.new_hand(table.view(bot), bot, hand_seed(self._seed, game.begun - 1))
            self._asked = game
        while table.to_act == bot:
            self._step(game, table, self._bot.act(table.view(bot)))
        return table

    def _called_down(self, game: _Game) -> int:
        """Return the chips that the client's cards would have won if both players had checked and called."""
        assert game.dealt is not None
        table = Table(self._bot.game, game.dealt)
        while not table.is_over:
            table.step("c")
        return table.result[game.position]


class Slumbot(StandIn):
    """A stand-in for Slumbot's server, with its sessions.

    Args:
        users: passwords by user; a login of another user is refused.
        idle: seconds without a request after which a session loses its unfinished hand.
    """

    def __init__(
        self, bot: Bot, seed: int = 0, users: dict[str, str] | None = None, idle: float = IDLE
    ) -> None:
        super().__init__(bot, seed)
        self._users, self._idle = users or {}, idle
        self._games: dict[str, _Game] = {}

    def reply(
        self, path: str, fields: dict[str, Any], headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        try:
            return 200, self.answer(path, fields)
        except WrongRequestError as error:
            return 200, {"error_msg": str(error)}

    def answer(self, path: str, fields: dict[str, Any]) -> dict[str, Any]:
        if path == "/api/login":
            return self._log_in(fields)
        if path == "/api/new_hand":
            return self._new_hand(fields)
        if path == "/api/act":
            return self._answer_act(fields)
        raise WrongRequestError(f"expected /api/login, /api/new_hand or /api/act, found {shown(path)}")

    def expire(self) -> None:
        self._games.clear()

    def _log_in(self, fields: dict[str, Any]) -> dict[str, Any]:
        _require(fields, "username", "password")
        user = fields["username"]
        if user not in self._users or self._users[user] != fields["password"]:
            raise WrongRequestError("Invalid username or password")
        return {"token": self._begin(user)}

    def _begin(self, user: str = "") -> str:
        token = secrets.token_hex(16)
        self._games[token] = _Game(deals(self._bot.game, self._seed), user)
        return token

    def _new_hand(self, fields: dict[str, Any]) -> dict[str, Any]:
        _require(fields, *(["token"] if fields else []))
        token = fields.get("token") or self._begin()
        game = self._game(token)
        self._deal(game)
        return self._state(token, game, "")

    def _answer_act(self, fields: dict[str, Any]) -> dict[str, Any]:
        _require(fields, "token", "incr")
        game = self._game(fields["token"])
        if game.table is None:
            raise WrongRequestError("No hand is being played")
        old = actions_text(game.table.hand)
        self._act(game, fields["incr"])
        return self._state(fields["token"], game, old)

    def _game(self, token: str) -> _Game:
        game = self._games.get(token)
        if game is None:
            raise WrongRequestError("Invalid token")
        if time.monotonic() - game.active > self._idle:
            game.table = None
        game.active = time.monotonic()
        return game

    def _state(self, token: str, game: _Game, old: str) -> dict[str, Any]:
        table = self._let_bot_act(game)
        state: dict[str, Any] = {
            "old_action": old,
            "action": actions_text(table.hand),
            "client_pos": game.position,
            "hole_cards": _cards(table.hand.hole[game.position]),
            "board": _cards(table.hand.board),
            "token": token,
        }
        return state | self._end(game, table) if table.is_over else state

    def _end(self, game: _Game, table: Table) -> dict[str, Any]:
        bot, won = 1 - game.position, table.result[game.position]
        self._bot.hand_over(table.view(bot))
        baseline = self._called_down(game)
        game.table, game.hands = None, game.hands + 1
        game.total, game.baseline = game.total + won, game.baseline + baseline
        return {
            "bot_hole_cards": _cards(table.hand.hole[bot]),
            "winnings": won,
            "won_pot": won if won >= 0 else 0,
            "baseline_winnings": baseline,
            "session_num_hands": game.hands,
            "session_total": game.total,
            "session_baseline_total": game.baseline,
        }


class GtoWizard(StandIn):
    """A stand-in for GTO Wizard's benchmark.

    In place of AIVAT's estimate, a hand has the value that the client's cards win if both players check and call, plus
    0.25 chips.

    Args:
        key: the key that the header ``X-API-KEY`` of every request must have.
        most_hands: number of hands that may be played at the same time.

    Attributes:
        total: chips that the client has won in the finished hands.
        values: sum of the values of the finished hands, without the 0.25 chips.
    """

    def __init__(self, bot: Bot, seed: int = 0, key: str = "", most_hands: int = 5) -> None:
        super().__init__(bot, seed)
        self._key, self._most = key, most_hands
        self._deals, self._begun = deals(bot.game, seed), 0
        self._games: dict[int, _Game] = {}
        self.total = self.values = 0

    def reply(
        self, path: str, fields: dict[str, Any], headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        if headers.get("X-API-KEY", "") != self._key:
            return 401, {"detail": "Invalid API key"}
        act = re.fullmatch(r"/hands/([0-9]{1,9})/act", path)
        try:
            if path == "/hands":
                if fields != {"game_name": GAME_NAME}:
                    raise WrongRequestError(f"expected the game {GAME_NAME}, found {shown(fields)}")
                if len(self._games) >= self._most:
                    return 409, {"detail": f"at most {self._most} hands can be played at the same time"}
                return 200, self._new_hand()
            if act is not None and int(act[1]) in self._games:
                return 200, self._answer_act(int(act[1]), fields)
        except WrongRequestError as error:
            return 400, {"detail": str(error)}
        return 404, {"detail": f"{path} is not known"}

    def _new_hand(self) -> dict[str, Any]:
        self._begun += 1
        game = _Game(self._deals, position=self._begun % 2, begun=self._begun - 1)
        self._games[self._begun] = game
        self._deal(game)
        return self._state(self._begun, game)

    def _answer_act(self, number: int, fields: dict[str, Any]) -> dict[str, Any]:
        letter, amount = fields.get("action"), fields.get("amount")
        if letter not in ("f", "k", "c", "b") or (letter == "b") != isinstance(amount, int):
            raise WrongRequestError(f"expected an action f, k, c or b with an amount, found {shown(fields)}")
        self._act(self._games[number], f"b{amount}" if letter == "b" else str(letter))
        return self._state(number, self._games[number])

    def _state(self, number: int, game: _Game) -> dict[str, Any]:
        table = self._let_bot_act(game)
        hand, over = table.hand, table.is_over
        if over:
            self._bot.hand_over(table.view(1 - game.position))
            del self._games[number]
            self.total += table.result[game.position]
            self.values += self._called_down(game)
        return {"hand_id": number, "game": _GAME, "game_state": self._game_state(game, table, hand, over)}

    def _game_state(self, game: _Game, table: Table, hand: Hand, over: bool) -> dict[str, Any]:
        bounds, betting = hand.betting.raise_bounds(), hand.betting
        players = [
            {
                "name": "GTO Wizard" if seat != game.position else "spewy",
                "position": ("BB", "SB")[seat],
                "stack": float(betting.stack(seat) - betting.spent[seat]),
                "hole_cards": "".join(_cards(hand.hole[seat])) if over or seat == game.position else None,
            }
            for seat in (0, 1)
        ]
        legal = ["f", "c"] if betting.can_fold else ["k"]
        tokens = re.findall(r"[kcf/]|b[0-9]+", actions_text(hand))
        return {
            "street": ("preflop", "flop", "turn", "river")[betting.round],
            "common_pot": 2 * game.before,
            "total_pot": sum(betting.spent),
            "board_cards": "".join(_cards(hand.board)),
            "is_hand_over": over,
            "players": players,
            "legal_actions": [] if over else legal + ["b"] * (bounds is not None),
            "raise_range": bounds and {"min": bounds[0] - game.before, "max": bounds[1] - game.before},
            "action_history": ["_" if token == "/" else token for token in tokens],
            "has_gto_wizard_folded": betting.folded == 1 - game.position,
            "winnings": float(table.result[game.position]) if over else None,
            "aivat_score": self._called_down(game) + 0.25 if over else None,
        }


_GAME = {
    "game_id": 1,
    "game_name": GAME_NAME,
    "starting_stack": 20000.0,
    "blinds": [100.0, 50.0],
    "stack_reset_per_hand": True,
}


@contextmanager
def serving(stand_in: StandIn, port: int = 0, spoil: Spoil | None = None) -> Iterator[str]:
    """Serve a stand-in at 127.0.0.1 in a thread within the ``with`` block; yield its address."""
    with _Server((HOST, port), stand_in, spoil) as server:
        thread = threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Server(HTTPServer):
    def __init__(self, address: tuple[str, int], stand_in: StandIn, spoil: Spoil | None) -> None:
        super().__init__(address, _Handler)
        self.stand_in, self.spoil = stand_in, spoil

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors, such as a client that has closed the connection before its answer."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    wbufsize = -1  # an answer in two pieces would wait for the client's acknowledgement

    def do_POST(self) -> None:
        try:
            status, answer = self.server.stand_in.reply(self.path, self._fields(), self.headers)
        except WrongRequestError as error:
            status, answer = 400, {"error_msg": str(error)}
        data = json.dumps(answer).encode()
        if self.server.spoil is not None:
            spoiled = self.server.spoil(status, self.path, data)
            if not isinstance(spoiled, tuple):
                self._send_pieces(spoiled)
                return
            status, data = spoiled
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send_pieces(self, pieces: Iterable[bytes]) -> None:
        self.close_connection = True
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, *args: Any) -> None:
        """Print nothing."""

    def _fields(self) -> dict[str, Any]:
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdigit() and int(size) <= MOST_BODY):
            raise WrongRequestError(f"expected a body of at most {MOST_BODY} bytes")
        if self.headers.get_content_type() != "application/json":
            raise WrongRequestError("expected the content type application/json")
        try:
            fields = json.loads(self.rfile.read(int(size)))
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise WrongRequestError("expected a JSON object")
        return fields


def actions_text(hand: Hand) -> str:
    """Return all actions of a hand in the text of Slumbot's protocol, such as ``b300c/b400``."""
    rounds = ["" for _ in hand.betting.rounds]
    before, now = 0, 0
    for state, action in decisions(hand):
        if state.betting.round != now:
            before, now = max(state.betting.spent), state.betting.round
        rounds[now] += incr_text(state, action, before)
    return "/".join(rounds)


def _require(fields: dict[str, Any], *names: str) -> None:
    """Check that a request has exactly the fields ``names``, and that each value is a string."""
    if set(fields) != set(names) or not all(isinstance(value, str) for value in fields.values()):
        wanted = f"the texts {', '.join(names)}" if names else "no fields"
        raise WrongRequestError(f"expected {wanted}, found {shown(sorted(fields))}")


def _cards(cards: tuple[int, ...] | None) -> list[str]:
    return [card_name(card) for card in cards or ()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "bot",
        nargs="?",
        default="equity",
        help="bot that plays in the server's place: a rule, or the folder of a solved game",
    )
    parser.add_argument(
        "--protocol", choices=["slumbot", "gtowizard"], default="slumbot", help="whose protocol to speak"
    )
    parser.add_argument("--port", type=int, default=8080, help="port to listen on; 0: any free port")
    parser.add_argument("--seed", type=int, default=0, help="seed of the cards")
    parser.add_argument("--user", help="name of a user who can log in (slumbot); default: no logins")
    parser.add_argument("--password", default="", help="password of --user")
    parser.add_argument("--key", default="test", help="key that requests must have (gtowizard)")
    parser.add_argument(
        "--resolve", default="never", help="when a bot from a folder re-solves: never, off-tree or always"
    )
    args = parser.parse_args()
    bot = parse_entrant(args.bot, Options.of(resolve=args.resolve), kinds=("folder",)).open(online_game())
    stand_in: StandIn = GtoWizard(bot, args.seed, args.key)
    if args.protocol == "slumbot":
        stand_in = Slumbot(bot, args.seed, {args.user: args.password} if args.user else {})
    try:
        with serving(stand_in, args.port) as url:
            print(url, flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        bot.close()


if __name__ == "__main__":
    as_command(main)
