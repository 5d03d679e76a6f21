"""Hands of a whole game in solved spots: find the spot that a hand reaches, and play the hand by the rules of the spot.

A hand reaches a spot if, at the start of the spot's round, the boards are equal up to suits, and the ratios of the
smaller remaining stack to the pot differ by at most a tolerance. From there on the hand is translated into the spot:

- cards by a suit permutation that maps the hand's board to the spot's board;
- a bet or raise by its share of the pot after a call of the previous bet, into the tree's bet or raise with the nearest
  share (of two equally near ones, the smaller). Chips beyond the smaller stack do not count. An all-in is translated
  into the tree's all-in if the tree has one at the decision.

So the hand's chips need not be whole chips of the spot, nor the spot's chips whole chips of the hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

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
from lockers import LockerError, open_store
from spewy.bot.bet_translation import raise_total
from spewy.errors import InputError, path_text
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.game.names import SEAT_NAMES
from spewy.job.job import Job
from spewy.look.folder import stored_job, strategy_folder
from spewy.look.solution import Solution
from spewy.match.spots import Note, Spot
from spewy.match.table import decisions
from spewy.system.tools import Closing

DEFAULT_TOLERANCE = 0.05
MOST_OPEN = 16
"""Largest number of solves of a batch that are open at the same time."""

Rules: TypeAlias = tuple[object, ...]
"""Rules that a spot's game and a hand's game must share: all but the name, stacks, blinds and sizes of bets."""


class NotInSpotError(InputError):
    """A hand does not reach a spot, or leaves the spot's betting tree."""


@dataclass(frozen=True)
class Move:
    """A decision of a hand, translated into a spot.

    Attributes:
        public: a hand of the spot's game before the decision, without hole cards.
        player: the player who acted.
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
        hand: the hand.
        spot: the spot.
        first: number of the hand's decisions before the spot.
        chips: chips of the spot for one chip of the hand.
        ratio: the hand's ratio of stack to pot divided by the spot's, less 1. In a limit game, stacks that are enough
            for all bets do not count, and the ratio of bet to pot counts if it differs more.
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
        """Translate the hand's decisions from the start of the spot on.

        Raises:
            NotInSpotError: the hand leaves the spot's tree.
        """
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
        """Find the action of the tree that is nearest to a played action.

        Returns:
            The number of the tree's action, and `Move.size` and `Move.distance`.
        """
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
        tolerance: largest difference between the ratios of stack to pot of a hand and a spot, as a share of the spot's.
        note: called with a line of text before and after dropped rounds are solved again, and for a damaged folder,
            which is left out if there are others.

    Raises:
        InputError: a folder holds no spot, or the only folder holds one that is not solved yet.
        lockers.LockerError: all folders are damaged.
    """

    def __init__(
        self, folders: Sequence[Path], tolerance: float = DEFAULT_TOLERANCE, note: Note | None = None
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
            if job.spot is None:
                raise InputError(f"folder {path_text(folder)} holds a whole game among spots; give one solve")
            history = canonical(job.history, job.rules.deck)[0]
            key = _rules(job.rules), job.tree_config.start_round, history
            self._found.setdefault(key, []).append((folder, job))
        if damage is not None and not self._found:
            raise damage
        self.game: Game = next(iter(self._found.values()))[0][1].rules
        """Rules of the first spot's game."""
        if len(folders) == 1:
            self._open(folders[0])  # an unsolved spot is refused before any work

    def enter(self, hand: Hand) -> HandInSpot:
        """Find the spot that a hand reaches: of several, one of the earliest round, with the nearest ratio.

        Raises:
            NotInSpotError: the hand reaches no spot.
            InputError: the spot is not solved yet.
        """
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
        """Close all solves."""
        while self._opened:
            self._opened.popitem()[1].solution.close()

    def _in_spot(
        self, hand: Hand, folder: Path, first: int, history: History, ratio: Fraction, public: Hand
    ) -> HandInSpot:
        """Open the spot of a folder for a hand.

        Args:
            hand: the hand.
            folder: folder of the spot.
            first: number of the hand's decisions before the spot.
            history: public cards of the hand at the start of the spot's round.
            ratio: `HandInSpot.ratio`.
            public: the hand at the start of the spot's round.
        """
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
    """Return the smaller stack at the start of a hand."""
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
