"""Play hands in solved spots: deals from both ranges, the strategy's actions, ranges along a line, and results.

A hand in a spot is a `spewy.game.hand.Hand` of the game `Spot.game`: its first round is the spot's, with all public
cards of the root, and its betting string is the line since the root. Results and EVs are the chips that a player wins
from the middle, less those that the player has put in since the root. So the mean result of a player of the solved
strategy is the player's EV at the root.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from buckets.cards import blocked, cards_name, strength, suit_permutations
from lockers import holds_store, open_store
from solvers.tree import Floats, Ints
from spewy.bot.bet_translation import draw_action
from spewy.bot.bot import Mix, Reveals
from spewy.errors import InputError, NotSolvedError
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.game.nodes import Action, Line, Node, entry_line
from spewy.game.ranges import parse_range
from spewy.job.job import Job, SpotJob
from spewy.look.chunk import ChunkView
from spewy.look.folder import batch_folders, find_boards, stored_job, strategy_folder
from spewy.look.pairs import compatible
from spewy.look.report import require_same, stands_for
from spewy.look.solution import Solution
from spewy.match.table import Dealt, Table
from spewy.system.tools import Closing, as_path

MOST_OPEN = 4
"""Largest number of solves of a batch that are open at the same time."""
MOST_DRAWS = 100_000
"""Number of boards of a batch that are drawn before the draw is given up."""

CHUNKS = 16
"""Number of chunks of a spot whose ranges and EVs stay in memory."""

Note = Callable[[str], None]


def holds_spots(folder: str | Path) -> bool:
    """Whether a folder holds a solved spot or a batch of spots; False for whole games and all other folders."""
    path = as_path(folder, "folder")
    if batch_folders(path) is not None:
        return True
    play = strategy_folder(path)
    if not holds_store(play):
        return False
    with open_store(play, read_only=True) as store:
        return stored_job(store, folder).spot is not None


@dataclass(frozen=True)
class HandValues:
    """The strategy and the EVs of one hand at a decision.

    EVs are the mean chips that the hand wins from the middle, less those that the player puts in from the decision on.

    Attributes:
        ev: EV of the hand; NaN if no hand of the opponent's range is compatible with it.
        action_ev: ``[action]``, EV of the hand after each action; NaN if `ev` is NaN.
    """

    actions: tuple[Action, ...]
    frequencies: Floats
    ev: float
    action_ev: Floats


class Spot:
    """A solved spot as a game for two players.

    Args:
        solution: the solve, not of a whole game; the caller closes it.
    """

    def __init__(self, solution: Solution, folder: Path) -> None:
        self.solution, self.folder = solution, folder
        self.problem = solution.problem
        require_same(solution.job, folder, solution.job, folder)  # refuses whole games
        self.config = self.problem.tree.config
        self.unit = solution.job.amounts
        self._view = lru_cache(CHUNKS)(solution.chunk_view)

    @cached_property
    def game(self) -> Game:
        """Rules of the spot: its first round deals all public cards of the root."""
        dealt = self.problem.game.num_board_cards[self.problem.first_round + 1 :]
        return replace(self.config.rules, num_board_cards=(len(self.board), *dealt))

    @property
    def round_names(self) -> tuple[str, ...]:
        """Names of the rounds of `game`."""
        return tuple(self.problem.game.round_names[self.problem.first_round :])

    @property
    def board(self) -> tuple[int, ...]:
        return self.solution.job.board

    def in_order(self, board: Sequence[int]) -> tuple[int, ...]:
        return self.problem.game.board_order(board)

    @property
    def pot(self) -> int:
        return self.config.pot

    @cached_property
    def values(self) -> tuple[float, float]:
        """EV of each player at the root, in chips."""
        chunk = self._chunk("", self.board)
        return chunk.totals(chunk.at("")).ev

    @cached_property
    def weight(self) -> float:
        """Probability that the board blocks neither hand, if the hands are drawn from the ranges before it is known."""
        job = self.solution.job
        assert isinstance(job, SpotJob)
        with_board = (each.weights for each in job.ranges)
        without = (parse_range(text).weights for text in (job.spot.oop, job.spot.ip))
        return self._pairs_weight(*with_board) / self._pairs_weight(*without)

    def deal(self, rng: np.random.Generator) -> Dealt:
        """Draw both hands from the ranges, and later public cards from the rest of the deck.

        The probability of hands i and j is proportional to ``r0[i] r1[j] compat(i, j)``, for ranges ``r0`` and ``r1``;
        ``compat`` is 1 for two hands without a common card, else 0.
        """
        chances, first, together = self._marginal
        i = int(rng.choice(len(chances), p=chances))
        given = together[i]
        j = int(rng.choice(len(given), p=given / given.sum()))
        hole = tuple(tuple(self.problem.hands[at[k]].tolist()) for at, k in zip(first, (i, j), strict=True))
        used = {*hole[0], *hole[1], *self.board}
        left = [card for card in self.game.deck.cards if card not in used]
        n_later = self.game.board_sizes[-1] - len(self.board)
        later = rng.choice(left, n_later, replace=False).tolist() if n_later else []
        return Dealt((hole[0], hole[1]), (*self.board, *later))

    def table(self, dealt: Dealt) -> Table:
        return Table(self.game, dealt)

    def node(self, hand: Hand) -> Node:
        """Return the node of the spot's tree at a state of a hand; after the last action, the node that follows it."""
        line, chunk = self._reached(hand)
        return chunk.at(line)

    def strategy(self, hand: Hand, cards: Sequence[int]) -> tuple[tuple[Action, ...], Floats]:
        """Return the actions at a decision, and the frequencies ``[action]`` with which one hand takes them."""
        actions, hands, frequencies = self.strategies(hand)
        return actions, frequencies[:, self._place(hands, cards)]

    def strategies(self, hand: Hand) -> tuple[tuple[Action, ...], Ints, Floats]:
        """Return the actions, the hands, and the frequencies ``[action, hand]`` at a decision.

        The hands are those of the player's range, as indices into the deck's hands.
        """
        line, chunk = self._reached(hand)
        node = chunk.at(line)
        assert node.player is not None
        return node.actions, chunk.play.hands[node.player], chunk.play.frequencies[line]

    def hand_values(self, hand: Hand, cards: Sequence[int]) -> HandValues:
        """Return the strategy and EVs of one hand at a decision, in chips, as ``spewy show`` prints them."""
        line = hand.betting.line
        chunk = self._chunk(line, hand.board)
        node = chunk.at(line)
        assert node.player is not None
        place, arrays = self._place(chunk.play.hands[node.player], cards), chunk.node(node)
        return HandValues(
            node.actions, arrays.strategy[:, place], float(arrays.ev[place]), arrays.action_ev[:, place]
        )

    def range_of(self, hand: Hand, player: int, dead: Sequence[int] = ()) -> Floats:
        """Return a player's range ``[hand of the deck]`` after the last action of a hand, which may be over.

        Args:
            dead: cards that the player cannot have.
        """
        line, chunk = self._reached(hand)
        numbers = chunk.play.hands[player]
        out = np.zeros(len(self.problem.hands))
        units = self.problem.units
        out[numbers] = chunk.reach[line][player] * (1.0 if units is None else units[player][numbers])
        out[blocked(self.problem.hands, [*hand.board, *dead])] = 0.0
        return out

    def won(self, hand: Hand, player: int) -> float:
        """Return the chips that a player has won from the middle, less the player's chips put in since the root."""
        spent, folded = hand.betting.spent, hand.betting.folded
        hand.net()  # raises an error unless the result is known
        stake, rake = min(spent), self.config.rake.of(self.pot + 2 * min(spent))
        if folded is not None:
            return float(-spent[player]) if folded == player else self.pot + spent[folded] - rake
        shown = [cards for cards in (hand.hole[player], hand.hole[1 - player]) if cards is not None]
        own, other = strength(hand.board, shown).tolist()
        if own == other:
            return (self.pot - rake) / 2
        return self.pot + stake - rake if own > other else float(-stake)

    def forget(self) -> None:
        self._view.cache_clear()
        self.solution.reads.forget()

    def _chunk(self, line: str, board: Sequence[int], *, ev: bool = True) -> ChunkView:
        t = line.count("/")
        cards = board[: self.game.board_sizes[t]]
        return self._view(self.solution.at(Line(entry_line(line)), cards), ev=ev)

    def _reached(self, hand: Hand) -> tuple[str, ChunkView]:
        """Return the line up to the current decision or last action of a hand, and the `ChunkView` of its round."""
        line = hand.betting.line
        if hand.to_act is None:
            line = line.rstrip("/")  # rounds without actions follow an all-in
        return line, self._chunk(line, hand.board, ev=False)

    def _place(self, numbers: Ints, cards: Sequence[int]) -> int:
        """Return the position of the hand ``cards`` in ``numbers``, ascending indices into the deck's hands."""
        number = self.game.hand_number(cards)
        place = int(np.searchsorted(numbers, number))
        if place == len(numbers) or numbers[place] != number:
            raise InputError(f"hand {cards_name(cards)}: it is not in the range")
        return place

    @cached_property
    def _marginal(self) -> tuple[Floats, tuple[np.ndarray, np.ndarray], Floats]:
        """Arrays from which `deal` draws both hands.

        The arrays are the probability ``[i]`` of each hand of player 0; both players' hands, as indices into the
        deck's hands; and the weights ``[i, j]`` of player 1's hands if player 0 has hand i, 0 for hands that share a
        card.
        """
        hands = self._chunk("", self.board, ev=False).play.hands
        first, second = (self.problem.ranges[p][hands[p]] for p in (0, 1))
        together = compatible(self.problem.hands, hands) * second
        joint = first * together.sum(axis=1)
        return joint / joint.sum(), hands, together

    def _pairs_weight(self, oop: Floats, ip: Floats) -> float:
        """Weight of all pairs of hands of two ranges that share no card."""
        hands = np.flatnonzero(oop), np.flatnonzero(ip)
        return float(oop[hands[0]] @ compatible(self.problem.hands, hands) @ ip[hands[1]])


