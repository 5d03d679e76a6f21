"""Read average strategies, decision by decision, for bots and for `spewy.look`.

A `Policy` returns the strategy at a betting line on a board, whatever the format on disk. `ChunkPolicy` reads single
chunks of a store, which has strategies for each canonical board. It needs only the betting of one round and the hands
on one board, so it can show a decision at once; `spewy.records.chunks.Chunks` needs a list of all boards and the whole
betting tree. `BucketPolicy` reads the strategy locker of a whole game with board buckets.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from buckets.cards import History, blocked, cards_name, check_history, hand_name, hand_permutation
from buckets.errors import BoardError, CardError
from lockers import DamagedLockerError, Store
from solvers.state import normalised
from solvers.tree import Floats, Ints
from spewy.chunks.boards import BoardHands, board_hands
from spewy.chunks.layout import ChunkAddress
from spewy.chunks.locate import (
    Place,
    board_cards,
    dealt_error,
    node_at,
    place_at,
    read_cards,
    solved_board,
)
from spewy.chunks.problem import Problem, Shorts
from spewy.chunks.rounds import chunk_exits, chunk_nodes, decision_slots
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.names import SEAT_NAMES
from spewy.game.nodes import Action, Node, entry_line, require_decision
from spewy.records.chunks import Kind, PatchedReads, require_size, split
from spewy.records.keys import CLASSES
from spewy.records.progress import dropped_error, saved_sweeps
from spewy.records.strategy_locker import StrategyLocker
from spewy.system.html import Printed, Table
from spewy.system.tools import Closing, kept_results

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


LINES, BOARDS = 256, 128
"""Number of chunks and number of boards that a policy caches, in some 10 MB at most."""


@dataclass(frozen=True, repr=False)
class Decision(Printed):
    """Strategy at one decision, for the range of the player to act.

    Attributes:
        line: ACPC betting string from the root of the solve.
        board: public cards, in `Game.board_order`.
        deck: ``[hand, hole card]``, the cards of all hands of the deck.
        hands: ``[hand]``, numbers in ``deck`` of the player's possible hands, ascending: those in the initial range
            that the board does not block.
        frequencies: ``[action, hand]``, how often each hand of ``hands`` takes each action.
    """

    line: str
    board: tuple[int, ...]
    player: int
    actions: tuple[Action, ...]
    deck: Ints
    hands: Ints
    frequencies: Floats

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the hands, such as ``AsKh``."""
        return tuple(hand_name(cards) for cards in self.deck[self.hands])

    def _table(self) -> Table:
        after = f" after {self.line}" if self.line else ""
        title = f"{SEAT_NAMES[self.player]} to act on {cards_name(self.board) or 'no cards'}{after}"
        columns = ("hand", *(action.label for action in self.actions))
        return Table(title, columns, tuple(zip(self.names, *self.frequencies.tolist(), strict=True)))


class SolvedBoard(NamedTuple):
    """The chunk of a store from which a strategy was read, on a board that equals the requested board up to suits.

    Attributes:
        history: public cards of the stored board.
        key: key of the chunk in the lockers.
        rows: per player ``[hand on the requested board]``, index of the equal hand (up to suits) among the player's
            hands on the stored board.
    """

    history: History
    key: bytes
    rows: tuple[Ints, Ints]


@dataclass(frozen=True)
class ChunkPlay:
    """Strategies of both players' hands in one chunk (the betting of one round after a line) on one board.

    Attributes:
        nodes: nodes of the chunk's betting, the root first, in the order of `spewy.chunks.rounds.chunk_nodes`.
        hands: per player ``[hand]``, indices of the possible hands among all hands of the deck, ascending.
        frequencies: strategy ``[action, hand]`` at each decision, by the decision's line.
        solved: the chunk in the store; None if the strategies come from a strategy locker.
    """

    nodes: tuple[Node, ...]
    hands: tuple[Ints, Ints]
    frequencies: Mapping[str, Floats]
    solved: SolvedBoard | None = None

    @property
    def round(self) -> int:
        """Round of the game."""
        return self.nodes[0].round

    @cached_property
    def chance_leaves(self) -> list[str]:
        """Lines of the chunk's chance leaves, in the order in which their values are stored."""
        return [leaf.line for leaf in chunk_exits(self.nodes[0])]


