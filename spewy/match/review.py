"""Hands that were played, held against what a bot would have done.

The cost of a decision is what the bot's own mix of actions would have won there, less what the action that was taken
wins. Both are valued alike: the opponent's range is played down by the bot's strategy, both go on by it to the end of
the round, and from there nobody bets, so what is left is the equity. A cost may be negative; of decisions that are
drawn from the bot's mix the mean is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from buckets.cards import blocked, hands
from solvers.tree import Floats
from spewy.bot.bot import Mix, Reveals
from spewy.errors import InputError, path_text, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards
from spewy.match.acpc_text import LoggedHand
from spewy.match.aivat import stake
from spewy.match.log import read_log
from spewy.match.odds import shares
from spewy.match.phh import SUFFIXES, read_phh
from spewy.match.score import MBB
from spewy.match.table import acted, by_action, decisions
from spewy.system.textfile import read_text


def read_hands(game: Game, path: Path) -> Iterator[LoggedHand]:
    """Read the hands of a file: a PHH file by its suffix, else a log of the ACPC's dealer.

    Raises:
        InputError: the file cannot be read, has no hands, or holds hands that cannot have been played.
    """
    subject = f"file {path_text(path)}"
    text = read_text(path, subject)
    is_phh = path.suffix.lower() in SUFFIXES
    hands_of = read_phh(game, text, subject) if is_phh else read_log(game, text.splitlines(), subject)
    first = next(hands_of, None)
    if first is None:
        raise InputError(f"{subject}: expected hands that were played, found none")
    yield first
    yield from hands_of


@dataclass(frozen=True)
class Decided:
    """A decision that was taken, and the bot's strategy at it.

    Attributes:
        player: the player who acted.
        line: the betting before the decision.
        board: public cards, in `Game.board_order`.
        action: the action that was taken.
        actions: the bot's actions there.
        frequencies: ``[action]``, the bot's frequencies for the hand that was held; None if the hand is not known.
        values: ``[action]``: chips that each action wins over the whole hand.
        cost: cost of the action in chips, as the module says; None if the hand is not known.
    """

    player: int
    line: str
    board: tuple[int, ...]
    action: str
    actions: tuple[str, ...]
    frequencies: tuple[float, ...] | None
    values: tuple[float, ...] | None
    cost: float | None

    @property
    def frequency(self) -> float | None:
        """How often the bot does what was done; None: the hand is not known."""
        if self.frequencies is None:
            return None
        return dict(zip(self.actions, self.frequencies, strict=True)).get(self.action, 0.0)


def review_hand(bot: Reveals, hand: Hand, players: Sequence[int] = (0, 1), seed: int = 0) -> list[Decided]:
    """All decisions of some players in a hand that is over.

    Args:
        bot: whose strategy is the measure.
        hand: with the hole cards that are known.
        players: whose decisions.
        seed: of what is drawn before the flop, and of the bot.
    """
    return list(_Hand(bot, hand, seed).decisions(players))


@dataclass(frozen=True)
class Reviewed:
    """A decision of a match: whose, in which hand, with which cards."""

    number: int
    name: str
    hole: HoleCards
    decided: Decided


@dataclass(frozen=True)
class Total:
    """What is told of a player.

    Attributes:
        hands: that it played.
        decisions: whose cost is known.
        cost: of all of them, in mbb per hand; None: of none.
        won: in mbb per hand, of hands whose ends tell it; None: of none.
    """

    hands: int
    decisions: int
    cost: float | None
    won: float | None


def review_hands(bot: Reveals, played: Iterable[LoggedHand], name: str | None = None) -> list[Reviewed]:
    """All decisions of a match, or those of one player.

    Raises:
        InputError: nobody has that name, or both players of a hand have the same.
    """
    out, names = list[Reviewed](), set[str]()
    for logged in played:
        if logged.names[0] == logged.names[1]:
            raise InputError(
                f"hand {logged.number}: expected two players whose names differ, found {shown(logged.names[0])} twice"
            )
        names.update(logged.names)
        players = [player for player in (0, 1) if name in (None, logged.names[player])]
        for decided in review_hand(bot, logged.hand, players) if players else ():
            player = decided.player
            out.append(Reviewed(logged.number, logged.names[player], logged.hand.hole[player], decided))
    if name is not None and name not in names:
        raise InputError(f"--player: expected one of {', '.join(sorted(names))}, found {shown(name)}")
    return out


def summary(
    played: Sequence[LoggedHand], found: Iterable[Reviewed], big_blind: int, name: str | None = None
) -> dict[str, Total]:
    """Totals by player's name, of all or of one."""
    known = sorted({each for logged in played for each in logged.names})
    costs: dict[str, list[float]] = {each: [] for each in known if name in (None, each)}
    for each in found:
        if each.decided.cost is not None:
            costs[each.name].append(each.decided.cost)
    mbb = MBB / big_blind
    out = {}
    for player, spent in costs.items():
        hands_of = [logged for logged in played if player in logged.names]
        won = [logged.hand.net()[logged.names.index(player)] for logged in hands_of if _told(logged.hand)]
        mean = mbb * sum(won) / len(won) if won else None
        cost = mbb * sum(spent) / len(hands_of) if spent else None
        out[player] = Total(len(hands_of), len(spent), cost, mean)
    return out


