"""The Poker Hand History format (J. Kim, 2024): TOML with a table for each hand; several tables are numbered.

In heads-up hands the format's player 1 is the big blind, which is player 0 here; yet the list of blinds begins with the
small blind. The amount of a bet is the player's total in the round after the bet. Amounts may have decimals; they are
read exactly, in a unit in which all amounts of the hand are whole numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards
from spewy.match.acpc_text import LoggedHand, NotTwoPlayersError, Origin, UnreadHand
from spewy.match.two_players import AtTable, PlacedAction, from_the_flop
from spewy.system.textfile import parse_toml

UNKNOWN = "????"
SUFFIXES = (".phh", ".phhs")
MOST_CHIPS = 10**15
"""Largest accepted amount, in the unit in which all amounts of a hand are whole numbers."""
MOST_DECIMALS = 12

_DEALT = re.compile(r"d dh p([12]) ((?:[2-9TJQKA?][cdhs?])+)")
_SHOWN = re.compile(r"p([12]) sm(?: (-|(?:[2-9TJQKA?][cdhs?])+))?")
_BOARD = re.compile(r"d db (\S+)")
_ACTION = re.compile(r"p([12]) (f|cc|cbr ([0-9]{1,12}(?:\.[0-9]{1,12})?))")
_HEADER = re.compile(r"^\[[^\[\]\n]+\]", re.MULTILINE)
"""First line of a hand in a file of several hands, such as ``[12]``."""


def phh_text(records: Iterable[LoggedHand]) -> str:
    # TOML writes these values as JSON does.
    return "\n".join(
        f"[{number}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in _fields(record).items())
        for number, record in enumerate(records, start=1)
    )


def variant(game: Game) -> str:
    """Return the code of a game in the Poker Hand History format: FT for limit, NT for no-limit hold'em."""
    holdem = (len(game.deck), game.num_hole_cards, game.num_board_cards) == (52, 2, (0, 3, 1, 1))
    stakes = not game.limit or game.raise_sizes == tuple(game.raise_sizes[t] for t in (0, 0, -1, -1))
    if not (holdem and stakes and 0 < game.blinds[1] < game.blinds[0]):
        raise InputError(
            f"game {game.name!r}: the hand history format has no code for it; it has hold'em with two blinds only"
        )
    return "FT" if game.limit else "NT"


def read_phh(
    game: Game, text: str, subject: str = "hand history", *, own_stakes: bool = False
) -> Iterator[LoggedHand | UnreadHand]:
    """Read the hands in the text of a Poker Hand History file; a hand that cannot be read does not end the reading.

    Args:
        own_stakes: whether hands may have other blinds, bets and stacks than the game, and antes. Otherwise their
            amounts are converted to the game's chips.
    """
    for number, table in enumerate(_tables(text, subject), start=1):
        named = table.get("hand") if isinstance(table, dict) else None
        number_in_file = named if isinstance(named, int) else number
        yield read_table(game, number_in_file, table, own_stakes)


def read_table(game: Game, number: int, table: Any, own_stakes: bool) -> LoggedHand | UnreadHand:
    """Read one hand from its TOML table; if that fails, or ``table`` is an error, return an `UnreadHand`."""
    try:
        return LoggedHand(number, *_read(game, table, own_stakes))
    except InputError as error:
        return UnreadHand(number, str(error), isinstance(error, NotTwoPlayersError))


def _tables(text: str, subject: str) -> Iterator[Any]:
    """Yield the TOML value of each hand; in place of a hand that is not TOML, the error."""
    try:
        content = parse_toml(text, subject, parse_float=_decimal)
    except InputError:
        starts = [match.start() for match in _HEADER.finditer(text)]
        if len(starts) < 2:
            raise
        for number, (start, end) in enumerate(pairwise([0, *starts[1:], len(text)]), start=1):
            try:
                yield from parse_toml(text[start:end], f"section {number}", parse_float=_decimal).values()
            except InputError as fault:
                yield fault
    else:
        yield from [content] if "variant" in content else content.values()


class _Decimal(Decimal):
    """A number with a point in a hand history, which messages show as it is written."""

    def __repr__(self) -> str:
        return str(self)


def _decimal(text: str) -> _Decimal:
    try:
        return _Decimal(text)
    except ArithmeticError:  # an exponent of many digits
        return _Decimal("nan")


def deal_stacks(game: Game) -> tuple[int, int]:
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
    fields |= {"starting_stacks": list(deal_stacks(game)), "actions": list(_actions(record.hand))}
    return fields | {"hand": record.number, "players": list(record.names)}