class Stacked(NamedTuple):
    """Strategies of a player at several decisions of one round, on one board.

    Attributes:
        frequencies: ``[action, row]``, with the actions of the first decision, then of the second, and so on.
        rows: ``[hand of the deck]``, row of each hand; -1 for hands that the player cannot have.
    """

    frequencies: Floats
    rows: Ints

    @classmethod
    def by_hand(cls, frequencies: Floats) -> Stacked:
        """Make a `Stacked` from frequencies ``[action, hand of the deck]``; each hand has its own row."""
        return cls(frequencies, np.arange(frequencies.shape[1]))

    def of(self, hands: Ints | Shorts) -> Floats:
        """Return the frequencies ``[action, hand]`` of some hands; 0 for hands that the player cannot have.

        Args:
            hands: the hands' indices among all hands of the deck.
        """
        rows = self.rows[hands]
        out: Floats = self.frequencies[:, rows]
        out[:, rows < 0] = 0.0
        return out


class Policy(Closing):
    """Reads average strategies, decision by decision.

    In all methods, ``line`` is the betting since the root of the solve, and ``board`` has all public cards; None stands
    for the board of the root. At the end of a round the last ``/`` of the line can be left out if the board has the
    cards of the next round. In place of a line and a board, most methods also take a `Place` (from `at`) as ``line``.

    Args:
        problem: the game or spot that the strategies are for.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._root = lru_cache(LINES)(problem.tree.alone)
        self._betting = kept_results(LINES, self._entered)

    @property
    @abstractmethod
    def saved(self) -> int:
        """Number of sweeps, or of deals with board buckets, that the strategies average; 0 before the first save."""

    @abstractmethod
    def decision(self, line: str | Place = "", board: str | Sequence[int] | None = None) -> Decision:
        """Return the strategy of all hands at the decision after a line."""

    @abstractmethod
    def chunk(self, line: str | Place = "", board: str | Sequence[int] | None = None) -> ChunkPlay:
        """Return all strategies of the chunk to which the node after a line belongs."""

    def board_bucket(self, place: Place) -> int | None:
        """Return the number of the board bucket of the board at a place; None if the solve has no board buckets."""
        return None

    def at(
        self, line: str | Place = "", board: str | Sequence[int] | None = None, *, decision: bool = False
    ) -> Place:
        """Return the place after a line; with ``decision``, refuse a place where nobody acts."""
        if not isinstance(line, Place):
            return place_at(self.problem, line, board, decision=decision, find=self._find)
        if board is not None:
            raise InputError("board: it has no effect with a place, which has its own cards; remove it")
        node = line.node
        if node.kind == "decision" and not node.actions:  # a child node where a part of the tree was cut off
            node = self._find(node.line)
        if decision:
            require_decision(node, node.line)
        return line if node is line.node else Place(node, line.cards)

    def start_of(self, place: Place, t: int | None = None) -> Place:
        """Return the place at which the round of a place begins, or at which an earlier round t of the game begins."""
        if t is None or t == place.round:
            line, cards = place.entry, place.cards
        else:
            rounds = place.line.split("/")[: t - self.problem.first_round]
            line = "".join(f"{betting}/" for betting in rounds)
            cards = place.cards[: self.problem.game.board_sizes[t]]
        return place if line == place.line else Place(self._root(line), cards)

    def stacked(self, lines: Sequence[str], board: str | Sequence[int] | None = None) -> Stacked:
        """Return the strategies at several decisions on one board, faster than one decision after another.

        Args:
            lines: lines of decisions of one player in one round.
            board: all public cards; None for the board of the root.
        """
        first = self.at(lines[0], board, decision=True)
        places = [first, *(Place(self.node(line), first.cards) for line in lines[1:])]
        decisions = [self.decision(place) for place in places]
        rows = np.full(len(self.problem.hands), -1)
        rows[decisions[0].hands] = np.arange(len(decisions[0].hands))
        return Stacked(np.concatenate([each.frequencies for each in decisions]), rows)

    def node(self, line: str = "", board: str | Sequence[int] | None = None) -> Node:
        """Return the node of the decision after a line; only the betting up to the decision's round is built.

        ``board`` matters only if the line ends a round: with the next round's cards, the line leads into that round.
        """
        return node_at(self.problem, line, board, decision=True, find=self._find)[0]

    def entered(self, t: int) -> tuple[Node, ...]:
        """Return the first nodes of round t, one for each line that enters the round, also after an all-in."""
        if t == self.problem.first_round:
            return (self._root(""),)
        return tuple(
            leaf.children[0] for node in self.entered(t - 1) for leaf in chunk_exits(self._root(node.line))
        )

    def frequencies(
        self, line: str | Place, board: str | Sequence[int] | None, hand: str | Sequence[int]
    ) -> Floats:
        """Return the frequencies ``[action]`` of a hand at the decision after a line on a board."""
        return self._of_hand(self.decision(line, board), hand)

    def action_probabilities(
        self, line: str | Place, board: str | Sequence[int] | None, hand: str | Sequence[int]
    ) -> dict[str, float]:
        """Return the frequency of each action for a hand, by the label of the action.

        >>> policy.action_probabilities("x b120 c", "Qs Jh 2h 8c 3d", "AsKs")  # doctest: +SKIP
        {'check': 0.9999968, 'bet 264': 3.2e-06, 'all-in 780': 0.0}
        """
        decision = self.decision(line, board)
        labels = [action.label for action in decision.actions]
        return dict(zip(labels, self._of_hand(decision, hand).tolist(), strict=True))

    def _of_hand(self, decision: Decision, hand: str | Sequence[int]) -> Floats:
        number = self._number(hand)
        place = int(np.searchsorted(decision.hands, number))
        if place == len(decision.hands) or decision.hands[place] != number:
            cards = self.problem.hands[number]
            dead = bool(blocked(cards[None], decision.board)[0])
            why = f"the board {cards_name(decision.board)} blocks it" if dead else "it is not in the range"
            raise InputError(
                f"hand {hand_name(cards)}: {SEAT_NAMES[decision.player]} cannot have it, since {why}"
            )
        out: Floats = decision.frequencies[:, place]
        return out

    def _find(self, line: str) -> Node:
        try:
            return self._betting(entry_line(line))[0][line][0]
        except (InputError, KeyError):
            return self.problem.tree.alone(line)

    def _first_slot(self, node: Node) -> tuple[int, tuple[int, int]]:
        """Return a decision's first slot among its player's slots in the chunk, and both players' numbers of slots."""
        decisions, slots = self._betting(entry_line(node.line))
        return decisions[node.line][1], slots

    def _entered(self, line: str) -> tuple[dict[str, tuple[Node, int]], tuple[int, int]]:
        return decision_slots(self._root(line))

    def _number(self, hand: str | Sequence[int]) -> int:
        try:
            return self.problem.game.hand_number(read_cards("hand", "AsKh", hand))
        except CardError as error:
            raise InputError(f"hand {shown(hand)}: {error}") from None


