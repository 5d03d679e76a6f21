"""Hand histories of poker rooms as text: those of PokerStars and GGPoker in English are read, PokerStars' are written.

A hand begins with a line such as ``PokerStars Hand #1:  Hold'em No Limit ($0.50/$1.00 USD) - 2026/11/28 12:00:00 ET``.
Each hand becomes a table of the Poker Hand History format (`spewy.match.phh`), which checks cards and betting; each
action keeps its line of the file for messages. A heads-up hand with straddles or uneven antes, and a hand of more
players, is read from the flop on, if two players see it (`spewy.match.two_players`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from buckets.cards import cards_name
from spewy.errors import InputError, short, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.acpc_text import LoggedHand, NotTwoPlayersError, Origin, UnreadHand
from spewy.match.phh import deal_stacks, read_at_table, read_table, variant
from spewy.match.table import decisions
from spewy.match.two_players import AtTable, PlacedAction, position_names

ROOM = re.compile(r"^(?:.*\bPokerStars\b.*[0-9]{5,}.*|[\w ]*\b(?i:Hand|Game) #\w*[0-9]+: .*)$", re.MULTILINE)
"""A line with which a hand of a room begins, in any language."""
_HEADER = re.compile(r"[\w ]*\b(?i:Hand|Game) #([A-Za-z]*)([0-9]+): *(.*)")
_STAKES = re.compile(r"\(\s*([^()/]+)/([^()/\s]+)(?:\(([^()]+)\))?[^()]*\)")
_CAP = re.compile(r"- *(\S*[0-9]\S*) Cap\b")
"""Cap in a hand's first line: the most that a player may bet; the rest of the stack is out of play."""
_SEAT = re.compile(r"Seat ([0-9]{1,2}): (.+?) \(([^()\s]+) in chips(?:,[^()]*)?\)(.*)")
_BUTTON = re.compile(r"Seat #([0-9]{1,2}) is the button")
_BOARD = re.compile(r"\*\*\* (FIRST |SECOND |THIRD )?(FLOP|TURN|RIVER) \*\*\* (.*)")
_GROUP = re.compile(r"\[([^\]]*)\]")
_AMOUNT = re.compile(
    r"(?:[A-Z]{3})?[^\w\s.,]{0,3}((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})?(?:\.[0-9]{1,6})?)"
)
_POST = re.compile(r"(?:posts )?(.*?) ?(\S*[0-9]\S*)(?: and (?:is all-in|has reached the \S+ cap))?")
_MOVE = re.compile(
    r"(folds|checks|calls|bets|raises)(?: (\S*[0-9]\S*))?(?: to (\S*[0-9]\S*))?"
    r"(?: and (?:is all-in|has reached the \S+ cap))?(?: \[(.*)\])?"
)
_SHOWN = re.compile(r"(?:shows|showed|mucked) \[([^\]]*)\]")
_ADDED = re.compile(r"(?:STP added:|Cash Drop to Pot ?: ?total) ?(\S+)", re.IGNORECASE)
_IDLE = (
    "shows", "mucks", "doesn't show", "does not show", "is ", "has ", "was ", "will ", "leaves", "joins", "sits",
    "chooses", "receives", "pays", "cashed", "said",
)  # fmt: skip
"""Beginnings of lines of a player that are no action."""
_TABLE = "Spewy"


def read_rooms(game: Game, text: str, *, own_stakes: bool = True) -> Iterator[LoggedHand | UnreadHand]:
    """Read the hands in a poker room's text; a hand that cannot be read does not end the reading.

    Args:
        own_stakes: whether hands may have other blinds and stacks than the game, and more than two players.
    """
    lines = text.splitlines()
    starts = [
        number
        for number, line in enumerate(lines)
        if ROOM.fullmatch(line.strip())
        and (number == 0 or not lines[number - 1].strip() or _HEADER.match(line))
    ]
    for count, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), start=1):
        header = _HEADER.fullmatch(lines[start].strip())
        number = int(header[2][-18:]) if header else count
        try:
            if header is None:
                raise InputError(
                    f"line {start + 1}: expected a hand in English, found {shown(lines[start].strip())}; set the "
                    "room's language to English, or export the hands again"
                )
            yield _Reading(header[3], start + 1, lines[start + 1 : end]).hand(game, number, own_stakes)
        except InputError as error:
            yield UnreadHand(number, str(error), isinstance(error, NotTwoPlayersError))