def _bets(game: Game) -> dict[str, int]:
    if game.limit:
        return {"small_bet": game.raise_sizes[0], "big_bet": game.raise_sizes[2]}
    return {"min_bet": game.big_blind}


def _actions(hand: Hand) -> Iterator[str]:
    for player, cards in enumerate(hand.hole, start=1):
        yield f"d dh p{player} {UNKNOWN if cards is None else cards_name(cards)}"
    now, before, board = Hand.start(hand.game), 0, hand.game.board_order(hand.board)
    for actions in hand.betting.rounds:
        if now.to_deal:
            dealt = board[len(now.board) : len(now.board) + now.to_deal]
            now = now.deal(dealt)
            yield f"d db {cards_name(dealt)}"
        before = max(now.betting.spent) if now.betting.round else 0
        for action in actions:
            assert now.to_act is not None
            after = now.apply(action)
            total = max(after.betting.spent) - before
            yield f"p{now.to_act + 1} " + {"f": "f", "c": "cc"}.get(action, f"cbr {total}")
            now = after
    if hand.betting.folded is None:
        for player, cards in enumerate(hand.hole, start=1):
            yield f"p{player} sm" + ("" if cards is None else f" {cards_name(cards)}")


@dataclass(frozen=True)
class _Stakes:
    """The stakes of one hand.

    Attributes:
        game: the rules, with the hand's blinds (antes included), bets and stacks in chips.
        ante: chips of each player's ante.
        big_blind: big blind in chips, without the ante.
        chips: number of chips that one unit of the file's amounts is worth.
    """

    game: Game
    ante: int
    big_blind: int
    chips: Fraction


def _read(game: Game, table: Any, own_stakes: bool) -> tuple[Hand, tuple[str, str], Origin | None]:
    if isinstance(table, InputError):
        raise table
    if not isinstance(table, dict):
        raise InputError(f"expected a table, found {shown(table)}")
    if table.get("variant") != variant(game):
        raise InputError(f"variant: expected {variant(game)}, found {shown(table.get('variant'))}")
    lines = table.get("actions")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise InputError(f"actions: expected a list of texts, found {shown(lines)}")
    texts = [
        line if isinstance(line, PlacedAction) else " ".join(line.partition("#")[0].split()) for line in lines
    ]
    actions = [text for text in texts if text]
    stacks = table.get("starting_stacks")
    if own_stakes and isinstance(stacks, list) and len(stacks) > 2:
        return read_at_table(game, _at_table(table, len(stacks)), actions)
    for key in ("starting_stacks", "blinds_or_straddles", "players"):
        value = table.get(key)
        if isinstance(value, list) and len(value) != 2:
            raise InputError(f"{key}: expected two players, found {len(value)}")
    stakes = _own_stakes(game, table, actions) if own_stakes else _stakes_of(game, table)
    return replayed(stakes, actions), _names(table.get("players", ["player 1", "player 2"])), None


def _at_table(table: dict[str, Any], n: int) -> AtTable:
    """Read the hand of three or more players; the format's first player is the small blind, the last the button."""

    def amounts(key: str) -> tuple[Fraction, ...]:
        value = table.get(key)
        if not isinstance(value, list) or len(value) != n:
            raise InputError(f"{key}: expected {n} amounts, found {shown(value)}")
        # A negative blind is the format's mark for the blind of a player who sits in.
        return tuple(_amount(key, abs(each) if isinstance(each, (int, Decimal)) else each) for each in value)

    stacks, antes, blinds = amounts("starting_stacks"), amounts("antes"), amounts("blinds_or_straddles")
    names = table.get("players", [f"player {i}" for i in range(1, n + 1)])
    if not isinstance(names, list) or len(names) != n:
        raise InputError(f"players: expected {n}, found {shown(names)}")
    big = _amount("min_bet", table["min_bet"]) if "min_bet" in table else blinds[1]
    return AtTable(tuple(map(str, names)), stacks, antes, blinds, big)