class ChunkPolicy(Policy):
    """Average strategies of a store; a running solve may be writing to it meanwhile.

    Args:
        store: lockers of the solve; `close` closes them.
        patched: reads the store together with re-solved strategies of dropped rounds; this requires a problem with a
            row for each hand. None: read the store alone.
    """

    def __init__(self, problem: Problem, store: Store, patched: PatchedReads | None = None) -> None:
        super().__init__(problem)
        self.store = store
        self._reads = PatchedReads(store) if patched is None else patched
        self._swept = False
        self._hands = kept_results(BOARDS, self._on_board)

    def decision(self, line: str | Place = "", board: str | Sequence[int] | None = None) -> Decision:
        place = self.at(line, board, decision=True)
        node, player = place.node, place.node.player
        assert player is not None
        first, slots = self._first_slot(node)
        on_board = self._hands(node.round, place.cards)
        frequencies = self._frequencies(node, first, on_board, self._sums(node, on_board, slots))
        return Decision(
            node.line,
            place.cards,
            player,
            node.actions,
            self.problem.hands,
            on_board.players[player].hands,
            frequencies,
        )

    @property
    def saved(self) -> int:
        return saved_sweeps(self.store)

    def chunk(self, line: str | Place = "", board: str | Sequence[int] | None = None) -> ChunkPlay:
        """Return all strategies of the chunk of the node after a line; uniform before the first finished sweep."""
        place = self.start_of(self.at(line, board))
        root, on_board = place.node, self._hands(place.round, place.cards)
        decisions, slots = self._betting(place.line)
        sums = self._sums(root, on_board, slots) if self._has_swept() else _nothing(slots, on_board.n_rows)
        frequencies = {
            at: self._frequencies(node, first, on_board, sums) for at, (node, first) in decisions.items()
        }
        oop, ip = on_board.players
        solved = SolvedBoard(
            on_board.history, on_board.key(root.round, root.line), (oop.rows_of_hands, ip.rows_of_hands)
        )
        return ChunkPlay(chunk_nodes(root), (oop.hands, ip.hands), frequencies, solved)

    def close(self) -> None:
        self.store.close()

    def _frequencies(self, node: Node, first: int, on_board: _Board, sums: tuple[Floats, Floats]) -> Floats:
        """Return the frequencies ``[action, hand]`` at a decision from the chunk's strategy sums."""
        assert node.player is not None
        player_hands = on_board.players[node.player]
        taken = sums[node.player][first : first + len(node.actions)].astype(np.float64)
        for lock in self.problem.locks:
            if lock.line == node.line:
                lock.write(taken, on_board.history, player_hands.rows.numbers)
        return normalised(taken)[:, player_hands.row]

    def _sums(self, node: Node, on_board: _Board, slots: tuple[int, int]) -> tuple[Floats, Floats]:
        """Read the strategy sums of a node's chunk, per player ``[slot, row]``."""
        subject, dropped = f"line {node.line!r}: expected a stored strategy", self._reads.first
        if not self._has_swept():
            raise InputError(f"{subject}, found no finished sweep")
        n_rows = on_board.n_rows
        size = slots[0] * n_rows[0] + slots[1] * n_rows[1]
        if not size:  # nobody has a decision, or the board leaves neither player a hand
            return _nothing(slots, n_rows)
        key = on_board.key(node.round, entry_line(node.line))
        array = self._reads.get(Kind.SUMS, key)
        if array is None and dropped is not None and node.round >= dropped:
            raise dropped_error(subject, dropped, self.problem.game.num_rounds)
        return split(require_size(array, size, Kind.SUMS, key), slots, n_rows)

    def _has_swept(self) -> bool:
        self._swept = self._swept or saved_sweeps(self.store) > 0
        return self._swept

    def _on_board(self, t: int, cards: tuple[int, ...]) -> _Board:
        problem = self.problem
        history, perm = solved_board(problem, t, cards)
        moved = hand_permutation(problem.game.deck, problem.game.num_hole_cards, perm)
        players = []
        for rows in board_hands(problem, t, history):
            place = np.full(len(moved), -1)
            place[rows.numbers] = np.arange(len(rows.numbers))
            solved_hands = place[moved]
            hands = np.flatnonzero(solved_hands >= 0)
            players.append(_Held(rows, hands, solved_hands[hands], rows.row[solved_hands[hands]]))
        return _Board(history, (players[0], players[1]))