class SpotBot:
    """A bot that plays the average strategy of a solved spot; implements `spewy.bot.bot.Reveals`.

    Args:
        spot: the spot, whose owner closes it.
        salt: text on which the bot's random choices depend, besides the hand's seed, betting and board.
    """

    def __init__(self, spot: Spot, salt: str = "") -> None:
        self.spot = spot
        self._salt, self._seed = salt, 0

    @property
    def game(self) -> Game:
        return self.spot.game

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        del hand, seat
        self._seed = seed

    def act(self, hand: Hand) -> str:
        cards = None if hand.to_act is None else hand.hole[hand.to_act]
        if cards is None:
            raise InputError("hand: the hole cards of the player to act are unknown, or no player is to act")
        actions, frequencies = self.spot.strategy(hand, cards)
        text = f"{self._salt}{hand.betting.line}{hand.board}"
        return actions[draw_action(frequencies, self._seed, text)].acpc

    def strategy(self, hand: Hand) -> Mix:
        """Return the strategy of the player to act, for each hand of the player's range."""
        actions, hands, frequencies = self.spot.strategies(hand)
        return Mix(tuple(action.acpc for action in actions), hands, frequencies)

    def hand_over(self, hand: Hand) -> None:
        del hand

    def close(self) -> None:
        """Do nothing: the spot stays open."""


