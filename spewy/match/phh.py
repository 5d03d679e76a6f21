"""The Poker Hand History format (J. Kim, 2024): TOML with a table for each hand; several tables are numbered.

In heads-up hands the format's player 1 is the big blind, which is player 0 here; yet the list of blinds begins with the
small blind. The amount of a bet is the player's total in the round after the bet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards
from spewy.match.acpc_text import LoggedHand
from spewy.system.textfile import parse_toml

UNKNOWN = "????"
SUFFIXES = (".phh", ".phhs")
_DEALT = re.compile(r"d dh p([12]) (\S+)")
_BOARD = re.compile(r"d db (\S+)")
_ACTION = re.compile(r"p([12]) (f|cc|cbr ([0-9]{1,18}))")
_SHOWN = re.compile(r"p([12]) sm(?: (\S+))?")


def phh_text(records: Iterable[LoggedHand]) -> str:
    """Format hands as the text of a Poker Hand History file.

    Raises:
        InputError: the game has no name in this format.
    """
    return "\n".join(
        f"[{number}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in _fields(record).items())
        for number, record in enumerate(records, start=1)
    )


def variant(game: Game) -> str:
    """Return the code of a game in the Poker Hand History format: FT for limit, NT for no-limit hold'em.

    Raises:
        InputError: the game has no name in this format.
    """
    holdem = (len(game.deck), game.num_hole_cards, game.num_board_cards) == (52, 2, (0, 3, 1, 1))
    stakes = not game.limit or game.raise_sizes == tuple(game.raise_sizes[t] for t in (0, 0, -1, -1))
    if not (holdem and stakes and 0 < game.blinds[1] < game.blinds[0]):
        raise InputError(
            f"game {game.name!r}: the hand history format has no code for it; it has hold'em with two blinds only"
        )
    return "FT" if game.limit else "NT"


def read_phh(
    game: Game, text: str, subject: str = "hand history", *, own_stakes: bool = False
) -> Iterator[LoggedHand]:
    """Read the hands in the text of a Poker Hand History file.

    Args:
        game: the game that was played.
        text: content of the file.
        subject: first words of error messages.
        own_stakes: whether hands may have other blinds and stacks than the game.

    Raises:
        InputError: the text is not in the format, or a hand is impossible in the game.
    """
    content = parse_toml(text, subject)
    tables = [content] if "variant" in content else list(content.values())
    for number, table in enumerate(tables, start=1):
        try:
            yield _record(_with_stakes(game, table) if own_stakes else game, number, table)
        except InputError as error:
            raise InputError(f"{subject}, hand {number}: {error}") from None


def _with_stakes(game: Game, table: Any) -> Game:
    """Return a game with the blinds and stacks that a hand's TOML table states.

    The game stays as it is if it is a limit game, or if the table states no possible blinds and stacks.
    """
    fields = table if isinstance(table, dict) else {}
    blinds, stacks = (_two_amounts(fields.get(key)) for key in ("blinds_or_straddles", "starting_stacks"))
    if game.limit or blinds is None or stacks is None or min(stacks) < max(blinds):
        return game
    return replace(game, blinds=blinds[::-1], stacks=stacks)


def _two_amounts(value: Any) -> tuple[int, int] | None:
    whole = isinstance(value, list) and len(value) == 2 and all(isinstance(n, int) and n > 0 for n in value)
    return (value[0], value[1]) if whole else None


def _stacks(game: Game) -> tuple[int, int]:
    """Return the stacks at the deal; in a game without stacks, more chips than a player can bet."""
    if game.stacks is not None:
        return game.stacks[0], game.stacks[1]
    most = game.big_blind + sum(
        size * raises for size, raises in zip(game.raise_sizes, game.max_raises, strict=True)
    )
    return most + game.big_blind, most + game.big_blind


def _fields(record: LoggedHand) -> dict[str, Any]:
    game = record.hand.game
    fields: dict[str, Any] = {
        "variant": variant(game),
        "antes": [0, 0],
        "blinds_or_straddles": list(reversed(game.blinds)),
    }
    fields |= _bets(game)
    fields |= {"starting_stacks": list(_stacks(game)), "actions": list(_actions(record.hand))}
    return fields | {"hand": record.number, "players": list(record.names)}


def _bets(game: Game) -> dict[str, int]:
    """Return the fields of a Poker Hand History that state the bet sizes of a game."""
    if game.limit:
        return {"small_bet": game.raise_sizes[0], "big_bet": game.raise_sizes[2]}
    return {"min_bet": game.big_blind}


def _toml(value: Any) -> str:
    """Write a value in TOML; for these values JSON has the same form."""
    return json.dumps(value)


def _actions(hand: Hand) -> Iterator[str]:
    for player, cards in enumerate(hand.hole, start=1):
        yield f"d dh p{player} {UNKNOWN if cards is None else cards_name(cards)}"
    now, before, board = Hand.start(hand.game), 0, hand.game.board_order(hand.board)
    for actions in hand.betting.rounds:
        now, dealt = _next_cards(now, board)
        yield from (f"d db {dealt}",) if dealt else ()
        before = max(now.betting.spent) if now.betting.round else 0
        for action in actions:
            assert now.to_act is not None
            after = now.apply(action)
            yield f"p{now.to_act + 1} {_action(action, max(after.betting.spent) - before)}"
            now = after
    if hand.betting.folded is None:
        for player, cards in enumerate(hand.hole, start=1):
            yield f"p{player} sm" + ("" if cards is None else f" {cards_name(cards)}")


def _next_cards(hand: Hand, board: tuple[int, ...]) -> tuple[Hand, str]:
    if not hand.to_deal:
        return hand, ""
    dealt = board[len(hand.board) : len(hand.board) + hand.to_deal]
    return hand.deal(dealt), cards_name(dealt)


def _action(action: str, total: int) -> str:
    return {"f": "f", "c": "cc"}.get(action, f"cbr {total}")


def _record(game: Game, number: int, table: Any) -> LoggedHand:
    if not isinstance(table, dict):
        raise InputError(f"expected a table, found {shown(table)}")
    _require(table, "variant", variant(game))
    _require(table, "blinds_or_straddles", list(reversed(game.blinds)))
    _require(table, "antes", [0, 0])
    if game.stacks is not None:
        _require(table, "starting_stacks", list(game.stacks))
    for key, size in _bets(game).items():
        if key in table:
            _require(table, key, size)
    actions = table.get("actions")
    if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
        raise InputError(f"actions: expected a list of texts, found {shown(actions)}")
    hand = _replayed(game, [action.partition("#")[0].strip() for action in actions])
    number_in_file = table.get("hand", number)
    first, second = _names(table.get("players", ["player 1", "player 2"]))
    return LoggedHand(number_in_file if isinstance(number_in_file, int) else number, hand, (first, second))


def _require(table: dict[str, Any], key: str, expected: Any) -> None:
    if table.get(key) != expected:
        raise InputError(f"{key}: expected {expected}, found {shown(table.get(key))}")


def _names(players: Any) -> tuple[str, str]:
    if not isinstance(players, list) or len(players) != 2:
        raise InputError(f"players: expected two, found {shown(players)}")
    return str(players[0]), str(players[1])


def _replayed(game: Game, actions: list[str]) -> Hand:
    hole: list[HoleCards] = [None, None]
    for action in actions:
        dealt = _DEALT.fullmatch(action) or _SHOWN.fullmatch(action)
        if dealt and dealt[2] not in (None, UNKNOWN, "-"):
            player, cards = int(dealt[1]) - 1, _cards(dealt[2])
            before = hole[player]
            if before is not None and sorted(before) != sorted(cards):
                raise InputError(
                    f"actions: expected {cards_name(before)} of p{player + 1} again, found {shown(action)}"
                )
            hole[player] = cards
    hand = Hand.start(game, (hole[0], hole[1]))
    total = 0
    for action in actions:
        if _DEALT.fullmatch(action) or _SHOWN.fullmatch(action):
            continue
        board = _BOARD.fullmatch(action)
        if board:
            hand, total = hand.deal(_cards(board[1])), max(hand.betting.spent)
        else:
            hand = _acted(hand, action, total)
    if not hand.is_over:
        raise InputError(f"actions: expected a hand that is over, found {shown(hand.betting.line)}")
    return hand


def _acted(hand: Hand, text: str, before: int) -> Hand:
    match = _ACTION.fullmatch(text)
    if match is None or int(match[1]) - 1 != hand.to_act:
        player = "nobody" if hand.to_act is None else f"p{hand.to_act + 1}"
        raise InputError(f"actions: expected f, cc or cbr of {player}, found {shown(text)}")
    if not match[3]:
        return hand.apply(match[2][0])
    total = int(match[3]) + before
    bounds = hand.betting.raise_bounds()
    if hand.game.limit and (bounds is None or bounds[0] != total):
        raise InputError(f"actions: expected a legal raise, found {shown(text)}")
    return hand.apply("r" if hand.game.limit else f"r{total}")


def _cards(text: str) -> tuple[int, ...]:
    try:
        return parse_cards(text)
    except CardError as error:
        raise InputError(f"actions: {error}") from None