def _nothing(slots: tuple[int, int], n_rows: tuple[int, int]) -> tuple[Floats, Floats]:
    return np.zeros((slots[0], n_rows[0])), np.zeros((slots[1], n_rows[1]))


class _Held(NamedTuple):
    """A player's hands on a requested board, and their rows on the solved board that equals this board up to suits.

    Attributes:
        rows: the player's hands on the solved board, with the row of each hand.
        hands: ``[hand]``, the player's hands on the requested board, as indices into the deck's hands, ascending.
        rows_of_hands: ``[hand]``, for each hand of ``hands`` the position in ``rows`` of the hand that equals it up to
            suits.
        row: ``[hand]``, row of the strategy for each hand of ``hands``.
    """

    rows: BoardHands
    hands: Ints
    rows_of_hands: Ints
    row: Shorts


class _Board(NamedTuple):
    """The solved board that equals a requested board up to suits, and both players' hands."""

    history: History
    players: tuple[_Held, _Held]

    @property
    def n_rows(self) -> tuple[int, int]:
        return self.players[0].rows.n_rows, self.players[1].rows.n_rows

    def key(self, t: int, line: str) -> bytes:
        return ChunkAddress(t, self.history, line).key(self.n_rows)


class BoardAbstraction(Protocol):
    """Maps boards to board buckets (groups of boards that share a strategy), and the hands on a board to rows."""

    def boards(self, t: int, boards: Ints, /) -> tuple[Ints, Ints]:
        """Return the board bucket of each of some boards ``[board, card]`` of round t, and its hands' rows.

        The rows are ``[board, hand of the deck]``, -1 for hands that the board blocks.
        """
        ...


