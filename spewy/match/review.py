"""Compare the hands of a file with a stored strategy: see `spewy.match.hand_review` for the cost of a decision.

The stored strategy is that of a whole game or of solved spots, in which `SpotHands` finds the spot that a hand reaches.
A hand reaches a spot if, at the start of the spot's round, the boards are equal up to suits, and the ratios of the
smaller remaining stack to the pot differ by at most a tolerance. From there on the hand is translated into the spot:

- cards by a suit permutation that maps the hand's board to the spot's board;
- a bet or raise by its share of the pot after a call of the previous bet, into the tree's bet or raise with the nearest
  share (of two equally near ones, the smaller). Chips beyond the smaller stack do not count. An all-in is translated
  into the tree's all-in if the tree has one at the decision.

So the hand's chips need not be whole chips of the spot, nor the spot's chips whole chips of the hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from buckets.cards import (
    History,
    Perms,
    canonical,
    cards_name,
    permute_cards,
    permute_history,
    suit_permutations,
)
from lockers import LockerError, holds_store, open_store
from spewy.bot.bet_translation import raise_total
from spewy.bot.bot import Reveals
from spewy.errors import InputError, path_text, shown
from spewy.game.amounts import UnitName
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards
from spewy.game.names import SEAT_NAMES
from spewy.job.job import Job
from spewy.look.folder import open_policy, open_strategies, solves_in, stored_job, strategy_folder
from spewy.look.solution import Solution
from spewy.match.acpc_text import LoggedHand, UnreadHand
from spewy.match.hand_review import Decided, decided_in_spot, review_hand
from spewy.match.score import MBB
from spewy.match.spots import Note, Spot
from spewy.match.table import decisions
from spewy.system.html import Printed, Table
from spewy.system.tools import Closing, as_path

if TYPE_CHECKING:
    from spewy.bot.agent import LockerBot


DEFAULT_TOLERANCE = 0.05
MOST_OPEN = 16
"""Largest number of solves of a batch that are open at the same time."""

Rules: TypeAlias = tuple[object, ...]
"""Rules that a spot's game and a hand's game must share: all but the name, stacks, blinds and sizes of bets."""


def open_strategy(
    folder: str | Path, tolerance: float = DEFAULT_TOLERANCE, note: Note | None = None
) -> LockerBot | SpotHands:
    """Open a folder's stored strategy for reviews: a whole game, a spot, or several spots.

    Args:
        folder: folder of a solve, or a folder with the folders of spots or of batches.
        tolerance: largest difference between the ratios of stack to pot of a hand and a spot, as a share of the spot's;
            no effect for a whole game.
        note: called with a line of text before and after dropped rounds of a spot are solved again.

    Raises:
        lockers.LockerError: the folder is damaged.
    """
    from spewy.bot.agent import LockerBot  # this import loads the solvers
    from spewy.bot.options import Options

    folder = as_path(folder, "folder")
    inside = [] if holds_store(strategy_folder(folder)) else _solves_below(folder)
    if inside:
        return SpotHands(inside, tolerance, note)
    with open_strategies(folder) as store:
        is_spot = stored_job(store, folder).spot is not None
    if is_spot:
        return SpotHands([folder], tolerance, note)
    return LockerBot(open_policy(folder), Options(resolve="never"))


def _solves_below(folder: Path) -> list[Path]:
    children = [child for child in folder.iterdir() if child.is_dir()] if folder.is_dir() else []
    batches = (child for child in sorted(children) if not holds_store(strategy_folder(child)))
    return [*solves_in(folder), *(solve for child in batches for solve in solves_in(child))]


@dataclass(frozen=True)
class Fit:
    """How a decision of a hand fits the spot with which it is compared.

    Attributes:
        ratio: the hand's ratio of stack to pot at the start of the spot's round, divided by the spot's, less 1.
        size: size of the played bet or raise as a share of the pot after a call; None for other actions.
        distance: ``size`` less the size of the bet or raise of the spot's tree that stands for it.
        line_distance: largest absolute ``distance`` of the bets and raises in the spot before the decision.
        unit: unit of the amounts of the compared decision: that of the spot's job, such as "chips".
    """

    ratio: float
    size: float | None
    distance: float
    line_distance: float
    unit: UnitName = "chips"


@dataclass(frozen=True)
class Reviewed:
    """A decision from a file of hands, compared with the strategy.

    In a spot, the line, the actions and all amounts of ``decided`` are those of the spot, in the unit of its job; the
    cards are those of the hand.

    Attributes:
        hole: cards of the player; None if unknown.
        big_blind: big blind of the hand, in the unit of ``decided``.
        fit: how the decision fits the spot; None for a whole game.
    """

    number: int
    name: str
    hole: HoleCards
    decided: Decided
    big_blind: float
    fit: Fit | None = None


@dataclass(frozen=True)
class Skipped:
    """A hand that was not reviewed, or only in part.

    Attributes:
        reason: reason why the hand cannot be read, or why the stored strategy does not cover it.
        whole: whether no decision of the hand was reviewed.
        read: whether the hand could be read.
    """

    number: int
    reason: str
    whole: bool
    read: bool = True


@dataclass(frozen=True, repr=False)
class Review(Printed):
    """The comparison of several hands with a stored strategy.

    Attributes:
        hands: the hands that the stored strategy covers at least in part.
        decisions: the reviewed decisions of these hands.
        skipped: hands that cannot be read, lie outside of a spot, or leave it.
        outside: the hands that reach no spot.
    """

    hands: tuple[LoggedHand, ...]
    decisions: tuple[Reviewed, ...]
    skipped: tuple[Skipped, ...] = ()
    outside: tuple[LoggedHand, ...] = ()

    def _table(self) -> Table:
        unit = next((each.fit.unit for each in self.decisions if each.fit is not None), "chips")
        columns = ("hand", "player", "board", "line", "action", f"cost ({unit})")
        rows = tuple(
            (
                str(each.number),
                each.name,
                cards_name(each.decided.board),
                each.decided.line,
                each.decided.action,
                each.decided.cost,
            )
            for each in self.decisions
        )
        title = (
            f"{len(self.hands):,} hands, {len(rows):,} decisions, {len(self.skipped):,} hands skipped or left"
        )
        return Table(title, columns, rows)


@dataclass(frozen=True)
class Total:
    """Summary of one player's reviewed hands.

    The cost of a decision is the EV of the strategy's own frequencies less the EV of the played action.

    Attributes:
        decisions: number of decisions with a known cost.
        cost: cost of all these decisions in mbb per hand; None if no cost is known.
        won: mean winnings in mbb per hand over the hands with a known result; None if no result is known.
    """

    hands: int
    decisions: int
    cost: float | None
    won: float | None


def review_hands(
    strategy: Reveals | SpotHands, played: Iterable[LoggedHand | UnreadHand], name: str | None = None
) -> Review:
    """Review the decisions in several hands; a hand that cannot be reviewed is skipped, with the reason.

    Args:
        played: the finished hands to review; hands that could not be read are skipped.
        name: name of the player to review; None: review all players.
    """
    covered, out, skipped, names = list[LoggedHand](), list[Reviewed](), list[Skipped](), set[str]()
    outside = list[LoggedHand]()
    for logged in played:
        if isinstance(logged, UnreadHand):
            skipped.append(Skipped(logged.number, logged.reason, True, logged.read))
            continue
        names.update(logged.names)
        if name is not None and name not in logged.names:
            continue
        before, reasons = len(out), []
        try:
            if logged.names[0] == logged.names[1]:
                raise InputError(f"both players have the name {shown(logged.names[0])}")
            players = [player for player in (0, 1) if name in (None, logged.names[player])]
            if isinstance(strategy, SpotHands):
                try:
                    in_spot = strategy.enter(logged.hand)
                except NotInSpotError:
                    outside.append(logged)
                    raise
                missing = {player: in_spot.missing(player) for player in players}
                reasons += [reason for reason in missing.values() if reason is not None]
                players = [player for player in players if missing[player] is None]
                out.extend(_in_spot(in_spot, logged, players))
            else:
                out.extend(_in_game(strategy, logged, players))
        except (InputError, LockerError) as error:
            reasons.append(str(error))
        is_whole = len(out) == before
        if reasons:
            skipped.append(Skipped(logged.number, "; ".join(reasons), is_whole))
        if not (reasons and is_whole):
            covered.append(logged)
    if name is not None and name not in names:
        raise InputError(f"player {shown(name)} is in no hand; choose one of {', '.join(sorted(names))}")
    return Review(tuple(covered), tuple(out), tuple(skipped), tuple(outside))


def _in_game(strategy: Reveals, logged: LoggedHand, players: Sequence[int]) -> Iterator[Reviewed]:
    for decided in review_hand(strategy, logged.hand, players):
        name, hole = logged.names[decided.player], logged.hand.hole[decided.player]
        yield Reviewed(logged.number, name, hole, decided, logged.big_blind)


def _in_spot(in_spot: HandInSpot, logged: LoggedHand, players: Sequence[int]) -> Iterator[Reviewed]:
    spot, hole = in_spot.spot, in_spot.hole
    unit = spot.unit
    for move in in_spot.moves() if players else ():
        if move.player not in players:
            continue
        chips = decided_in_spot(spot, move.public, move.action, move.player, hole[move.player])
        decided = replace(
            chips,
            line=unit.line_text(chips.line),
            board=logged.hand.game.board_order(in_spot.own_cards(move.public.board)),
            action=unit.line_text(chips.action),
            actions=tuple(map(unit.line_text, chips.actions)),
            values=None if chips.values is None else tuple(value / unit.chips for value in chips.values),
            cost=None if chips.cost is None else chips.cost / unit.chips,
        )
        size = None if move.size is None else float(move.size)
        fit = Fit(float(in_spot.ratio), size, float(move.distance), float(move.line_distance), unit.name)
        name, cards = logged.names[move.player], logged.hand.hole[move.player]
        big_blind = float(logged.big_blind * in_spot.chips / unit.chips)
        yield Reviewed(logged.number, name, cards, decided, big_blind, fit)


def summary(review: Review, name: str | None = None) -> dict[str, Total]:
    """Return each player's summary by name; chips are converted to mbb with the big blind of each hand.

    Args:
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
            MBB * chips[logged.names.index(player)] / logged.big_blind
            for logged in hands_of
            if (chips := logged.won()) is not None
        ]
        mean = sum(won) / len(won) if won else None
        cost = sum(spent) / len(hands_of) if spent else None
        out[player] = Total(len(hands_of), len(spent), cost, mean)
    return out


