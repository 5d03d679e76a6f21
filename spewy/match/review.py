"""Compare played hands with a stored strategy.

The cost of a decision is the EV of the strategy's own action frequencies there, less the EV of the action that was
played. For both EVs the opponent has the range with which the strategy comes to the decision, both players follow the
strategy to the end of the round, and nobody bets in later rounds, so that only equity counts there. A cost may be
negative; the mean cost of a player who follows the strategy is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from buckets.cards import blocked, cards_name, hands
from lockers import holds_store
from solvers.tree import Floats
from spewy.bot.bot import Mix, Reveals
from spewy.errors import InputError, path_text, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards
from spewy.game.names import SEAT_NAMES
from spewy.match.acpc_text import LoggedHand
from spewy.match.aivat import stake
from spewy.match.log import read_log
from spewy.match.odds import shares
from spewy.match.phh import SUFFIXES, read_phh
from spewy.match.score import MBB
from spewy.match.spot_strategy import NotInSpotError, SpotStrategy
from spewy.match.table import acted, by_action, decisions
from spewy.system.textfile import read_text

if TYPE_CHECKING:
    from spewy.bot.agent import LockerBot


def open_strategy(folder: str | Path) -> LockerBot | SpotStrategy:
    """Open a folder's stored strategy for reviews: a whole game, a spot, or a batch of spots.

    Raises:
        InputError: the folder holds no solve.
        lockers.LockerError: the folder is damaged.
    """
    from spewy.bot.agent import LockerBot  # this import loads the solvers
    from spewy.bot.options import Options
    from spewy.look.folder import open_policy, strategy_folder

    folder = Path(folder)
    folders = [folder]
    if folder.is_dir() and not holds_store(strategy_folder(folder)):  # a batch
        folders = sorted(each for each in folder.iterdir() if holds_store(strategy_folder(each))) or [folder]
    with ExitStack() as opened:
        policies = [opened.enter_context(open_policy(each)) for each in folders]
        is_spot = all(policy.problem.is_spot for policy in policies)
        if not is_spot and len(policies) > 1:
            raise InputError(
                f"folder {path_text(folder)} is a batch with a whole game in it; give the folder of one solve"
            )
        strategy = SpotStrategy(policies) if is_spot else LockerBot(policies[0], Options(resolve="never"))
        opened.pop_all()
        return strategy


def read_hands(game: Game, path: Path, *, own_stakes: bool = False) -> Iterator[LoggedHand]:
    """Read the hands of a file: a Poker Hand History (``.phh`` or ``.phhs``), or else a log of the ACPC's dealer.

    Args:
        game: the game that was played.
        path: path of the file.
        own_stakes: whether hands of a Poker Hand History may have other blinds and stacks than the game.

    Raises:
        InputError: the file cannot be read, has no hands, or has a hand that is impossible in the game.
    """
    subject = f"file {path_text(path)}"
    text = read_text(path, subject)
    if path.suffix.lower() in SUFFIXES:
        logged = read_phh(game, text, subject, own_stakes=own_stakes)
    else:
        logged = read_log(game, text.splitlines(), subject)
    first = next(logged, None)
    if first is None:
        raise InputError(f"{subject} has no hands")
    yield first
    yield from logged


@dataclass(frozen=True)
class Decided:
    """A decision that was played, compared with the stored strategy.

    Attributes:
        player: the player who acted.
        line: the betting before the decision.
        board: public cards, in `Game.board_order`.
        action: the action that was played.
        actions: the strategy's actions.
        frequencies: frequency of each action in the strategy of the player's cards; None if the cards are unknown.
        values: mean chips that each action wins in the whole hand; None if the cards are unknown.
        cost: cost of the action in chips; None if the cards are unknown.
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
        """Frequency of the played action in the strategy; None if the player's cards are unknown."""
        if self.frequencies is None:
            return None
        return dict(zip(self.actions, self.frequencies, strict=True)).get(self.action, 0.0)


@dataclass(frozen=True)
class Reviewed:
    """A decision from a file of hands, compared with the strategy.

    Attributes:
        number: number of the hand.
        name: name of the player.
        hole: cards of the player; None if unknown.
        decided: the comparison with the strategy.
        big_blind: big blind of the hand in chips.
    """

    number: int
    name: str
    hole: HoleCards
    decided: Decided
    big_blind: int