@dataclass
class _Reading:
    """The reading of one hand.

    Attributes:
        title: the text after the hand's number in its first line.
        first: number of this line in the file.
        live, dead: posted chips by player: the part that is a bet, and the rest.
    """

    title: str
    first: int
    lines: list[str]
    seats: dict[str, int] = field(default_factory=dict)
    stacks: dict[str, Fraction] = field(default_factory=dict)
    live: dict[str, Fraction] = field(default_factory=dict)
    dead: dict[str, Fraction] = field(default_factory=dict)
    blinds: dict[str, str] = field(default_factory=dict)
    moves: list[tuple[str, str, str]] = field(default_factory=list)
    holes: dict[str, str] = field(default_factory=dict)
    button: int = 0
    drop: Fraction = Fraction(0)
    odd: bool = False
    boards: int = 1

    def hand(self, game: Game, number: int, own_stakes: bool) -> LoggedHand | UnreadHand:
        code = self._variant()
        small, big = self._stakes()
        for at, line in enumerate(self.lines, start=self.first + 1):
            text = line.strip()
            place = f"line {at} ({short(text, 60)})"
            try:
                if text.startswith("*** SUMMARY"):
                    self._summary(self.lines[at - self.first :])
                    break
                self._line(text, place)
            except InputError as error:
                raise InputError(f"{place}: {error}") from None
        if not game.limit:
            small, big = self._posted("small", small), self._posted("big", big)
        order = self._order()
        number_of = {name: f"p{i}" for i, name in enumerate(order, start=1)}
        actions = [
            PlacedAction.at(f"d dh {number_of[name]} {cards}", "") for name, cards in self.holes.items()
        ]
        for name, action, place in self.moves:
            actions.append(PlacedAction.at(f"{number_of[name]} {action}" if name else action, place))
        if code != variant(game):
            raise InputError(
                f"line {self.first}: expected {variant(game)} (NT: no-limit, FT: limit), found {code}"
            )
        if self._is_plain(order, small, big, game.limit):
            return self._read(game, number, order, actions, (small, big), own_stakes)
        if not own_stakes:
            raise InputError(
                f"{len(order)} players, straddles or uneven antes; only a spot can review the hand"
            )
        positions = self._positions(order)
        table = AtTable(
            tuple(order),
            tuple(self.stacks[name] for name in order),
            tuple(self.dead.get(name, Fraction(0)) for name in order),
            tuple(self.live.get(name, Fraction(0)) for name in order),
            small if game.limit else big,  # the first line of a limit hand has the bets
            positions,
            self.drop,
        )
        hand, names, origin = read_at_table(game, table, [*actions])
        return LoggedHand(number, hand, names, self._told(origin))

    def _posted(self, kind: str, blind: Fraction) -> Fraction:
        """Return the blind of a ``kind`` as posted, or ``blind``, from the header, if nobody posted it in full."""
        for name in (name for name, each in self.blinds.items() if each == kind):
            if self.stacks.get(name, Fraction(0)) - self.dead.get(name, Fraction(0)) > self.live[name]:
                return self.live[name]
        return blind

    def _is_plain(self, order: list[str], small: Fraction, big: Fraction, is_limit: bool) -> bool:
        """Whether two players have posted the blinds ``small`` and ``big`` and equal antes, and nothing else."""
        if [self.blinds.get(name) for name in order] != ["big", "small"] or self.odd or self.drop:
            return False
        first, second = order
        ante = self.dead.get(first, Fraction(0))
        if ante != self.dead.get(second, Fraction(0)):
            return False
        rooms = ((name, self.stacks[name] - ante, blind) for name, blind in ((first, big), (second, small)))
        return is_limit or all(self.live[name] == min(room, blind) for name, room, blind in rooms)

    def _read(
        self,
        game: Game,
        number: int,
        order: list[str],
        actions: list[PlacedAction],
        blinds: tuple[Fraction, Fraction],
        own_stakes: bool,
    ) -> LoggedHand | UnreadHand:
        ante = self.dead.get(order[0], Fraction(0))
        table: dict[str, Any] = {
            "variant": variant(game),
            "antes": [ante, ante],
            "players": order,
            "actions": actions,
        }
        if game.limit:  # the first line has the bets, not the blinds
            table |= {"small_bet": blinds[0], "big_bet": blinds[1]}
            blinds = self.live[order[1]], self.live[order[0]]
        table |= {"blinds_or_straddles": [*blinds], "starting_stacks": [self.stacks[name] for name in order]}
        logged = read_table(game, number, table, own_stakes)
        if isinstance(logged, UnreadHand) or self.boards == 1:
            return logged
        depth = float(min(self.stacks[name] for name in order) / blinds[1])
        return replace(logged, origin=Origin(("BB", "BTN"), depth, None, None))

    def _told(self, origin: Origin | None) -> Origin | None:
        return origin if origin is None or self.boards == 1 else replace(origin, extra=None)

    def _variant(self) -> str:
        game = re.search(r"Hold'?em (No Limit|Limit|Pot Limit|Fixed Limit)", self.title, re.IGNORECASE)
        if game is None or re.search(r"6\+|Short ?Deck|Split|Fusion|Showtime|Tempest|Irish", self.title):
            raise InputError(f"line {self.first}: expected Hold'em No Limit, found {shown(self.title)}")
        if game[1].title() == "Pot Limit":
            raise InputError(f"line {self.first}: expected Hold'em No Limit, found {shown(game[0])}")
        return "NT" if game[1].title() == "No Limit" else "FT"

    def _stakes(self) -> tuple[Fraction, Fraction]:
        found = _STAKES.findall(self.title)
        if not found:
            raise InputError(
                f"line {self.first}: expected blinds such as ($0.50/$1.00), found {shown(self.title)}"
            )
        small, big, _ = found[-1]
        return _chips(small.strip()), _chips(big)

    def _line(self, text: str, place: str) -> None:
        seat, board = _SEAT.fullmatch(text), _BOARD.fullmatch(text)
        if seat and not self.moves and "out of hand" not in seat[4]:
            cap, stack = _CAP.search(self.title), _chips(seat[3])
            self.seats[seat[2]] = int(seat[1])
            self.stacks[seat[2]] = stack if cap is None else min(stack, _chips(cap[1]))
        elif button := _BUTTON.search(text) if text.startswith("Table ") else None:
            self.button = int(button[1])
        elif text.startswith("Dealt to "):
            name = next((each for each in self.seats if text.startswith(f"Dealt to {each} [")), None)
            if name is not None:
                self.holes[name] = _cards(text[len(f"Dealt to {name} ") :])
        elif board:
            self._board(board, place)
        elif added := _ADDED.search(text):
            self.drop += _chips(added[1])
        elif name := max(
            (each for each in self.seats if text.startswith(f"{each}: ")), key=len, default=None
        ):
            self._move(name, text[len(name) + 2 :].strip(), place)

    def _board(self, board: re.Match[str], place: str) -> None:
        if board[1] in ("SECOND ", "THIRD "):
            self.boards = 2
            return
        groups = _GROUP.findall(board[3])
        if not groups:
            raise InputError("expected cards between brackets")
        self.moves.append(("", f"d db {''.join(groups[-1].split())}", place))

    def _move(self, name: str, text: str, place: str) -> None:
        if text.startswith(("posts", "straddle")):
            self._post(name, text)
            return
        if cards := _SHOWN.match(text):
            self.moves.append((name, f"sm {''.join(cards[1].split())}", place))
            return
        move = _MOVE.fullmatch(text)
        if move is None:
            if text.lower().startswith(_IDLE):
                return
            raise InputError("expected folds, checks, calls, bets or raises")
        if move[1] in ("bets", "raises"):
            total = move[3] if move[1] == "raises" else move[2]
            if total is None:
                raise InputError("expected an amount, such as raises $1 to $3")
            self.moves.append((name, f"cbr {_decimal(_chips(total))}", place))
        else:
            self.moves.append((name, "f" if move[1] == "folds" else "cc", place))
        if move[4]:
            self.moves.append((name, f"sm {''.join(move[4].split())}", place))

    def _post(self, name: str, text: str) -> None:
        post = _POST.fullmatch(text)
        if post is None:
            raise InputError("expected a post with an amount")
        what, chips = post[1].lower(), _chips(post[2])
        kind = "small" if what == "small blind" else "big" if what == "big blind" else ""
        if "ante" in what.split():
            self.dead[name] = self.dead.get(name, Fraction(0)) + chips
        elif what == "small & big blinds":
            big = self._stakes()[1]
            self.live[name], self.odd = min(big, chips), True
            self.dead[name] = self.dead.get(name, Fraction(0)) + max(chips - big, Fraction(0))
        elif kind and kind not in self.blinds.values():
            self.blinds[name], self.live[name] = kind, chips
        elif kind == "small" or "dead" in what:
            self.odd = True
            self.dead[name] = self.dead.get(name, Fraction(0)) + chips
        elif kind == "big" or "straddle" in what or "missed" in what or "button" in what:
            self.odd = True
            self.live[name] = max(self.live.get(name, Fraction(0)), chips)
        else:
            raise InputError("expected a blind, an ante or a straddle")

    def _summary(self, lines: Iterable[str]) -> None:
        """Read cards that only the summary shows."""
        for line in lines:
            for name, seat in self.seats.items():
                if line.startswith(f"Seat {seat}: {name} ") and (cards := _SHOWN.search(line)):
                    self.moves.append((name, f"sm {''.join(cards[1].split())}", ""))

    def _order(self) -> list[str]:
        """The players who were dealt in, in the order in which they act after the flop."""
        moved = {name for name, *_ in self.moves}
        dealt = [
            name
            for name in self.seats
            if name in moved or name in self.live or name in self.dead or name in self.holes
        ]
        if len(dealt) < 2:
            raise InputError(f"line {self.first}: expected two players or more, found {len(dealt)}")
        dealt.sort(key=lambda name: (self.seats[name] - self.button - 1) % 100)
        if len(dealt) == 2 and "small" in self.blinds.values():
            dealt.sort(key=lambda name: self.blinds.get(name) == "small")
        return dealt

    def _positions(self, order: list[str]) -> tuple[str, ...]:
        """Return the position of each player in ``order``, the order in which players act after the flop.

        Positions are SB or BB for posted blinds, and names such as UTG and BTN otherwise; two players are BB and BTN.
        """
        if len(order) == 2:
            return position_names(2)
        named = {name: {"small": "SB", "big": "BB"}[kind] for name, kind in self.blinds.items()}
        others = [name for name in order if name not in named]
        seats = position_names(len(others) + 2)[2:] if others else ()
        named |= dict(zip(others, seats, strict=True))
        return tuple(named[name] for name in order)