def _told(hand: Hand) -> bool:
    """Whether it is known who won what."""
    return hand.betting.folded is not None or None not in hand.hole


class _Hand:
    def __init__(self, bot: Reveals, hand: Hand, seed: int) -> None:
        self.bot, self.hand, self.seed = bot, hand, seed
        self.deck = hands(hand.game.deck, hand.game.num_hole_cards)
        self.mixes: dict[str, Mix] = {}
        player = 0 if hand.hole[0] is not None else 1
        bot.new_hand(Hand.start(hand.game, hand.hole).seen_by(player), player, seed)

    def decisions(self, players: Sequence[int]) -> Iterator[Decided]:
        ranges = [np.ones(len(self.deck)), np.ones(len(self.deck))]
        for public, action in decisions(self.hand):
            player = public.to_act
            assert player is not None
            if player in players:
                yield self.decided(public, action, player, ranges[1 - player])
            ranges[player] = ranges[player] * self.frequencies(public).get(action, 0.0)

    def decided(self, public: Hand, action: str, player: int, other: Floats) -> Decided:
        mix, own = self.mix(public), self.hand.hole[player]
        line, board = public.betting.line, public.game.board_order(public.board)
        if own is None:
            return Decided(player, line, board, action, mix.actions, None, None, None)
        possible = ~blocked(self.deck, [*own, *board])
        weights = (
            possible * other if (possible * other).any() else possible
        )  # the bot never plays so: any hand
        pair = _Pairs(self, player, own, public.board)
        taken, *values = (
            float(weights @ pair.after(public, each) / weights.sum()) for each in (action, *mix.actions)
        )
        frequencies = mix.of(self.hand.game.hand_number(own))
        return Decided(
            player,
            line,
            board,
            action,
            mix.actions,
            tuple(frequencies.tolist()),
            tuple(values),
            float(frequencies @ np.array(values)) - taken,
        )

    def mix(self, public: Hand) -> Mix:
        """What the bot does, asked for once."""
        key = f"{public.betting.line} {public.board}"
        if key not in self.mixes:
            self.mixes[key] = self.bot.strategy(public)
        return self.mixes[key]

    def frequencies(self, public: Hand) -> Mapping[str, Floats]:
        """Of each action, ``[hand of the deck]``."""
        return by_action(self.mix(public), len(self.deck))


class _Pairs:
    """Values of one hand against each other one, to the end of the round."""

    def __init__(self, reviewed: _Hand, player: int, own: Sequence[int], board: tuple[int, ...]) -> None:
        self.reviewed, self.player = reviewed, player
        game = reviewed.hand.game
        self.number = game.hand_number(own)
        self.margin: Floats = np.nan_to_num(2 * shares(game, own, board, reviewed.seed) - 1)

    def after(self, public: Hand, action: str) -> Floats:
        """``[hand of the other]``: chips that an action wins over the whole hand."""
        betting = acted(public.betting, action)
        if betting.folded is not None:
            lost = betting.spent[betting.folded]
            return np.full(
                len(self.margin), -lost if betting.folded == self.player else lost, dtype=np.float64
            )
        if betting.round > public.betting.round or betting.to_act is None:
            return stake(betting) * self.margin
        return self.of(replace(public, betting=betting))

    def of(self, public: Hand) -> Floats:
        """The same where somebody goes on to act."""
        mine = public.to_act == self.player
        out = np.zeros(len(self.margin))
        for action, frequencies in self.reviewed.frequencies(public).items():
            share = np.full_like(out, frequencies[self.number]) if mine else frequencies
            if share.any():
                out += share * self.after(public, action)
        return out