class Spots(Closing):
    """The solved spots of a folder: one spot, or a batch of spots on several boards; each hand gets a random board.

    The probability of a board is proportional to the number of boards that it stands for (`spewy.look.report`)
    times the weight of all pairs of hands that can be dealt with it. Boards that are not solved yet are left out.

    Raises:
        NotSolvedError: nothing was saved yet.
        InputError: the folder holds no spot, or two solves differ in more than the board.
        lockers.LockerError: the lockers are damaged.
    """

    def __init__(self, folder: str | Path, note: Note | None = None) -> None:
        self._note = note
        found = find_boards((folder,))
        self._batch, self._folders = found, list(found.folders)
        self._opened: OrderedDict[Path, Spot] = OrderedDict()
        self._without = set[Path]()
        self._first_job: tuple[Job, Path] | None = None
        try:
            self.first = self._last = self._first()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._folders)

    @property
    def opened(self) -> tuple[Path, ...]:
        """Folders of the boards that are open now."""
        return tuple(self._opened)

    def draw(self, rng: np.random.Generator) -> Spot:
        """Draw a board at random, and return its spot."""
        if len(self._folders) == 1:
            return self.first
        most = max([len(suit_permutations(self.first.game.deck)), *self._batch.weights.values()])
        for _ in range(MOST_DRAWS):
            folder = self._folders[int(rng.integers(len(self._folders)))]
            chance = rng.random()
            spot = self._open(folder)
            if spot is not None and chance * most < stands_for(self._batch, spot.solution.job) * spot.weight:
                if spot is not self._last:
                    self._last.forget()
                    self._last = spot
                return spot
        raise InputError("batch: no board can be drawn; solve its boards first")

    def forget(self) -> None:
        """Release the memory of cached ranges and EVs of all boards."""
        for spot in self._opened.values():
            spot.forget()

    def close(self) -> None:
        while self._opened:
            self._opened.popitem()[1].solution.close()

    def _first(self) -> Spot:
        for folder in self._folders[:-1]:
            spot = self._open(folder)
            if spot is not None:
                return spot
        return self._spot(self._folders[-1])

    def _open(self, folder: Path) -> Spot | None:
        """Return the spot whose solve is in a folder; None if the solve has saved no strategy yet."""
        if folder in self._without:
            return None
        try:
            return self._spot(folder)
        except NotSolvedError:
            self._without.add(folder)
            return None

    def _spot(self, folder: Path) -> Spot:
        if folder not in self._opened:
            solution = Solution.open(folder, note=self._note)
            try:
                spot = Spot(solution, folder)
                self._require_same(solution.job, folder)
                self._opened[folder] = spot
            except BaseException:
                solution.close()
                raise
        self._opened.move_to_end(folder)
        while len(self._opened) > MOST_OPEN:
            oldest = next(each for each in self._opened if each not in (self.first.folder, folder))
            self._opened.pop(oldest).solution.close()
        return self._opened[folder]

    def _require_same(self, job: Job, folder: Path) -> None:
        """Remember the job of the first solve, and check that each later job differs from it in the board alone."""
        if self._first_job is None:
            self._first_job = job, folder
        try:
            require_same(job, folder, *self._first_job)
        except InputError as error:
            raise InputError(f"{error}; give the folder of one solve or of one batch") from None


_: type[Reveals] = SpotBot
