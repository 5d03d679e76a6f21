"""GTO Wizard's benchmark (researcher.gtowizard.com): a key names the user, and each answer has the whole hand.

Provost et al., GTO Wizard Benchmark, 2026 (arXiv 2603.23660). ``POST /hands`` begins a hand, ``POST /hands/ID/act``
plays an action. The names of fields are those of the public client; Spewy itself has never played at this server.
So fields that this module does not need may be missing, and fields that it does not know are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from buckets.cards import parse_cards
from buckets.errors import CardError
from spewy.bot.bot import Bot
from spewy.competitions.online.record import Record
from spewy.competitions.online.server import Reply, Server, Site
from spewy.competitions.online.session import Session
from spewy.competitions.online.text import (
    MOST_CHIPS,
    Answer,
    check_turn,
    read_text_field,
    read_whole,
    replayed,
)
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.hand import HoleCards

SITE = Site(
    "gtowizard",
    "GTO Wizard's benchmark",
    "https://researcher.gtowizard.com",
    "",
    "detail",
    refuses_by_status=True,
)
GAME_NAME = "HUNL 200BB"
"""Name by which the server knows heads-up no-limit hold'em with 200 big blinds."""
OPPONENT = "gto wizard"
"""Beginning of the name of the server's player, in small letters."""
FULL = 409
"""HTTP status of the refusal of a new hand while the user has too many unfinished hands."""
POSITIONS = {"BB": 0, "SB": 1, "BTN": 1, "BU": 1}
"""Player's number by the position's name; heads-up, the button has the small blind."""
_BET = re.compile(r"b([0-9]{1,9})(?:\.0+)?")


class GtoWizardSession(Session):
    """A session at GTO Wizard's benchmark, one hand after the other.

    Args:
        server: the server; its header ``X-API-KEY`` is the user's key.
    """

    def __init__(
        self, server: Server, bot: Bot, record: Record, names: tuple[str, str], seed: int = 0
    ) -> None:
        super().__init__(server, bot, record, names, seed)
        server.require_private("a key")

    def begin(self) -> Reply:
        return self.server.post("hands", {"game_name": GAME_NAME}, busy=(FULL,))

    def send(self, before: Answer, fields: dict[str, object], action: str) -> Reply:
        request: dict[str, object] = {"action": action[0]}
        if action[0] == "b":
            request["amount"] = int(action[1:])
        return self.server.post(f"hands/{_hand_id(fields)}/act", request)

    def parse(self, fields: dict[str, object]) -> Answer:
        return parse_answer(self.bot.game, fields)


def parse_answer(game: Game, fields: Mapping[str, Any]) -> Answer:
    """Read and check a state of a hand that the server has sent; `Answer.estimate` is AIVAT's value in chips."""
    _hand_id(fields)
    _check_game(game, fields.get("game"))
    state = fields.get("game_state")
    if not isinstance(state, dict):
        raise InputError(f"game_state: expected an object, found {shown(state)}")
    client, other = _players(state)
    own, others = (_cards(player.get("hole_cards"), "hole_cards") or None for player in (client, other))
    if own is None:
        raise InputError("players: expected the client's hole cards, found none")
    action, board = _actions(state), _cards(state.get("board_cards"), "board_cards")
    over = state.get("is_hand_over")
    if not isinstance(over, bool):
        raise InputError(f"is_hand_over: expected true or false, found {shown(over)}")

    def hole(position: int) -> tuple[HoleCards, HoleCards]:
        return (own, others) if position == 0 else (others, own)

    played = replayed(game, action, hole(0), board, marks=False)
    position = POSITIONS.get(str(client.get("position")).upper(), played.hand.to_act)
    if position is None:
        raise InputError(f"position: expected SB or BB, found {shown(client.get('position'))}")
    if position == 1:
        played = replayed(game, action, hole(1), board, marks=False)
    winnings = read_whole(state, "winnings") if over else None
    if played.is_shown or not played.hand.is_over:
        check_turn(played, action, position, winnings)
    elif winnings is None or abs(winnings) not in (0, min(played.hand.betting.spent)):
        raise InputError(f"winnings after {shown(action)}: found {winnings}, which the rules do not allow")
    return Answer(action, position, played, winnings, _aivat(state) if over else None)


def _hand_id(fields: Mapping[str, Any]) -> str:
    hand_id = fields.get("hand_id")
    known = isinstance(hand_id, int | str) and not isinstance(hand_id, bool)
    if not (known and re.fullmatch(r"[0-9A-Za-z-]{1,64}", str(hand_id))):
        raise InputError(f"hand_id: expected a number, found {shown(hand_id)}")
    return str(hand_id)


def _check_game(game: Game, found: object) -> None:
    """Refuse a game with other blinds or stacks than the bot's; a value that the server omits is not checked."""
    if not isinstance(found, dict):
        return
    stack, blinds = found.get("starting_stack"), found.get("blinds")
    stacks_differ = stack is not None and stack != max(game.stacks or ())
    blinds_differ = isinstance(blinds, list) and sorted(map(str, blinds)) not in (
        sorted(map(str, game.blinds)),
        sorted(str(float(chips)) for chips in game.blinds),
    )
    if stacks_differ or blinds_differ:
        raise InputError(
            f"game: expected blinds of {min(game.blinds)} and {max(game.blinds)} and stacks of "
            f"{max(game.stacks or ()):,} chips, found blinds {shown(blinds)} and stacks {shown(stack)}"
        )


def _players(state: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the client's and the opponent's object, told apart by hidden cards or else by GTO Wizard's name."""
    players = state.get("players")
    if not (
        isinstance(players, list) and len(players) == 2 and all(isinstance(each, dict) for each in players)
    ):
        raise InputError(f"players: expected a list of two players, found {shown(players)}")
    first, second = players
    for known in (
        [bool(each.get("hole_cards")) for each in players],
        [not str(each.get("name")).lower().startswith(OPPONENT) for each in players],
    ):
        if known[0] != known[1]:
            return (first, second) if known[0] else (second, first)
    names = ", ".join(shown(each.get("name")) for each in players)
    raise InputError(f"players: expected one that is GTO Wizard, found {names}")


def _actions(state: Mapping[str, Any]) -> str:
    """Return the actions so far in one text; the server marks the end of a round by ``_``."""
    tokens = state.get("action_history")
    if not isinstance(tokens, list):
        raise InputError(f"action_history: expected a list of actions, found {shown(tokens)}")
    texts = []
    for token in tokens:
        bet = _BET.fullmatch(token) if isinstance(token, str) else None
        if token != "_" and bet is None and token not in ("f", "c", "k"):
            raise InputError(f"action_history: expected f, c, k, _ or b with a number, found {shown(token)}")
        texts.append("/" if token == "_" else token if bet is None else f"b{bet[1]}")
    return "".join(texts)


def _cards(text: object, subject: str) -> tuple[int, ...]:
    """Read cards as one text, such as ``AsKd``; None and an empty text are no cards."""
    if text is None:
        return ()
    try:
        return parse_cards(read_text_field({subject: text}, subject), strict=True)
    except CardError as error:
        raise InputError(f"{subject}: {error}") from None


def _aivat(state: Mapping[str, Any]) -> float | None:
    value = state.get("aivat_score")
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and abs(value) <= MOST_CHIPS):
        raise InputError(f"aivat_score: expected a number of chips, found {shown(value)}")
    return float(value)
