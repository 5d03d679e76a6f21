"""The average strategy of a whole game with board buckets, from its strategy locker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from buckets.cards import check_history
from buckets.errors import BoardError
from lockers import DamagedLockerError
from solvers.tree import Floats, Ints
from spewy.chunks.locate import board_cards, dealt_error
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import chunk_nodes
from spewy.game.gamefile import Game
from spewy.game.nodes import Node, entry_line
from spewy.records.keys import CLASSES
from spewy.records.policy import BOARDS, ChunkPlay, Decision, Policy, Stacked
from spewy.records.strategy_locker import StrategyLocker
from spewy.system.tools import kept_results

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


class BoardAbstraction(Protocol):
    """Maps boards to board buckets, and the hands on a board to rows."""

    def boards(self, t: int, boards: Ints, /) -> tuple[Ints, Ints]:
        """Find the board bucket of each board, and the row of each hand on it.

        Args:
            t: round of the game.
            boards: ``[board, card]``, public cards of each board.

        Returns:
            Board buckets ``[board]``, and rows ``[board, hand of the deck]``, -1 for hands that the board blocks.
        """
        ...


class BucketPolicy(Policy):
    """Average strategies of a strategy locker; a running solve may be writing to it meanwhile.

    Args:
        problem: the whole game that was solved.
        strategies: the locker; `close` closes it.
        abstraction: maps boards to board buckets, and hands to rows.
    """

    def __init__(self, problem: Problem, strategies: StrategyLocker, abstraction: BoardAbstraction) -> None:
        super().__init__(problem)
        self.strategies = strategies
        self.abstraction = abstraction
        self._rows = kept_results(BOARDS, self._on_board)
        self._wanted = kept_results(BOARDS, self._several)

    @classmethod
    def of(cls, problem: Problem, strategies: StrategyLocker) -> BucketPolicy:
        """Make the policy of a strategy locker, with the board buckets and rows that the locker stores.

        Raises:
            InputError: nothing was saved yet.
            lockers.DamagedLockerError: the locker lacks its board buckets or rows.
        """
        strategies.saved  # noqa: B018 - which raises an error for a locker without a save
        return cls(problem, strategies, board_abstraction(problem.game, strategies.arrays()))

    @property
    def saved(self) -> int:
        """Number of deals that the strategies average."""
        return self.strategies.saved.deals

    def decision(self, line: str = "", board: str | Sequence[int] | None = None) -> Decision:
        """Return the decision after ``line`` on ``board`` for all hands: see `Policy.decision`."""
        node, free, player = self._slot(line, board)
        cards = board_cards(self.problem, node.round, board)
        bucket, rows = self._rows(node.round, cards)
        hands = np.flatnonzero(rows >= 0)
        by_row = self.strategies.frequencies(
            node.round, bucket, entry_line(node.line), player, free, len(node.actions)
        )
        deck = self.problem.hands
        return Decision(node.line, cards, player, node.actions, deck, hands, by_row[:, rows[hands]])

    def chunk(self, line: str = "", board: str | Sequence[int] | None = None) -> ChunkPlay:
        """Read all strategies of a chunk on a board, with one read for each player: see `Policy.chunk`."""
        root = self._root(line)
        bucket, rows = self._rows(root.round, board_cards(self.problem, root.round, board))
        hands = np.flatnonzero(rows >= 0)
        by_line: dict[str, Floats] = {}
        for p in (0, 1):
            nodes = sorted(
                ((first, node) for node, first in self._betting(line)[0].values() if node.player == p),
                key=lambda pair: pair[0],
            )
            if not nodes:
                continue
            free = [(first - before, len(node.actions)) for before, (first, node) in enumerate(nodes)]
            strategies = self.strategies.chunk(root.round, bucket, line, p, free)
            for (_, node), by_row in zip(nodes, strategies, strict=True):
                by_line[node.line] = by_row[:, rows[hands]]
        return ChunkPlay(chunk_nodes(root), (hands, hands), by_line)

    def stacked(self, lines: Sequence[str], board: str | Sequence[int] | None = None) -> Stacked:
        """Read one player's strategies at several decisions on a board at once: see `Policy.stacked`."""
        nodes, player, wanted = self._wanted(tuple(lines))
        cards = board_cards(self.problem, nodes[0].round, board)
        bucket, rows = self._rows(nodes[0].round, cards)
        return Stacked(self.strategies.many_frequencies(nodes[0].round, bucket, player, wanted), rows)

    def bucket_frequencies(self, t: int, bucket: int, lines: Sequence[str]) -> list[Floats]:
        """Read one player's strategies at several decisions in a board bucket.

        Args:
            t: round of the game.
            bucket: board bucket.
            lines: lines of decisions of one player in this round.

        Returns:
            An array ``[action, row]`` for each line.
        """
        nodes, player, wanted = self._wanted(tuple(lines))
        stacked = self.strategies.many_frequencies(t, bucket, player, wanted)
        cuts = np.cumsum([len(node.actions) for node in nodes])[:-1]
        return np.split(stacked, cuts)

    def board_bucket(self, t: int, board: str | Sequence[int] | None = None) -> int:
        """Return the board bucket of a board: see `Policy.board_bucket`."""
        return self.rows_on(t, board_cards(self.problem, t, board))[0]

    def rows_on(self, t: int, cards: tuple[int, ...]) -> tuple[int, Ints]:
        """Return the board bucket of a board of round t, and the row of each hand of the deck (-1 if blocked)."""
        return self._rows(t, cards)

    def close(self) -> None:
        """Close the locker."""
        self.strategies.close()

    def _several(self, lines: tuple[str, ...]) -> tuple[list[Node], int, list[tuple[str, int, int]]]:
        """Find the decisions after some lines, and where the locker stores their strategies.

        Returns:
            The decisions; the player who acts at all of them; and for each decision a triple: the line that enters its
            chunk, the number of its first action among the player's stored actions of the chunk, and the number of its
            actions.
        """
        slots = [self._slot(line) for line in lines]
        wanted = [(entry_line(node.line), free, len(node.actions)) for node, free, _ in slots]
        return [node for node, _, _ in slots], slots[0][2], wanted

    def _slot(self, line: str, board: str | Sequence[int] | None = None) -> tuple[Node, int, int]:
        """Find the decision after a line, and where the locker stores its strategy.

        Returns:
            The decision; the number of its first action among the player's stored actions of its chunk; and the
            player who acts. The locker stores all actions of a decision but the last.
        """
        node, first, _ = self._node(line, board)
        player = node.player
        assert player is not None
        before = sum(
            other.player == player and slot < first
            for other, slot in self._betting(entry_line(node.line))[0].values()
        )
        return node, first - before, player

    def _on_board(self, t: int, cards: tuple[int, ...]) -> tuple[int, Ints]:
        """Return the board bucket of a board of round t, and the row of each hand of the deck (-1 if blocked)."""
        game = self.problem.game
        try:
            history = check_history(game.cut(cards), game.deck)
        except BoardError:
            raise dealt_error(cards) from None
        dealt = np.array([[card for group in history for card in group]], dtype=np.int64)
        buckets, rows = self.abstraction.boards(t, dealt.reshape(1, len(cards)))
        return int(buckets[0]), rows[0]


def board_abstraction(game: Game, arrays: Mapping[str, np.ndarray]) -> Abstraction:
    """Build the map from boards to board buckets, and from hands to rows, that a strategy locker stores.

    Args:
        game: the game that was solved.
        arrays: arrays of the locker by name, from `StrategyLocker.arrays`.

    Raises:
        lockers.DamagedLockerError: an array is missing.
    """
    from buckets.abstraction import Abstraction
    from buckets.abstraction.build import ARRAYS

    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise DamagedLockerError(f"locker {CLASSES!r}: expected {', '.join(ARRAYS)}, found no {missing[0]}")
    return Abstraction(game.deck, game.num_hole_cards, game.num_board_cards, dict(arrays))