class BucketPolicy(Policy):
    """Average strategies of a strategy locker; a running solve may be writing to it meanwhile."""

    def __init__(self, problem: Problem, strategies: StrategyLocker, abstraction: BoardAbstraction) -> None:
        super().__init__(problem)
        self.strategies = strategies
        self.abstraction = abstraction
        self._rows = kept_results(BOARDS, self._on_board)
        self._wanted = kept_results(BOARDS, self._several)

    @classmethod
    def of(cls, problem: Problem, strategies: StrategyLocker) -> BucketPolicy:
        """Make the policy of a strategy locker, with the board buckets and rows that the locker stores."""
        strategies.saved  # noqa: B018 - which raises an error for a locker without a save
        return cls(problem, strategies, board_abstraction(problem.game, strategies.arrays()))

    @property
    def saved(self) -> int:
        return self.strategies.saved.deals

    def decision(self, line: str | Place = "", board: str | Sequence[int] | None = None) -> Decision:
        place = self.at(line, board, decision=True)
        node = place.node
        free, player = self._free_slot(node)
        bucket, rows = self.rows_on(place)
        hands = np.flatnonzero(rows >= 0)
        by_row = self.strategies.frequencies(node.round, bucket, place.entry, player, free, len(node.actions))
        deck = self.problem.hands
        return Decision(node.line, place.cards, player, node.actions, deck, hands, by_row[:, rows[hands]])

    def chunk(self, line: str | Place = "", board: str | Sequence[int] | None = None) -> ChunkPlay:
        place = self.start_of(self.at(line, board))
        root = place.node
        bucket, rows = self.rows_on(place)
        hands = np.flatnonzero(rows >= 0)
        by_line: dict[str, Floats] = {}
        for p in (0, 1):
            nodes = sorted(
                ((first, node) for node, first in self._betting(place.line)[0].values() if node.player == p),
                key=lambda pair: pair[0],
            )
            if not nodes:
                continue
            free = [(first - before, len(node.actions)) for before, (first, node) in enumerate(nodes)]
            strategies = self.strategies.chunk(root.round, bucket, place.line, p, free)
            for (_, node), by_row in zip(nodes, strategies, strict=True):
                by_line[node.line] = by_row[:, rows[hands]]
        return ChunkPlay(chunk_nodes(root), (hands, hands), by_line)

    def stacked(self, lines: Sequence[str], board: str | Sequence[int] | None = None) -> Stacked:
        nodes, player, wanted = self._wanted(tuple(lines))
        cards = board_cards(self.problem, nodes[0].round, board)
        bucket, rows = self._rows(nodes[0].round, cards)
        return Stacked(self.strategies.many_frequencies(nodes[0].round, bucket, player, wanted), rows)

    def bucket_frequencies(self, t: int, bucket: int, lines: Sequence[str]) -> list[Floats]:
        """Read frequencies ``[action, row]`` in a board bucket, one array for the decision after each of ``lines``."""
        nodes, player, wanted = self._wanted(tuple(lines))
        stacked = self.strategies.many_frequencies(t, bucket, player, wanted)
        cuts = np.cumsum([len(node.actions) for node in nodes])[:-1]
        return np.split(stacked, cuts)

    def board_bucket(self, place: Place) -> int:
        return self.rows_on(place)[0]

    def rows_on(self, place: Place) -> tuple[int, Ints]:
        """Return the board bucket of the board at a place, and the row of each hand of the deck (-1 if blocked)."""
        return self._rows(place.round, place.cards)

    def close(self) -> None:
        self.strategies.close()

    def _several(self, lines: tuple[str, ...]) -> tuple[list[Node], int, list[tuple[str, int, int]]]:
        """Return the decisions after some lines, their player, and tuples for `StrategyLocker.free_slots`.

        A tuple is the line that enters the decision's chunk, its first free slot, and the number of its actions.
        """
        nodes = [self.node(line) for line in lines]
        slots = [self._free_slot(node) for node in nodes]
        wanted = [
            (entry_line(node.line), free, len(node.actions))
            for node, (free, _) in zip(nodes, slots, strict=True)
        ]
        return nodes, slots[0][1], wanted

    def _free_slot(self, node: Node) -> tuple[int, int]:
        """Return the first free slot of a decision (`spewy.records.strategy_locker`), and the player who acts."""
        first, player = self._first_slot(node)[0], node.player
        assert player is not None
        before = sum(
            other.player == player and slot < first
            for other, slot in self._betting(entry_line(node.line))[0].values()
        )
        return first - before, player

    def _on_board(self, t: int, cards: tuple[int, ...]) -> tuple[int, Ints]:
        game = self.problem.game
        try:
            history = check_history(game.cut(cards), game.deck)
        except BoardError:
            raise dealt_error(cards) from None
        dealt = np.array([[card for group in history for card in group]], dtype=np.int64)
        buckets, rows = self.abstraction.boards(t, dealt.reshape(1, len(cards)))
        return int(buckets[0]), rows[0]


def board_abstraction(game: Game, arrays: Mapping[str, np.ndarray]) -> Abstraction:
    """Build the map from boards to board buckets, and from hands to rows, that a strategy locker stores."""
    from buckets.abstraction import Abstraction
    from buckets.abstraction.build import ARRAYS

    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise DamagedLockerError(f"locker {CLASSES!r}: expected {', '.join(ARRAYS)}, found no {missing[0]}")
    return Abstraction(game.deck, game.num_hole_cards, game.num_board_cards, dict(arrays))