def _chips(text: str) -> Fraction:
    match = _AMOUNT.fullmatch(text)
    if match is None or not match[1]:
        raise InputError(f"expected an amount such as $1,234.50, found {shown(text)}")
    return Fraction(match[1].replace(",", ""))


def _decimal(amount: Fraction) -> str:
    whole, millionths = divmod(int(amount * 10**6), 10**6)
    return f"{whole}.{millionths:06d}".rstrip("0").rstrip(".")


def _cards(text: str) -> str:
    return "".join("".join(_GROUP.findall(text)).split())


def pokerstars_text(records: Iterable[LoggedHand], when: datetime, hero: str | None = None) -> str:
    """Write hands of a match as PokerStars writes them, with times one second apart; a chip is a dollar.

    Args:
        when: time of the first hand, which also makes the hands' numbers unique.
        hero: name of the player whose hole cards the text shows at the deal; None: both players'.
    """
    texts, seats = [], dict[str, int]()
    for count, record in enumerate(records):
        variant(record.hand.game)  # refuses a game that is not hold'em with two blinds
        for name in record.names:
            seats.setdefault(name, len(seats) % 2 + 1)
        time = when + timedelta(seconds=count)
        texts.append("\n".join(_hand_lines(record, f"{when:%y%m%d%H%M%S}{count:05d}", time, seats, hero)))
    return "".join(f"{text}\n\n\n" for text in texts)