def read_at_table(
    game: Game, table: AtTable, actions: list[str]
) -> tuple[Hand, tuple[str, str], Origin | None]:
    """Read a hand of several players, of whom two played it after the flop, as a hand of these two."""
    flop = from_the_flop(table, actions)
    bets = (Fraction(match[3]) for each in flop.actions if (match := _ACTION.fullmatch(each)) and match[3])
    amounts = (flop.pot / 2, *flop.behind, *flop.put_in, table.big_blind, *bets)
    chips = lcm(*(amount.denominator for amount in amounts))
    if max(amounts) * chips > MOST_CHIPS:
        raise InputError(f"expected amounts of at most {len(str(MOST_CHIPS)) - 1} digits in all")
    half = int(flop.pot / 2 * chips)
    first, second = (int(behind * chips) + half for behind in flop.behind)
    bet = int(table.big_blind * chips)
    sizes = tuple(bet if t < 2 else 2 * bet for t in range(len(game.raise_sizes)))
    stakes = _Stakes(
        replace(game, blinds=(half, half), stacks=(first, second), raise_sizes=sizes),
        half,
        bet,
        Fraction(chips),
    )
    hand = replayed(stakes, ["p2 cc", "p1 cc", *flop.actions])
    extra = (half - int(flop.put_in[0] * chips), half - int(flop.put_in[1] * chips))
    return hand, flop.names, Origin(flop.positions, float(flop.depth), flop.before, extra, len(table.names))


def _own_stakes(game: Game, table: dict[str, Any], actions: Iterable[str]) -> _Stakes:
    """Return the stakes that a hand states, in a unit in which all its amounts are whole numbers."""
    (small, big), ante = _blinds(table), _ante(table)
    stacks = _amounts(table, "starting_stacks")
    bets = (Fraction(match[3]) for action in actions if (match := _ACTION.fullmatch(action)) and match[3])
    sizes: tuple[Fraction, ...] = ()
    if game.limit:
        sizes = tuple(
            _amount(key, table[key]) if key in table else factor * big
            for key, factor in (("small_bet", 1), ("big_bet", 2))
        )
    elif "min_bet" in table and _amount("min_bet", table["min_bet"]) != big:
        raise InputError(
            f"min_bet: expected the big blind {_amounts_text(big)}, found {shown(table['min_bet'])}"
        )
    amounts = (small, big, ante, *stacks, *sizes, *bets)
    chips = lcm(*(amount.denominator for amount in amounts))
    if max(amounts) * chips > MOST_CHIPS or 0 in (big, *stacks, *sizes):
        raise InputError(
            f"expected positive stacks and bets of at most {len(str(MOST_CHIPS)) - 1} digits in all, "
            f"found stacks {shown(table['starting_stacks'])}"
        )
    of_both = int(stacks[0] * chips), int(stacks[1] * chips)
    put_in = int((big + ante) * chips), int((small + ante) * chips)
    played = replace(
        game,
        blinds=(min(put_in[0], of_both[0]), min(put_in[1], of_both[1])),
        stacks=of_both,
        raise_sizes=tuple(int(sizes[0 if t < 2 else 1] * chips) for t in range(len(game.raise_sizes))),
    )
    return _Stakes(played, int(ante * chips), int(big * chips), Fraction(chips))


def _stakes_of(game: Game, table: dict[str, Any]) -> _Stakes:
    """Check that a hand has the stakes of a game, in any unit, and return them."""
    (small, big), ante = _blinds(table), _ante(table)
    chips = game.big_blind / big
    expected: dict[str, Any] = {"blinds_or_straddles": [game.blinds[1] / chips, big], "antes": [0, 0]}
    found: dict[str, Any] = {"blinds_or_straddles": [small, big], "antes": [ante, ante]}
    if game.stacks is not None:
        expected["starting_stacks"] = [stack / chips for stack in game.stacks]
        found["starting_stacks"] = list(_amounts(table, "starting_stacks"))
    for key, size in _bets(game).items():
        if key in table:
            expected[key], found[key] = size / chips, _amount(key, table[key])
    for key, value in expected.items():
        if found[key] != value:
            raise InputError(f"{key}: expected {_amounts_text(value)}, found {shown(table[key])}")
    return _Stakes(game, 0, game.big_blind, chips)


def _blinds(table: dict[str, Any]) -> tuple[Fraction, Fraction]:
    small, big = _amounts(table, "blinds_or_straddles")
    if not small <= big or not big:
        found = shown(table["blinds_or_straddles"])
        raise InputError(f"blinds_or_straddles: expected the small blind and the big blind, found {found}")
    return small, big


def _ante(table: dict[str, Any]) -> Fraction:
    first, second = _amounts(table, "antes") if "antes" in table else (Fraction(0), Fraction(0))
    if first != second:
        raise InputError(f"antes: expected the same ante of both players, found {shown(table['antes'])}")
    return first


