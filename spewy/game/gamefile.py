"""Game definitions: the ACPC's ``.game`` files.

Each line of a file has a keyword, an optional ``=``, and numbers. Player 0 has the big blind and acts first after the
flop; player 1 is the button. Players count from 0 in `Game.first_player` and from 1 in the file's ``firstPlayer``.
Equal blinds are antes. Only games with two players and one or two hole cards are allowed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from buckets.cards import Deck, History, hand_index
from buckets.errors import CardError
from spewy.errors import InputError, path_text, shown
from spewy.game.names import ROUND_NAMES
from spewy.system.textfile import exists, read_text

__all__ = [
    "DEFAULT_MAX_RAISES",
    "MAX_CHIPS",
    "Game",
    "format_game",
    "load_game",
    "parse_game",
    "shipped_games",
]

GAMES = Path(__file__).resolve().parents[1] / "games"
"""Folder of the games that come with spewy."""
DEFAULT_MAX_RAISES = 255
MAX_CHIPS = 10**9
"""Largest pot, stack, blind or raise; sums of such amounts are exact in integers and in doubles."""


@dataclass(frozen=True)
class Game:
    """The rules of a game; tuples have an element for each round or for each player."""

    name: str
    limit: bool
    num_players: int
    num_rounds: int
    stacks: tuple[int, ...] | None
    """Chips of each player at the start of a hand; None: unlimited."""
    blinds: tuple[int, ...]
    raise_sizes: tuple[int, ...]
    """Size of a bet or raise in each round of a limit game; empty in no-limit games."""
    first_player: tuple[int, ...]
    """The player who starts each round, counted from 0."""
    max_raises: tuple[int, ...]
    num_suits: int
    num_ranks: int
    num_hole_cards: int
    num_board_cards: tuple[int, ...]
    """Board cards dealt at the start of each round."""

    @cached_property
    def deck(self) -> Deck:
        return Deck(self.num_ranks, self.num_suits)

    def hand_number(self, cards: Sequence[int]) -> int:
        """Return the index of a hand among all hands of the deck; its cards may be in any order."""
        if len(cards) != self.num_hole_cards:
            raise CardError(f"expected a hand of {self.num_hole_cards} cards, found {len(cards)}")
        return int(hand_index(self.deck, cards))

    @property
    def big_blind(self) -> int:
        """The larger blind, at least 1 chip; in no-limit games it is the smallest bet."""
        return max(1, *self.blinds)

    @property
    def is_holdem(self) -> bool:
        """Whether the hands are those of hold'em: two cards of a deck of 52."""
        return self.num_hole_cards == 2 and len(self.deck) == 52

    @property
    def has_antes(self) -> bool:
        """Whether the blinds are equal, so that nobody faces a bet at the start."""
        return len(set(self.blinds)) == 1

    @cached_property
    def board_sizes(self) -> tuple[int, ...]:
        """Number of public cards on the board in each round, also from earlier rounds.

        >>> load_game("leduc").board_sizes
        (0, 1)
        """
        return tuple(sum(self.num_board_cards[: r + 1]) for r in range(self.num_rounds))

    def board_order(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Sort the public cards of each round, as the names of boards do.

        The cards of the first round stay first. Within a round high cards come first, and cards of equal rank are in
        the order spades, hearts, diamonds, clubs.

        >>> from buckets.cards import cards_name, parse_cards
        >>> cards_name(load_game("upac").board_order(parse_cards("2c 8c Jd Ah 3s")))
        'Jd8c2cAh3s'
        """
        out, start = list[int](), 0
        for size in self.num_board_cards:
            out += sorted(cards[start : start + size], reverse=True)
            start += size
        return (*out, *cards[start:])

    def cut(self, cards: Sequence[int]) -> History:
        """Split public cards, in the order of the deal, into a sorted group for each round that deals any."""
        groups, start = [], 0
        for size in self.num_board_cards:
            if size and start < len(cards):
                groups.append(tuple(sorted(cards[start : start + size])))
            start += size
        return tuple(groups)

    @property
    def round_names(self) -> tuple[str, ...]:
        """Names of the rounds in job files: hold'em's preflop, flop, turn, river, for every game."""
        return ROUND_NAMES[: self.num_rounds]


def load_game(name_or_path: str | Path) -> Game:
    """Read a game that comes with spewy, by its name, or a game from a file.

    >>> load_game("kuhn").num_ranks
    3
    """
    if str(name_or_path) in shipped_games():
        return parse_game((GAMES / f"{name_or_path}.game").read_text(), str(name_or_path))
    path = Path(name_or_path)
    if not exists(path):
        names = ", ".join(shipped_games())
        raise InputError(
            f"game '{path_text(name_or_path)}': expected a .game file or one of {names}; found neither"
        )
    text = read_text(path, f"game '{path_text(name_or_path)}'")
    return parse_game(text, path.name.removesuffix(".game"))


def shipped_games() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in GAMES.glob("*.game")))


@cache
def shipped_name(text: str) -> str | None:
    """Return the name of the game that comes with Spewy and has this text (see `format_game`); None if none has."""
    return next((name for name in shipped_games() if format_game(load_game(name)) == text), None)


def parse_game(text: str, name: str) -> Game:
    limit, fields = _read_lines(text, name)
    fields.check_players()
    rounds = fields.one("numRounds", low=1, high=4)
    stacks = fields.many("stack", 2, "player", low=1, high=MAX_CHIPS, default=())
    blinds = fields.many("blind", 2, "player", high=MAX_CHIPS)
    raise_sizes = fields.many("raiseSize", rounds, "round", low=1, high=MAX_CHIPS) if limit else ()
    first_player = fields.many("firstPlayer", rounds, "round", low=1, high=2, default=(1,) * rounds)
    max_raises = fields.many(
        "maxRaises", rounds, "round", high=DEFAULT_MAX_RAISES, default=(DEFAULT_MAX_RAISES,) * rounds
    )
    game = Game(
        name=name,
        limit=limit,
        num_players=2,
        num_rounds=rounds,
        stacks=stacks or None,
        blinds=blinds,
        raise_sizes=raise_sizes,
        first_player=tuple(player - 1 for player in first_player),
        max_raises=max_raises,
        num_suits=fields.one("numSuits", low=1, high=4),
        num_ranks=fields.one("numRanks", low=1, high=13),
        num_hole_cards=fields.one("numHoleCards", low=1, high=2),
        num_board_cards=fields.many("numBoardCards", rounds, "round", high=52),
    )
    _check(game)
    return game


def format_game(game: Game) -> str:
    """Write a game as a ``.game`` file; `parse_game` reads the same game from it."""

    def row(keyword: str, values: tuple[int, ...]) -> str:
        return f"{keyword} = {' '.join(map(str, values))}"

    lines = ["GAMEDEF", "limit" if game.limit else "nolimit"]
    lines += [row("numPlayers", (game.num_players,)), row("numRounds", (game.num_rounds,))]
    if game.stacks is not None:
        lines.append(row("stack", game.stacks))
    lines.append(row("blind", game.blinds))
    if game.limit:
        lines.append(row("raiseSize", game.raise_sizes))
    lines.append(row("firstPlayer", tuple(player + 1 for player in game.first_player)))
    if set(game.max_raises) != {DEFAULT_MAX_RAISES}:
        lines.append(row("maxRaises", game.max_raises))
    lines += [row("numSuits", (game.num_suits,)), row("numRanks", (game.num_ranks,))]
    lines += [row("numHoleCards", (game.num_hole_cards,)), row("numBoardCards", game.num_board_cards)]
    return "\n".join([*lines, "END GAMEDEF", ""])


_FLAGS = ("limit", "nolimit")
_KEYWORDS = (
    *("numPlayers", "numRounds", "stack", "blind", "raiseSize", "firstPlayer", "maxRaises"),
    *("numSuits", "numRanks", "numHoleCards", "numBoardCards"),
)
_BY_LOWER = {keyword.lower(): keyword for keyword in (*_FLAGS, *_KEYWORDS)}


class _Fields:
    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[str, tuple[int, tuple[int, ...]]] = {}

    def one(self, keyword: str, low: int, high: int) -> int:
        return self.many(keyword, 1, None, low, high)[0]

    def many(
        self,
        keyword: str,
        count: int,
        per: str | None,
        low: int = 0,
        high: int | None = None,
        default: tuple[int, ...] | None = None,
    ) -> tuple[int, ...]:
        if keyword not in self.values:
            if default is None:
                raise InputError(f"game {self.name!r}: expected a line {keyword}, found none")
            return default
        line, values = self.values[keyword]
        subject = f"game {self.name!r}, line {line}, {keyword}"
        if len(values) != count:
            wanted = f"{count} numbers, one per {per}" if per else "one number"
            raise InputError(f"{subject}: expected {wanted}; found {len(values)}")
        for value in values:
            if value < low or (high is not None and value > high):
                bounds = f"{low} to {high}" if high is not None else f"at least {low}"
                raise InputError(f"{subject}: expected {bounds}, found {value}")
        return values

    def check_players(self) -> None:
        line, values = self.values.get("numPlayers", (0, (2,)))
        if values != (2,) and len(values) == 1:
            subject = f"game {self.name!r}, line {line}, numPlayers"
            raise InputError(f"{subject}: expected 2 (heads-up games only), found {values[0]}")
        self.one("numPlayers", low=2, high=2)


def _read_lines(text: str, name: str) -> tuple[bool, _Fields]:
    limit, fields, started = True, _Fields(name), False
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        words = re.sub(r"\s*=\s*", " ", line, count=1).split()
        subject = f"game {name!r}, line {number}"
        if not started:
            if line.upper() != "GAMEDEF":
                raise InputError(f"{subject}: expected GAMEDEF, found {shown(line)}")
            started = True
            continue
        if [word.upper() for word in words] == ["END", "GAMEDEF"]:
            return limit, fields
        keyword = _BY_LOWER.get(words[0].lower()) if words else None
        if keyword is None:
            raise InputError(f"{subject}: expected a keyword of a .game file, found {shown(line)}")
        if keyword in _FLAGS:
            if len(words) > 1:
                raise InputError(f"{subject}: expected {keyword} alone, found {shown(line)}")
            limit = keyword == "limit"
            continue
        if keyword in fields.values:
            raise InputError(
                f"{subject}: expected {keyword} once, found it in line {fields.values[keyword][0]} too"
            )
        for word in words[1:]:
            if not re.fullmatch(r"[0-9]{1,18}", word):
                raise InputError(f"{subject}, {keyword}: expected a whole number, found {shown(word)}")
        fields.values[keyword] = (number, tuple(int(word) for word in words[1:]))
    raise InputError(
        f"game {name!r}: expected {'END GAMEDEF' if started else 'GAMEDEF'}, found the end of the text"
    )


def _check(game: Game) -> None:
    needed = game.num_players * game.num_hole_cards + sum(game.num_board_cards)
    if needed > game.num_suits * game.num_ranks:
        raise InputError(
            f"game {game.name!r}, numSuits and numRanks: expected at least {needed} cards (holes and board), "
            f"found {game.num_suits} x {game.num_ranks} = {game.num_suits * game.num_ranks}"
        )
    if game.stacks is not None:
        for player, (stack, blind) in enumerate(zip(game.stacks, game.blinds, strict=True)):
            if stack < blind:
                subject = f"game {game.name!r}, stack of player {player}"
                raise InputError(f"{subject}: expected at least the blind {blind}, found {stack}")