def _hand_lines(
    record: LoggedHand, number: str, time: datetime, seats: Mapping[str, int], hero: str | None
) -> Iterator[str]:
    hand, names = record.hand, record.names
    game, betting = hand.game, hand.betting
    stakes = (game.raise_sizes[0], game.raise_sizes[2]) if game.limit else (game.blinds[1], game.blinds[0])
    kind = "Limit" if game.limit else "No Limit"
    yield f"PokerStars Hand #{number}:  Hold'em {kind} (${stakes[0]}/${stakes[1]} USD) - {time:%Y/%m/%d %H:%M:%S} ET"
    yield f"Table '{_TABLE}' 2-max Seat #{seats[names[1]]} is the button"
    for player in sorted((0, 1), key=lambda player: seats[names[player]]):
        yield f"Seat {seats[names[player]]}: {names[player]} (${deal_stacks(game)[player]} in chips)"
    yield f"{names[1]}: posts small blind ${game.blinds[1]}"
    yield f"{names[0]}: posts big blind ${game.blinds[0]}"
    yield "*** HOLE CARDS ***"
    for player, cards in enumerate(hand.hole):
        if cards is not None and hero in (None, names[player]):
            yield f"Dealt to {names[player]} [{_spaced(cards)}]"
    yield from _streets(hand, names)
    called = min(betting.spent)
    if max(betting.spent) > called:
        winner = betting.spent.index(max(betting.spent))
        yield f"Uncalled bet (${max(betting.spent) - called}) returned to {names[winner]}"
    won = _collected(hand)
    if betting.folded is None:
        yield "*** SHOW DOWN ***"
        for player, cards in enumerate(hand.hole):
            yield f"{names[player]}: " + (
                "mucks hand" if cards is None else f"shows [{_spaced(cards)}] (at showdown)"
            )
    for player, chips in enumerate(won):
        if chips:
            yield f"{names[player]} collected ${_decimal(chips)} from pot"
    yield "*** SUMMARY ***"
    yield f"Total pot ${2 * called} | Rake $0"
    if hand.board:
        yield f"Board [{_spaced(game.board_order(hand.board))}]"
    for player in sorted((0, 1), key=lambda player: seats[names[player]]):
        role = "(big blind)" if player == 0 else "(button) (small blind)"
        end = (
            "folded"
            if betting.folded == player
            else f"collected (${_decimal(won[player])})"
            if won[player]
            else "lost"
        )
        yield f"Seat {seats[names[player]]}: {names[player]} {role} {end}"