class NotInSpotError(InputError):
    """A hand does not reach a spot, or leaves the spot's betting tree."""


@dataclass(frozen=True)
class Move:
    """A decision of a hand, translated into a spot.

    Attributes:
        public: a hand of the spot's game before the decision, without hole cards.
        action: the ACPC action of the spot's tree that stands for the played action.
        size: size of the played bet or raise as a share of the pot after a call; None for other actions.
        distance: ``size`` less the share of the tree's bet or raise; 0 for other actions.
        line_distance: largest absolute distance of the bets and raises before the decision.
    """

    public: Hand
    player: int
    action: str
    size: Fraction | None
    distance: Fraction
    line_distance: Fraction


@dataclass(frozen=True)
class HandInSpot:
    """A hand that reaches a spot.

    Attributes:
        first: number of the hand's decisions before the spot.
        chips: chips of the spot for one chip of the hand.
        ratio: the hand's ratio of stack to pot divided by the spot's, less 1. In a limit game, the ratio of bet to pot
            counts instead if it differs more, or if both stacks are enough for all bets.
        perm: suit permutation that maps the hand's cards to the spot's.
    """

    hand: Hand
    spot: Spot
    first: int
    chips: Fraction
    ratio: Fraction
    perm: Perms

    @property
    def hole(self) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
        """The hole cards of both players, in the spot's suits; None: unknown."""
        first, second = (None if cards is None else self.cards(cards) for cards in self.hand.hole)
        return first, second

    def cards(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Convert cards of the hand to the spot's suits."""
        return tuple(permute_cards(cards, self.perm).tolist())

    def own_cards(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Convert cards of the spot to the hand's suits."""
        return tuple(permute_cards(cards, np.argsort(self.perm)).tolist())

    def missing(self, player: int) -> str | None:
        """Return why a player's known cards cannot be reviewed in the spot; None if they can, or are unknown."""
        cards, problem = self.hand.hole[player], self.spot.problem
        if cards is None or problem.ranges[player][problem.game.hand_number(self.cards(cards))] > 0:
            return None
        return f"{cards_name(cards)} is not in the range of {SEAT_NAMES[player]}"

    def moves(self) -> Iterator[Move]:
        """Translate the hand's decisions from the start of the spot on."""
        state = Hand.start(self.spot.game).deal(self.spot.board)
        farthest = Fraction(0)
        for public, action in list(decisions(self.hand))[self.first :]:
            if state.betting.is_over:
                raise NotInSpotError(
                    f"{state.betting.line} ends the betting in the spot, but not in the hand"
                )
            while size := state.to_deal:
                begun = len(state.board)
                state = state.deal(self.cards(public.board[begun : begun + size]))
            player = state.to_act
            assert player is not None
            number, share, distance = self._nearest(state, public, action)
            acpc = self.spot.node(state).actions[number].acpc
            yield Move(state, player, acpc, share, distance, farthest)
            farthest = max(farthest, abs(distance))
            state = state.apply(acpc)

    def _nearest(self, state: Hand, public: Hand, action: str) -> tuple[int, Fraction | None, Fraction]:
        """Return the index of the tree's nearest action, and `Move.size` and `Move.distance`."""
        node, config, player = self.spot.node(state), self.spot.config, state.to_act
        assert player is not None
        kinds = [each.acpc[0] for each in node.actions]
        if action[0] not in kinds:
            name = {"f": "fold", "c": "check or call", "r": "bet or raise"}[action[0]]
            raise NotInSpotError(f"the spot's tree has no {name} after {state.betting.line or 'the root'}")
        if action[0] != "r":
            return kinds.index(action[0]), None, Fraction(0)
        effective, highest = _effective(public), max(public.betting.spent)
        total = min(raise_total(action, public.betting), effective)
        share = Fraction(total - highest, 2 * highest)
        called = max(node.put_in)
        totals = {i: node.children[i].put_in[player] for i, kind in enumerate(kinds) if kind == "r"}
        shares = {i: Fraction(each - called, config.pot + 2 * called) for i, each in totals.items()}
        all_in = [i for i, each in totals.items() if each == config.stack and total == effective]
        number = min(all_in or shares, key=lambda i: (abs(share - shares[i]), shares[i]))
        return number, share, share - shares[number]


class SpotHands(Closing):
    """The solved spots of some folders, in which hands of a whole game can be played.

    Args:
        folders: folders of solved spots; at most `MOST_OPEN` are open at the same time.
        note: called with a line of text before and after dropped rounds are solved again, and for a damaged folder,
            which is left out if there are others.
        skip_games: whether folders of whole games are left out instead of refused.

    Raises:
        InputError: a folder holds no spot, or the only folder holds one that is not solved yet.
        lockers.LockerError: all folders are damaged.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        tolerance: float = DEFAULT_TOLERANCE,
        note: Note | None = None,
        *,
        skip_games: bool = False,
    ) -> None:
        self._tolerance, self._note = tolerance, note
        self._found: dict[tuple[Rules, int, History], list[tuple[Path, Job]]] = {}
        self._opened: dict[Path, Spot] = {}
        damage: LockerError | None = None
        for folder in folders:
            try:
                with open_store(strategy_folder(folder), read_only=True) as store:
                    job = stored_job(store, folder)
            except LockerError as error:
                damage = error
                if note is not None and len(folders) > 1:
                    note(f"left out: {error}")
                continue
            if job.spot is None and skip_games:
                continue
            if job.spot is None:
                raise InputError(f"folder {path_text(folder)} holds a whole game among spots; give one solve")
            history = canonical(job.history, job.rules.deck)[0]
            key = _rules(job.rules), job.tree_config.start_round, history
            self._found.setdefault(key, []).append((folder, job))
        if damage is not None and not self._found:
            raise damage
        self.game: Game | None = next(iter(self._found.values()))[0][1].rules if self._found else None
        """Rules of the first spot's game; None without folders."""
        if len(folders) == 1 and self._found:
            self._open(folders[0])  # an unsolved spot is refused before any work

    def enter(self, hand: Hand) -> HandInSpot:
        """Find the spot that a hand reaches: of the spots of the earliest round, that with `ratio` nearest to 0."""
        states, rules = list(decisions(hand)), _rules(hand.game)
        reason, off = f"no spot is of the game {hand.game.name}", ""
        for t in sorted({t for other, t, _ in self._found if other == rules}):
            first = sum(len(actions) for actions in hand.betting.rounds[:t])
            if first >= len(states) or states[first][0].betting.round != t:
                reason = f"the hand has no decision on the {hand.game.round_names[t]}"
                break  # later rounds have none, either
            public = states[first][0]
            history = hand.game.cut(public.board)
            spots = self._found.get((rules, t, canonical(history, hand.game.deck)[0]), [])
            by_ratio = sorted(
                ((_ratio(public, job), folder) for folder, job in spots), key=lambda each: abs(each[0])
            )
            if not by_ratio:
                reason = f"the board is {cards_name(public.board)}"
                continue
            ratio, folder = by_ratio[0]
            if abs(ratio) <= self._tolerance:
                return self._in_spot(hand, folder, first, history, ratio, public)
            what = "bet to pot" if hand.game.limit else "stack to pot"
            off = off or (
                f"the ratio of {what} on the {hand.game.round_names[t]} is {float(100 * ratio):+.1f}% off the "
                f"spot's (tolerance {100 * self._tolerance:g}%)"
            )
        raise NotInSpotError(off or reason)

    def close(self) -> None:
        while self._opened:
            self._opened.popitem()[1].solution.close()

    def _in_spot(
        self, hand: Hand, folder: Path, first: int, history: History, ratio: Fraction, public: Hand
    ) -> HandInSpot:
        spot = self._open(folder)
        perms = suit_permutations(hand.game.deck)
        target = spot.problem.history
        fitting = [perm for perm in perms if permute_history(history, perm) == target]
        if history == target:
            fitting = fitting[:1]  # the identity: a board that is the spot's own is compared as it is
        chips = Fraction(spot.pot, sum(public.betting.spent))
        choices = [HandInSpot(hand, spot, first, chips, ratio, perm) for perm in fitting]
        # A range that names suits may hold the hand under one permutation and not under another.
        return next((each for each in choices if not any(map(each.missing, (0, 1)))), choices[0])

    def _open(self, folder: Path) -> Spot:
        spot = self._opened.pop(folder, None)
        if spot is None:
            spot = Spot(Solution.open(folder, note=self._note), folder)
        self._opened[folder] = spot
        while len(self._opened) > MOST_OPEN:
            self._opened.pop(next(iter(self._opened))).solution.close()
        return spot


def _rules(game: Game) -> Rules:
    cards = game.num_suits, game.num_ranks, game.num_hole_cards, game.num_board_cards
    return (game.limit, game.first_player, *cards)


def _effective(public: Hand) -> int:
    return min(public.betting.stack(0), public.betting.stack(1))


def _ratio(public: Hand, job: Job) -> Fraction:
    """Return `HandInSpot.ratio` of a hand, at the start of the spot's round, in the spot of a job."""
    config, betting, game = job.tree_config, public.betting, public.game
    pot, behind = sum(betting.spent), _effective(public) - max(betting.spent)
    ratios = []
    if game.limit:
        t = config.start_round
        bets = game.raise_sizes[t] * config.pot, config.game.raise_sizes[t] * pot
        ratios.append(Fraction(*bets) - 1)
    if config.stack is not None and not (
        _covers(behind, game, job) and _covers(config.stack, config.game, job)
    ):
        ratios.append(Fraction(behind * config.pot, pot * config.stack) - 1)
    return max(ratios, key=abs, default=Fraction(0))


def _covers(stack: int, game: Game, job: Job) -> bool:
    """Whether a stack is enough for all bets and raises of a limit game from the start of a spot on."""
    t = job.tree_config.start_round
    sizes = zip(game.raise_sizes[t:], game.max_raises[t:], strict=True)
    return game.limit and stack >= sum(size * raises for size, raises in sizes)
