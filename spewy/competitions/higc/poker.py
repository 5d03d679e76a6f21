"""OpenSpiel's poker games without OpenSpiel: rules, tensors and actions, the hand of a match, and the agent that plays.

>>> table = poker_table("leduc_poker", "rules")
>>> table.game.name, table.size
('leduc', 16)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Literal

import numpy as np

from solvers.tree import Floats
from spewy.bot.bot import Bot
from spewy.bot.tally import tally_of
from spewy.competitions.higc.session import Agent
from spewy.competitions.higc.text import Dialect, State, tensor_values
from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.gamefile import Game, load_game, parse_game
from spewy.game.hand import Hand
from spewy.match.table import hand_seed

Actions = Literal["kuhn", "limit", "full", "menu"]
"""How OpenSpiel numbers the actions of a poker game.

- ``kuhn``: pass, bet.
- ``limit``: fold, call, raise.
- ``full``: fold, call; a larger number is a raise to this total.
- ``menu``: fold, call and a few bets (`MENUS`).
"""

DEFAULTS = {
    "betting": "nolimit",
    "bettingAbstraction": "fcpa",
    "blind": "100 100",
    "boardCards": "",
    "firstPlayer": "1 1",
    "handReaches": "",
    "maxRaises": "",
    "numBoardCards": "0 1",
    "numHoleCards": "1",
    "numPlayers": "2",
    "numRanks": "6",
    "numRounds": "2",
    "numSuits": "4",
    "potSize": "0",
    "raiseSize": "100 100",
    "stack": "1200 1200",
}
"""OpenSpiel's default parameters of universal_poker, without ``calcOddsNumSims``, which does not affect play."""
CALC = "calcOddsNumSims"
UNLIKE = ("boardCards", "handReaches", "potSize")
"""Parameters of universal_poker that start a hand in the middle; only their default values are supported."""
MENUS: Mapping[str, Mapping[int, float]] = {
    "fc": {},
    "fcpa": {2: 1.0, 3: np.inf},
    "fchpa": {2: 1.0, 3: np.inf, 4: 0.5},
}
"""Bets of each betting abstraction by action number, as shares of the pot after a call; inf is all-in."""
_NAME = re.compile(r"(\w+)(?:\((.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class Public:
    """The cards and chips that a state of a poker game shows to one player.

    Attributes:
        board: the public cards, in the order of the deck and not of the deal.
        spent: chips that each player has put in.
    """

    hole: tuple[int, ...]
    board: tuple[int, ...]
    spent: tuple[int, int]


@dataclass(frozen=True)
class PokerTable:
    """A poker game of OpenSpiel.

    Attributes:
        actions: OpenSpiel's numbering of the actions, one of the literals of `Actions`.
        menu: bets by action number, as shares of the pot (inf: all-in); empty unless ``actions`` is "menu".
        sizes: number of values in each tensor.
        hole, board, spent: positions of hole cards, public cards and chips in the concatenated tensors.
    """

    game: Game
    actions: Actions
    menu: Mapping[int, float]
    dialect: Dialect
    sizes: tuple[int, ...]
    hole: slice
    board: slice
    spent: slice

    @property
    def size(self) -> int:
        return sum(self.sizes)

    def read(self, state: State) -> Public:
        parts = zip(state.tensors, self.sizes, strict=True)
        values = np.concatenate([tensor_values(data, size, self.dialect) for data, size in parts])
        chips = values[self.spent]
        if not (np.abs(chips) < 2**31).all():
            raise InputError(f"tensor: expected chips from 0 on, found {shown(chips.tolist())}")
        return Public(
            self._cards(values[self.hole]), self._cards(values[self.board]), (int(chips[0]), int(chips[1]))
        )

    def total(self, number: int, betting: Betting) -> int | None:
        """Return the total to which action ``number`` raises; None for a fold, a call or an illegal raise."""
        bounds = betting.raise_bounds()
        if bounds is None or number < (1 if self.actions == "kuhn" else 2):
            return None
        if self.actions in ("kuhn", "limit"):
            return bounds[0]
        if self.actions == "full":
            return number
        share, highest = self.menu.get(number, np.inf), max(betting.spent)
        return bounds[1] if share == np.inf else min(highest + round(share * 2 * highest), bounds[1])

    def number(self, action: str, betting: Betting, legal: tuple[int, ...]) -> int:
        """Return OpenSpiel's number of the legal action that is nearest to an ACPC action."""
        if action[0] != "r":
            return _listed(self._plain(action, betting), action, legal)
        bounds = betting.raise_bounds()
        wanted = bounds[0] if action == "r" and bounds else int(action[1:] or 0)
        raises = {number: self.total(number, betting) for number in legal}
        near = [(abs(total - wanted), number) for number, total in raises.items() if total is not None]
        return min(near)[1] if near else _listed(self._plain("c", betting), action, legal)

    def _plain(self, action: str, betting: Betting) -> int:
        """Return the number of a fold, check or call; in Kuhn poker a check or fold is "pass", and a call "bet"."""
        if self.actions == "kuhn":
            return int(action == "c" and betting.can_fold)
        return int(action == "c")

    def _cards(self, bits: Floats) -> tuple[int, ...]:
        return tuple(self.game.deck.cards[place] for place in np.flatnonzero(bits))


def poker_table(name: str, dialect: Dialect) -> PokerTable | None:
    """Return the poker game with an OpenSpiel name; None for other games and unsupported poker games."""
    match = _NAME.fullmatch(name.strip())
    if match is None:
        return None
    short, parameters = match[1], _parameters(match[2] or "")
    if short == "kuhn_poker" and parameters.get("players", "2") == "2":
        return _small("kuhn", "kuhn", dialect)
    if short == "leduc_poker" and parameters in ({}, {"players": "2"}):
        return _small("leduc", "limit", dialect)
    if short == "universal_poker" and dialect == "rules":
        return _universal(parameters)
    return None


def _small(name: str, actions: Actions, dialect: Dialect) -> PokerTable:
    """Make Kuhn or Leduc poker; in the older dialect, Kuhn poker's public tensor does not show the player."""
    game = load_game(name)
    n = game.num_ranks * game.num_suits
    m = n if sum(game.num_board_cards) else 0
    tensors = [[("player", 2), ("hole", n), ("board", m), ("spent", 2)]]
    if dialect == "older":
        tensors = [[("player", 2 if m else 0), ("board", m), ("spent", 2)], [("player", 2), ("hole", n)]]
    return _table(game, actions, {}, dialect, tensors)


def _universal(parameters: Mapping[str, str]) -> PokerTable | None:
    fields = {**DEFAULTS, **parameters}
    unlike = any(fields[key] != DEFAULTS[key] for key in UNLIKE)
    if unlike or fields["numPlayers"] != "2" or set(fields) - set(DEFAULTS) - {CALC}:
        return None
    limit, abstraction = fields["betting"] == "limit", fields["bettingAbstraction"]
    if not limit and abstraction not in (*MENUS, "fullgame"):
        return None
    game = parse_game(_game_text(fields, limit), "universal_poker")
    n = game.num_ranks * game.num_suits
    actions: Actions = "limit" if limit else "full" if abstraction == "fullgame" else "menu"
    menu = MENUS[abstraction] if actions == "menu" else {}
    tensor = [("player", 2), ("hole", n), ("board", n), ("spent", 2)]
    return _table(game, actions, menu, "rules", [tensor])


def _table(
    game: Game,
    actions: Actions,
    menu: Mapping[int, float],
    dialect: Dialect,
    tensors: Sequence[Sequence[tuple[str, int]]],
) -> PokerTable:
    """Make a poker game; ``tensors`` lists the parts of each tensor as (name, number of values)."""
    places, begin = dict[str, slice](), 0
    for name, size in chain.from_iterable(tensors):
        places[name] = slice(begin, begin + size)
        begin += size
    sizes = tuple(sum(size for _, size in tensor) for tensor in tensors)
    hole, board, spent = (places[name] for name in ("hole", "board", "spent"))
    return PokerTable(game, actions, menu, dialect, sizes, hole, board, spent)


def _game_text(fields: Mapping[str, str], limit: bool) -> str:
    keys = ["numPlayers", "numRounds", "stack", "blind", "firstPlayer", "maxRaises"]
    keys += ["raiseSize"] if limit else []
    keys += ["numSuits", "numRanks", "numHoleCards", "numBoardCards"]
    lines = [f"{key} = {fields[key]}" for key in keys if fields[key].strip()]
    return "\n".join(["GAMEDEF", fields["betting"], *lines, "END GAMEDEF", ""])


def _parameters(text: str) -> dict[str, str]:
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    return {key.strip(): value.strip() for key, _, value in parts}


def _listed(number: int, action: str, legal: tuple[int, ...]) -> int:
    if number not in legal:
        raise InputError(f"action {action!r}: expected one of {shown(list(legal))}, found {number}")
    return number


class Follower:
    """Rebuilds the hand from the successive states of a match, as they are shown to one player.

    The first states deal the hole cards. Each further state follows from the previous state by one action or one card.
    A larger board reveals a card, more chips of a player reveal a call or raise, and a state that differs in nothing
    reveals a check. A fold ends the match, so no state shows it.

    Attributes:
        hand: the hand so far; None before both players have their cards.
    """

    def __init__(self, table: PokerTable, seat: int) -> None:
        self._game, self._seat = table.game, seat
        self.hand: Hand | None = None
        self._undealt = 2 * table.game.num_hole_cards
        self._dealt: tuple[int, ...] = ()
        self._last: Public | None = None

    def see(self, public: Public) -> None:
        """Update the hand by the next state of the match."""
        if self._undealt:
            self._undealt -= 1
            return
        if self.hand is None or self._last is None:
            self.hand = self._started(public)
        else:
            self.hand = self._next(self.hand, self._last, public)
        self._last = public

    def _started(self, public: Public) -> Hand:
        if public.spent != Betting.start(self._game).spent or public.board:
            raise InputError(
                f"tensor: expected blinds {self._game.blinds} and no board, found {public.spent} and {public.board}"
            )
        return Hand.start(self._game, (public.hole, None) if self._seat == 0 else (None, public.hole))

    def _next(self, hand: Hand, last: Public, public: Public) -> Hand:
        new = tuple(card for card in public.board if card not in last.board)
        moved = [player for player in (0, 1) if public.spent[player] != last.spent[player]]
        if public.hole != last.hole or len(public.board) != len(last.board) + len(new) or len(moved) > 1:
            raise _lost("one card or one player's chips more", last, public)
        if new:
            if moved or not hand.to_deal:
                raise _lost("no public card", last, public)
            return self._with_cards(hand, new)
        return hand.apply(self._action(hand, last, public, moved))

    def _with_cards(self, hand: Hand, new: tuple[int, ...]) -> Hand:
        """Collect public cards one by one, and deal them to the hand when the round's cards are complete."""
        self._dealt += new
        if len(self._dealt) < hand.to_deal:
            return hand
        dealt, self._dealt = self._dealt, ()
        return hand.deal(dealt)

    def _action(self, hand: Hand, last: Public, public: Public, moved: list[int]) -> str:
        player = hand.to_act
        if player is None or moved not in ([], [player]):
            raise _lost(f"chips of player {player} or nothing to change", last, public)
        total, most = public.spent[player], max(last.spent)
        if total <= most:
            if total != hand.betting.called().spent[player]:
                raise _lost("a call", last, public)
            return "c"
        return "r" if self._game.limit else f"r{total}"


def _lost(expected: str, last: Public, public: Public) -> InputError:
    return InputError(f"tensor after {last}: expected {expected}, found {public}")


class PokerAgent(Agent):
    """Plays one seat of a poker game.

    If a state cannot follow from the previous state, the agent checks or calls from then on; in Kuhn poker it passes.

    Args:
        bot: the bot that plays; the agent's `close` closes it.
        note: called by `close` with the number of decisions from each source, such as the stored strategy or a
            re-solve, and with the bot's failures.
    """

    def __init__(
        self, table: PokerTable, bot: Bot, seat: int, seed: int, note: Callable[[str], None]
    ) -> None:
        self._table, self._bot, self._seat, self._note = table, bot, seat, note
        self._seeds = (hand_seed(seed, number) for number in count())
        self.new_match()

    def new_match(self) -> None:
        self._follower: Follower | None = Follower(self._table, self._seat)

    def see(self, state: State) -> None:
        if self._follower is None:
            return
        follower, self._follower = self._follower, None
        before = follower.hand
        follower.see(self._table.read(state))
        if before is None and follower.hand is not None:
            self._bot.new_hand(follower.hand, self._seat, next(self._seeds))
        self._follower = follower

    def act(self, legal: tuple[int, ...]) -> int:
        hand = None if self._follower is None else self._follower.hand
        if hand is None or hand.to_act != self._seat:
            # Check or call; fold if neither is legal. In Kuhn poker, pass.
            for number in (0,) if self._table.actions == "kuhn" else (1, 0):
                if number in legal:
                    return number
            raise InputError("hand: it is not this player's turn")
        return self._table.number(self._bot.act(hand), hand.betting, legal)

    def close(self) -> None:
        """Close the bot; report its failures, and how many decisions came from each source, such as a re-solve."""
        self._bot.close()
        tally = tally_of(self._bot).take()
        if tally.sources:
            self._note(f"decisions of {self._table.game.name}: {tally.sources_text}")
        if tally.failures:
            self._note(f"WARNING: failed: {tally.failures_text}")