def _streets(hand: Hand, names: tuple[str, str]) -> Iterator[str]:
    game, board = hand.game, hand.game.board_order(hand.board)
    told, round_, before = 0, 0, 0

    def deals(until: int) -> Iterator[str]:
        nonlocal told
        for street, size in zip(("FLOP", "TURN", "RIVER"), game.board_sizes[1:], strict=False):
            if told < size <= until:
                shown_before = f"[{_spaced(board[:told])}] " if told else ""
                yield f"*** {street} *** {shown_before}[{_spaced(board[told:size])}]"
                told = size

    for public, action in decisions(hand):
        state = public.betting
        if state.round != round_:
            yield from deals(len(public.board))
            round_, before = state.round, max(state.spent)
        player = public.to_act
        assert player is not None
        after = state.given_up() if action == "f" else state.apply(action)
        added, total = after.spent[player] - state.spent[player], after.spent[player] - before
        highest = max(state.spent) - before
        if action == "f":
            text = "folds"
        elif action == "c":
            text = f"calls ${added}" if added else "checks"
        else:
            text = f"raises ${total - highest} to ${total}" if highest else f"bets ${total}"
        is_all_in = added and after.spent[player] >= state.stack(player)
        yield f"{names[player]}: {text}" + (" and is all-in" if is_all_in else "")
    yield from deals(len(board))


def _collected(hand: Hand) -> tuple[Fraction, Fraction]:
    """Chips that each player takes from the pot, without an uncalled bet."""
    called, (first, _) = min(hand.betting.spent), hand.net()
    share = Fraction(called) if first == 0 else Fraction(2 * called if first > 0 else 0)
    return share, 2 * called - share


def _spaced(cards: Iterable[int]) -> str:
    return " ".join(cards_name([card]) for card in cards)