@dataclass(frozen=True)
class Skipped:
    """A hand that the stored strategy does not cover, or covers only up to some decision.

    Attributes:
        number: number of the hand.
        reason: reason why the strategy does not cover the hand.
        whole: whether no decision of the hand was reviewed.
    """

    number: int
    reason: str
    whole: bool


@dataclass(frozen=True)
class Review:
    """Result of reviewing hands.

    Attributes:
        hands: the hands that the stored strategy covers at least in part.
        decisions: the reviewed decisions of these hands.
        skipped: hands that lie outside of a spot, or leave it.
    """

    hands: tuple[LoggedHand, ...]
    decisions: tuple[Reviewed, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True)
class Total:
    """Summary of all decisions of one player.

    Attributes:
        hands: number of hands.
        decisions: number of decisions with a known cost.
        cost: sum of the costs in mbb per hand; None without such decisions.
        won: winnings in mbb per hand, over hands with a known result; None without such hands.
    """

    hands: int
    decisions: int
    cost: float | None
    won: float | None


def review_hand(
    strategy: Reveals | SpotStrategy, hand: Hand, players: Sequence[int] = (0, 1), seed: int = 0
) -> list[Decided]:
    """Review the decisions of some players in a finished hand.

    Args:
        strategy: the strategy to compare with.
        hand: the hand with all known hole cards.
        players: numbers of the players to review.
        seed: seed of the random final boards for equities before the flop, and of the strategy.

    Raises:
        NotInSpotError: the hand, or one of its decisions, lies outside of the strategy's spot.
    """
    return list(_Hand(strategy, hand, seed).decisions(players))


def review_hands(
    strategy: Reveals | SpotStrategy, played: Iterable[LoggedHand], name: str | None = None
) -> Review:
    """Review the decisions in several hands.

    Args:
        strategy: the strategy to compare with.
        played: the hands.
        name: name of the player to review; None: review all players.

    Raises:
        InputError: no player has the name, or both players of a hand have the same name.
    """
    covered, out, skipped, names = list[LoggedHand](), list[Reviewed](), list[Skipped](), set[str]()
    for logged in played:
        if logged.names[0] == logged.names[1]:
            raise InputError(
                f"hand {logged.number}: expected two players whose names differ, found {shown(logged.names[0])} twice"
            )
        names.update(logged.names)
        players = [player for player in (0, 1) if name in (None, logged.names[player])]
        n_before = len(out)
        try:
            for decided in _Hand(strategy, logged.hand, 0).decisions(players) if players else ():
                player_name, hole = logged.names[decided.player], logged.hand.hole[decided.player]
                out.append(Reviewed(logged.number, player_name, hole, decided, logged.hand.game.big_blind))
        except NotInSpotError as error:
            skipped.append(Skipped(logged.number, str(error), len(out) == n_before))
            if len(out) == n_before:
                continue
        covered.append(logged)
    if name is not None and name not in names:
        raise InputError(f"player {shown(name)} is in no hand; choose one of {', '.join(sorted(names))}")
    return Review(tuple(covered), tuple(out), tuple(skipped))


def summary(review: Review, name: str | None = None) -> dict[str, Total]:
    """Compute the totals of each player, by name; chips are converted to mbb with the big blind of each hand.

    Args:
        review: the review.
        name: name of the only player to include; None: include all players.
    """
    known = sorted({each for logged in review.hands for each in logged.names})
    costs: dict[str, list[float]] = {each: [] for each in known if name in (None, each)}
    for each in review.decisions:
        if each.decided.cost is not None:
            costs[each.name].append(MBB * each.decided.cost / each.big_blind)
    out = {}
    for player, spent in costs.items():
        hands_of = [logged for logged in review.hands if player in logged.names]
        won = [
            MBB * logged.hand.net()[logged.names.index(player)] / logged.hand.game.big_blind
            for logged in hands_of
            if _is_known(logged.hand)
        ]
        mean = sum(won) / len(won) if won else None
        cost = sum(spent) / len(hands_of) if spent else None
        out[player] = Total(len(hands_of), len(spent), cost, mean)
    return out


def _is_known(hand: Hand) -> bool:
    """Whether the result of a hand is known: a player folded, or both players' cards are known."""
    return hand.betting.folded is not None or None not in hand.hole


