"""List all boards that can follow a flop, with hands and rows, for exact best responses.

A *flop* here is a canonical board of the first round that has public cards, in any game. It represents all boards that
are equal to it up to suits. If the game has a round before the flop, each list begins with the empty board.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from buckets.cards import (
    CanonicalBoard,
    History,
    board_levels,
    cards_name,
    hand_permutation,
    hands,
    strengths,
    suit_permutations,
)
from solvers.sampled.boards import Board
from solvers.stopping import Stopped, go_on, never
from solvers.tree import Ints
from spewy.game.gamefile import Game
from spewy.records.bucket_policy import BoardAbstraction

NO_HAND = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Level:
    """The canonical boards of one round below a flop, with the hands that are possible on each.

    Attributes:
        boards: the canonical boards.
        board_buckets: the board bucket of each board.
        rows: ``[board, hand]``, the row of each possible hand.
        order: ``[board, hand]``, the deck's number of each possible hand; in the last round sorted by strength.
        strength: ``[board, hand]``, the strength of each possible hand in the last round, else 0.
        numbers: ``[board, hand, 2]``, the two cards of each possible hand, numbered among the cards that are not on the
            board.
        position: ``[board, hand of the deck]``, the index of each hand in ``order``; -1 for hands that the board
            blocks.
    """

    boards: list[CanonicalBoard]
    board_buckets: Ints
    rows: Ints
    order: Ints
    strength: Ints
    numbers: Ints
    position: Ints


class BoardTrees:
    """Lists the boards below each flop of a whole game.

    Args:
        game: the rules of the game.
        board_buckets: board buckets and rows of the game.
        symmetric: whether hands that are equal up to suits share rows. If so, boards that are equal up to suits are
            listed once.

    Attributes:
        hands: ``[hand of the deck, card]``, the cards of all hands of the deck.
        perms: the permutations of suits under which boards count as equal.
        first_round: the round of the flop: 1 if the game has a round without public cards, else 0.
    """

    def __init__(self, game: Game, board_buckets: BoardAbstraction, *, symmetric: bool) -> None:
        self.game, self.deck, self.hole = game, game.deck, game.num_hole_cards
        self._classes = board_buckets
        self.hands = hands(game.deck, game.num_hole_cards).astype(np.int64)
        self.perms = suit_permutations(game.deck)[: None if symmetric else 1]
        self.first_round = int(game.num_rounds > 1 and game.num_board_cards[0] == 0)

    @cached_property
    def firsts(self) -> tuple[list[History], Ints]:
        """The flops of the game up to suits, and how many boards each of them represents."""
        *_, boards = board_levels(self.deck, self.game.num_board_cards[: self.first_round + 1], self.perms)
        return [board.history for board in boards], np.array([len(board.members) for board in boards])

    def name(self, first: int) -> str:
        """The cards of the flop with number ``first``, as text."""
        return cards_name(self.game.board_order([card for group in self.firsts[0][first] for card in group]))

    @cached_property
    def kinds(self) -> Ints:
        """Group number, from 0, of each hand of the deck; hands that are equal up to suits form a group."""
        moved = [hand_permutation(self.deck, self.hole, perm) for perm in self.perms]
        kinds: Ints = np.unique(np.min(moved, axis=0), return_inverse=True)[1]
        return kinds

    @property
    def per_pair(self) -> float:
        """Number of all flops, divided by the number of flops that are possible once two hands are dealt.

        If impossible flops count 0, the mean over all flops times this number is the mean over the possible flops.
        """
        k, n_left = self.game.num_board_cards[self.first_round], len(self.deck) - 2 * self.hole
        return comb(len(self.deck), k) / comb(n_left, k)

    @property
    def probabilities(self) -> list[float]:
        """Probability of each board of a round, given both hands and the previous board; one number for each round.

        The number is 1 for the flop and earlier rounds, since boards are listed for one flop at a time.
        """
        out, n_left = [], len(self.deck) - 2 * self.hole
        for t, k in enumerate(self.game.num_board_cards):
            out.append(1.0 if t <= self.first_round else 1 / comb(n_left, k))
            n_left -= k
        return out

    @property
    def most_hands(self) -> list[int]:
        """Number of hands, for each round, that share no card with a given board."""
        return [comb(len(self.deck) - n, self.hole) for n in self.game.board_sizes]

    @property
    def most_cards(self) -> int:
        """Largest number of cards of the deck that are not on a board."""
        return len(self.deck) - self.game.num_board_cards[0]

    @property
    def most_last(self) -> int:
        """Upper bound on the number of last-round boards below all flops together."""
        out, n_left = len(self.firsts[0]), len(self.deck) - self.game.board_sizes[self.first_round]
        for k in self.game.num_board_cards[self.first_round + 1 :]:
            out *= comb(n_left, k)
            n_left -= k
        return out

    @property
    def root_cards(self) -> tuple[Ints, int]:
        """The cards ``[hand, 2]`` of all hands of the deck, as numbers from 0, and the number of cards in the deck.

        If a hand has one card, its second number is the number of cards in the deck.
        """
        cards = self._card_numbers(np.zeros((1, 0), dtype=np.int64), np.arange(len(self.hands))[None])[0]
        return cards, len(self.deck)

    def root_rows(self) -> Ints:
        """Return the row of each hand of the deck before any public card is dealt."""
        rows: Ints = self._classes.boards(0, np.zeros((1, 0), dtype=np.int64))[1][0].astype(np.int64)
        return rows

    def hands_on(self, first: int) -> Ints:
        """Return the hands that are possible at the start of the game, as indices into ``hands``.

        These are all hands if the game has a round before the flop, else the hands that share no card with the flop.

        Args:
            first: number of the flop.
        """
        if self.first_round:
            return np.arange(len(self.hands))
        only: Ints = self._level(0, self._start(self.firsts[0][first])).order[0]
        return only

    def tree(self, first: int, stopped: Stopped = never) -> list[Board]:
        """List a flop and all boards that can follow it, depth first.

        If the game has a round without public cards, the list begins with the empty board.

        Args:
            first: number of the flop.
            stopped: called between two boards, to ask whether to give up.

        Raises:
            StoppedError: ``stopped()`` returned True.
        """
        t, start = self.first_round, self.firsts[0][first]
        levels = [self._level(0, self._start(()))] if t else []
        sizes = self.game.num_board_cards[t + 1 :]
        for boards in board_levels(self.deck, sizes, self.perms, start):
            go_on(stopped)
            levels.append(
                self._level(len(levels), [board._replace(parent=max(board.parent, 0)) for board in boards])
            )
        return self._in_depth(levels, stopped)

    def _start(self, history: History) -> list[CanonicalBoard]:
        """Return a list with one canonical board, the root from which later boards are listed.

        Args:
            history: the public cards of the board by round.
        """
        return next(board_levels(self.deck, (), self.perms, history))

    def _level(self, t: int, canonical: list[CanonicalBoard]) -> _Level:
        """Look up the hands, rows and strengths on the canonical boards of round t."""
        boards = np.array([[card for group in board.history for card in group] for board in canonical])
        boards = boards.reshape(len(canonical), -1).astype(np.int64)
        board_buckets, rows = self._classes.boards(t, boards)
        n, n_deck = len(boards), len(self.hands)
        if t == self.game.num_rounds - 1:
            power = strengths(boards, self.hands).astype(np.int64)
            codes = (power * (int(rows.max()) + 1) + rows) * n_deck + np.arange(n_deck)
            codes[rows < 0] = NO_HAND
            n_live = int((rows[0] >= 0).sum())
            order = np.sort(codes, axis=1)[:, :n_live] % n_deck
            strength = np.take_along_axis(power, order, axis=1)
        else:
            order = np.nonzero(rows >= 0)[1].reshape(n, -1)
            strength = np.zeros_like(order)
        position = np.full((n, n_deck), -1, dtype=np.int64)
        np.put_along_axis(position, order, np.arange(order.shape[1])[None], axis=1)
        return _Level(
            canonical,
            board_buckets,
            np.take_along_axis(rows, order, axis=1),
            order,
            strength,
            self._card_numbers(boards, order),
            position,
        )

    def _card_numbers(self, boards: Ints, order: Ints) -> Ints:
        """Return ``[board, hand, 2]``, the cards of hands, numbered from 0 among the cards that are not on the board.

        If a hand has one card, its second number is the number of cards that are not on the board.

        Args:
            boards: ``[board, card]``, the cards of each board.
            order: ``[board, hand]``, the deck's number of each hand.
        """
        available = np.zeros((len(boards), max(self.deck.cards) + 1), dtype=np.int64)
        available[:, list(self.deck.cards)] = 1
        np.put_along_axis(available, boards, 0, axis=1)
        numbers = np.cumsum(available, axis=1) - 1
        out = np.full((*order.shape, 2), len(self.deck) - boards.shape[1], dtype=np.int64)
        for place in range(self.hole):
            out[:, :, place] = np.take_along_axis(numbers, self.hands[order, place], axis=1)
        return out

    def _in_depth(self, levels: Sequence[_Level], stopped: Stopped) -> list[Board]:
        """List the boards of all rounds depth first: each board is followed by all boards below it.

        Args:
            levels: the boards of each round, from the root's round on.
            stopped: called between two boards, to ask whether to give up.

        Raises:
            StoppedError: ``stopped()`` returned True.
        """
        below: list[dict[int, list[int]]] = [{} for _ in levels]
        for depth, level in enumerate(levels[1:]):
            for b, canonical in enumerate(level.boards):
                below[depth].setdefault(canonical.parent, []).append(b)
        out = []
        for board in self._branch(levels, below, 0, 0):
            go_on(stopped)
            out.append(board)
        return out

    def _branch(
        self, levels: Sequence[_Level], below: Sequence[dict[int, list[int]]], depth: int, b: int
    ) -> Iterator[Board]:
        """Yield a board and the boards below it, depth first.

        This is a method because a nested recursive function would keep all boards in memory until the garbage collector
        runs.

        Args:
            levels: the boards of each round, from the root's round on.
            below: for each round, the numbers of the next round's boards by the number of their parent.
            depth: index of the board's round in ``levels``.
            b: number of the board in its round.
        """
        yield self._board(levels, depth, b)
        for child in below[depth].get(b, ()):
            yield from self._branch(levels, below, depth + 1, child)

    def _board(self, levels: Sequence[_Level], depth: int, b: int) -> Board:
        level = levels[depth]
        board = level.boards[b]
        if depth:
            above = levels[depth - 1].position[board.parent]
            back = (hand_permutation(self.deck, self.hole, np.argsort(perm)) for _, perm in board.members)
            origins = np.array([above[moved[level.order[b]]] for moved in back])
        else:
            origins = np.arange(level.order.shape[1])[None]
        n_cards = len(self.deck) - sum(len(group) for group in board.history)
        return Board(
            depth,
            int(level.board_buckets[b]),
            level.numbers[b],
            n_cards,
            level.rows[b],
            level.strength[b],
            origins,
        )