def _amounts(table: dict[str, Any], key: str) -> tuple[Fraction, Fraction]:
    value = table.get(key)
    if not isinstance(value, list) or len(value) != 2:
        raise InputError(f"{key}: expected two amounts, found {shown(value)}")
    return _amount(key, value[0]), _amount(key, value[1])


def _amount(key: str, value: Any) -> Fraction:
    is_number = isinstance(value, (int, Decimal, Fraction)) and not isinstance(value, bool)
    # The exponent is compared before the conversion, since 1e-999999 has a denominator of a million digits.
    if is_number and isinstance(value, Decimal):
        is_number = value.is_finite() and int(value.as_tuple().exponent) >= -MOST_DECIMALS
    if not is_number or not 0 <= value <= MOST_CHIPS:
        raise InputError(f"{key}: expected an amount, found {shown(value)}")
    return Fraction(value)


def _amounts_text(value: Fraction | list[Fraction]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_amounts_text, value))}]"
    return str(value) if Fraction(value).denominator == 1 else f"{float(value):g}"


def _names(players: Any) -> tuple[str, str]:
    if not isinstance(players, list):
        raise InputError(f"players: expected two, found {shown(players)}")
    return str(players[0]), str(players[1])


def replayed(stakes: _Stakes, actions: list[str]) -> Hand:
    hand = Hand.start(stakes.game, (_hole(actions, 0), _hole(actions, 1)), stakes.big_blind)
    betting = hand.betting
    player = betting.to_act
    if player is not None and betting.spent[1 - player] == betting.stack(1 - player) <= betting.spent[player]:
        hand = hand.apply("c")  # the other player's blind is all-in, and a hand history has no action then
    before = stakes.ante
    dealt: tuple[int, ...] = ()
    for action in actions:
        if _DEALT.fullmatch(action) or _SHOWN.fullmatch(action):
            continue
        board = _BOARD.fullmatch(action)
        try:
            if board is None:
                hand = _acted(stakes, hand, action, before)
            elif not hand.to_deal:
                raise InputError(f"actions: expected no public cards now, found {shown(action)}")
            else:
                dealt += _cards(board[1])
            while hand.to_deal and len(dealt) >= hand.to_deal:
                size = hand.to_deal
                hand, dealt = hand.deal(dealt[:size]), dealt[size:]
                before = max(hand.betting.spent)
        except InputError as error:
            if isinstance(action, PlacedAction) and action.place:
                raise InputError(f"{action.place}: {error}") from None
            raise
    if not hand.is_over:
        raise InputError(f"actions: expected a hand that is over, found {shown(hand.betting.line)}")
    return hand


def _hole(actions: Iterable[str], player: int) -> HoleCards:
    """Return a player's hole cards, dealt or shown; None if a card is unknown."""
    known: tuple[int, ...] = ()
    for action in actions:
        match = _DEALT.fullmatch(action) or _SHOWN.fullmatch(action)
        if match is None or int(match[1]) - 1 != player or match[2] in (None, "-"):
            continue
        cards = _cards("".join(name for name in re.findall("..", match[2]) if "?" not in name))
        both = (*cards, *(card for card in known if card not in cards))
        if len(both) > 2:
            held = f"{cards_name(known)} of p{player + 1} again" if known else "two cards"
            raise InputError(f"actions: expected {held}, found {shown(action)}")
        known = both
    return known if len(known) == 2 else None


def _acted(stakes: _Stakes, hand: Hand, text: str, before: int) -> Hand:
    match = _ACTION.fullmatch(text)
    if match is None or int(match[1]) - 1 != hand.to_act:
        expected = "no further action" if hand.to_act is None else f"f, cc or cbr of p{hand.to_act + 1}"
        if hand.to_deal:
            expected = f"{hand.to_deal} public cards"
        raise InputError(f"actions: expected {expected}, found {shown(text)}")
    if match[2] == "f":
        return hand.given_up()
    if match[2] == "cc":
        return hand.apply("c")
    total = Fraction(match[3]) * stakes.chips + before
    bounds = hand.betting.raise_bounds()
    if bounds is None or not bounds[0] <= total <= bounds[1] or total.denominator != 1:
        legal = (
            "no raise"
            if bounds is None
            else " to ".join(
                f"cbr {_amounts_text((bound - before) / stakes.chips)}" for bound in sorted(set(bounds))
            )
        )
        raise InputError(f"actions: expected {legal}, found {shown(text)}")
    return hand.apply("r" if hand.game.limit else f"r{total}")


def _cards(text: str) -> tuple[int, ...]:
    try:
        return parse_cards(text)
    except CardError as error:
        raise InputError(f"actions: {error}") from None