class _Hand:
    """The review of one hand, with a cache of the strategy at its decisions.

    Args:
        strategy: the strategy to compare with.
        hand: the hand with all known hole cards.
        seed: seed of the random final boards, and of the strategy.
    """

    def __init__(self, strategy: Reveals | SpotStrategy, hand: Hand, seed: int) -> None:
        self.strategy, self.hand, self.seed = strategy, hand, seed
        self.deck = hands(hand.game.deck, hand.game.num_hole_cards)
        self.mixes: dict[str, Mix] = {}

    def decisions(self, players: Sequence[int]) -> Iterator[Decided]:
        """Yield the reviews of some players' decisions."""
        first, ranges = self._enter()
        for public, action in list(decisions(self.hand))[first:]:
            player = public.to_act
            assert player is not None
            if player in players:
                yield self.decided(public, action, player, ranges[1 - player])
            ranges[player] = ranges[player] * self.frequencies(public).get(action, 0.0)

    def _enter(self) -> tuple[int, list[Floats]]:
        """Number of the hand's decisions before the spot of the strategy, and both ranges at the spot's root."""
        if isinstance(self.strategy, SpotStrategy):
            first, ranges = self.strategy.enter(self.hand)
            return first, list(ranges)
        player = 0 if self.hand.hole[0] is not None else 1
        start = Hand.start(self.hand.game, self.hand.hole).seen_by(player)
        self.strategy.new_hand(start, player, self.seed)
        return 0, [np.ones(len(self.deck)), np.ones(len(self.deck))]

    def decided(self, public: Hand, action: str, player: int, other: Floats) -> Decided:
        """Review one decision.

        Args:
            public: the hand before the decision, without hole cards.
            action: the action that was played.
            player: the player who acted.
            other: the opponent's range (an array ``[hand]``).
        """
        mix, own = self.mix(public), self.hand.hole[player]
        line, board = public.betting.line, public.game.board_order(public.board)
        if own is None:
            return Decided(player, line, board, action, mix.actions, None, None, None)
        number = self.hand.game.hand_number(own)
        if number not in mix.hands:
            raise NotInSpotError(f"{cards_name(own)} is not in the range of {SEAT_NAMES[player]}")
        possible = ~blocked(self.deck, [*own, *board])
        # If the strategy never plays as the opponent did, the opponent may hold any hand.
        weights = possible * other if (possible * other).any() else possible
        pair = _Pairs(self, player, own, public.board)
        taken, *values = (
            float(weights @ pair.after(public, each) / weights.sum()) for each in (action, *mix.actions)
        )
        frequencies = mix.of(number)
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
        """Return the strategy at a decision; it is cached."""
        key = f"{public.betting.line} {public.board}"
        if key not in self.mixes:
            self.mixes[key] = self.strategy.strategy(public)
        return self.mixes[key]

    def frequencies(self, public: Hand) -> Mapping[str, Floats]:
        """Frequencies of each action at a decision (an array ``[hand]`` for each)."""
        return by_action(self.mix(public), len(self.deck))


class _Pairs:
    """Chips that one hand wins against each other hand, if nobody bets after the current round.

    Args:
        reviewed: the review of the hand, which has the strategy.
        player: the player with the hand.
        own: cards of the hand.
        board: public cards.
    """

    def __init__(self, reviewed: _Hand, player: int, own: Sequence[int], board: tuple[int, ...]) -> None:
        self.reviewed, self.player = reviewed, player
        game = reviewed.hand.game
        self.number = game.hand_number(own)
        self.margin: Floats = np.nan_to_num(2 * shares(game, own, board, reviewed.seed) - 1)

    def after(self, public: Hand, action: str) -> Floats:
        """Chips that an action wins in the whole hand, against each hand of the opponent (an array)."""
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
        """Chips won in the whole hand if both players follow the strategy from a decision on (an array).

        The array has a number for each hand of the opponent.
        """
        is_own = public.to_act == self.player
        out = np.zeros(len(self.margin))
        for action, frequencies in self.reviewed.frequencies(public).items():
            share = np.full_like(out, frequencies[self.number]) if is_own else frequencies
            if share.any():
                out += share * self.after(public, action)
        return out
