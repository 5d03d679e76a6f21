"""Make the tables of UPAC's bot from solves for several stacks; `spewy.competitions.upac.runtime.tables` reads them.

A *rung* is the solve for one stack; all rungs together are the *ladder*. All rungs have the same board buckets and
rows. The tables hold the board bucket of each board, and the row of each hand on flops and rivers. The rows of all
hands on all turns would take too much space. A hand's *curve* on a turn is the sorted list of its percentiles of
strength for all river cards, averaged in groups of neighbours. The tables hold the mean curve of each row's hands on
turns, and the bot assigns a hand to the row whose mean curve has the smallest squared distance to the hand's curve.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from buckets.abstraction import Abstraction
from buckets.abstraction.percentiles import Percentiles
from buckets.cards import Deck, board_map
from spewy.chunks.rounds import decision_slots
from spewy.competitions.upac.push_fold import equities, push_fold
from spewy.competitions.upac.runtime.tables import (
    ALWAYS,
    CALL,
    CURVE_ONE,
    FLOP,
    FOLD,
    PERMS,
    RIVER,
    TURN,
    canonical,
)
from spewy.errors import InputError, path_text
from spewy.game.nodes import Node, entry_line, find_node
from spewy.look.folder import has_board_buckets, open_policy
from spewy.records.policy import BucketPolicy, board_abstraction
from spewy.records.strategy_locker import MOST

Arrays = dict[str, np.ndarray]
Progress = Callable[[str], None]

DEEPEST = 100
"""Largest stack in chips in the tables of push or fold."""
N_POINTS = 23
TURNS = 24
"""Largest number of boards of a board bucket that a mean curve is computed from."""
_SHARED = ("canonical", "classes", "rows", "n_rows")
"""Arrays of an abstraction that must be equal in all rungs."""


def ladder_tables(folders: Sequence[Path], progress: Progress = lambda text: None) -> Arrays:
    """Make all tables of the bot, by name, from the solves in ``folders``."""
    progress("push or fold")
    tables = push_fold_tables()
    with ExitStack() as opened:
        rungs = sorted(((_rung(opened, folder)) for folder in folders), key=lambda rung: rung[0])
        _require_together(rungs, folders)
        tables["stacks"] = np.array([stack for stack, _, _ in rungs], dtype=np.int32)
        if rungs:
            progress("board buckets and rows")
            tables |= board_tables(rungs[0][2])
        for number, (stack, policy, abstraction) in enumerate(rungs):
            progress(f"stacks of {stack} chips")
            rung_arrays = _rung_tables(policy, abstraction.n_board_buckets)
            tables |= {f"{number}-{name}": array for name, array in rung_arrays.items()}
    return tables


def rung_folders(ladder: Path) -> list[Path]:
    """List the folders of solves in a ladder's folder."""
    try:
        folders = sorted(path for path in ladder.iterdir() if has_board_buckets(path))
    except OSError as error:
        raise InputError(
            f"folder {path_text(ladder)}: expected a folder of solves, found: {error.strerror or error}"
        ) from None
    if not folders:
        raise InputError(f"folder {path_text(ladder)}: it contains no folder of a solve")
    return folders


def push_fold_tables() -> Arrays:
    """Make the push-or-fold tables for all stacks, and the table of the starting hands' equities.

    Rows of the push-or-fold tables are stacks in chips; row 0 is unused.
    """
    solutions = [push_fold(max(stack, 1)) for stack in range(DEEPEST + 1)]
    return {
        "push": np.stack([each.push for each in solutions]),
        "call": np.stack([each.call for each in solutions]),
        "equity": equities(),
        "stacks": np.zeros(0, dtype=np.int32),
    }


def board_tables(abstraction: Abstraction) -> Arrays:
    """Make the tables that give the board bucket of each board, and the rows of the hands."""
    deck = Deck()
    finals = board_map(deck, (RIVER,))
    flops, turns = (board_map(deck, (n,)).boards for n in (FLOP, TURN))
    flop_keys, flop_boards = _in_order(flops)
    board_buckets, rows = abstraction.boards(1, flop_boards)
    out: Arrays = {f"{FLOP}-keys": flop_keys, f"{FLOP}-classes": board_buckets.astype(np.uint8)}
    out[f"{FLOP}-rows"] = rows.astype(np.uint8)
    turn_keys, turn_boards = _in_order(turns)
    board_buckets, _ = abstraction.boards(2, turn_boards)
    out |= {f"{TURN}-keys": turn_keys, f"{TURN}-classes": board_buckets.astype(np.uint8)}
    percentiles = Percentiles.of(deck, 2, finals)
    out[f"{TURN}-curves"] = _mean_curves(percentiles, abstraction, turn_boards, board_buckets)
    river_keys, river_boards = _in_order(finals.boards)
    board_buckets, river_rows = _river_rows(abstraction, river_boards)
    return out | {
        f"{RIVER}-keys": river_keys,
        f"{RIVER}-classes": board_buckets.astype(np.uint8),
        f"{RIVER}-rows": river_rows,
    }


def _rung(opened: ExitStack, folder: Path) -> tuple[int, BucketPolicy, Abstraction]:
    """Open the solve for one stack until ``opened`` closes: its stack in chips, strategies, and board buckets."""
    policy = opened.enter_context(open_policy(folder))
    if not isinstance(policy, BucketPolicy):
        raise InputError(
            f"folder {path_text(folder)}: expected the solve of a whole game with [boards], found another solve"
        )
    game = policy.problem.game
    stacks = game.stacks or (0, 1)
    if game.limit or game.blinds != (2, 1) or game.board_sizes != (0, 3, 4, 5) or stacks[0] != stacks[1]:
        raise InputError(
            f"folder {path_text(folder)}: expected no-limit hold'em with blinds 1 and 2, found {game.name}"
        )
    board_buckets = board_abstraction(game, policy.strategies.arrays())
    if board_buckets.remembers:
        raise InputError(
            f"folder {path_text(folder)}: the bot cannot use board buckets that depend on the order of cards; "
            "solve without boards.remember"
        )
    return stacks[0], policy, board_buckets


def _require_together(
    rungs: Sequence[tuple[int, BucketPolicy, Abstraction]], folders: Sequence[Path]
) -> None:
    stacks = [stack for stack, _, _ in rungs]
    if len(set(stacks)) < len(stacks):
        raise InputError(f"{len(folders)} folders: expected different stacks, found {stacks}")
    for stack, _, abstraction in rungs[1:]:
        first = rungs[0][2].arrays
        if not all(np.array_equal(first[name], abstraction.arrays[name]) for name in _SHARED):
            raise InputError(
                f"the solve for stacks of {stack} chips has other board buckets or rows than for {stacks[0]}"
            )


def _in_order(boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort boards by the numbers that `canonical` gives; return the numbers' differences, and the canonical boards."""
    keys, _ = canonical(boards)
    order = np.argsort(keys)
    _, perms = canonical(boards[order])
    moved = np.sort(PERMS[perms[:, None], boards[order]], axis=1)
    return np.diff(keys[order], prepend=0).astype(np.uint32), moved


def _mean_curves(
    percentiles: Percentiles, abstraction: Abstraction, boards: np.ndarray, board_buckets: np.ndarray
) -> np.ndarray:
    """Compute the mean curve of each row's hands on turns: ``[board bucket, row, point]``, where 32,767 means 1.

    The means are over at most `TURNS` boards of each board bucket.
    """
    n_board_buckets, n_rows = abstraction.n_board_buckets[2], abstraction.n_rows[2]
    out = np.full(
        (n_board_buckets, n_rows, N_POINTS), 2.0
    )  # a row without hands gets a curve that is far from all others
    for board_bucket in range(n_board_buckets):
        members = np.random.default_rng(board_bucket).permutation(
            np.flatnonzero(board_buckets == board_bucket)
        )[:TURNS]
        _, rows = abstraction.boards(2, boards[members])
        curves = percentiles.curves(boards[members], N_POINTS)
        for row in np.unique(rows[rows >= 0]).tolist():
            out[board_bucket, row] = curves[rows == row].mean(axis=0)
    kept: np.ndarray = np.rint(out * CURVE_ONE).astype(np.uint16)
    return kept


def _river_rows(abstraction: Abstraction, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the board bucket of each river, ``[board]``, and the row of each grade, ``[board bucket, grade]``."""
    arrays = abstraction.arrays
    start, n = int(arrays["starts"][3, 2]), abstraction.n_board_buckets[3]
    rows = arrays["rows"][start:].reshape(n, -1)
    board_buckets = np.concatenate(
        [abstraction.boards(3, boards[first : first + 4096])[0] for first in range(0, len(boards), 4096)]
    )
    return board_buckets, np.ascontiguousarray(rows)


def _rung_tables(policy: BucketPolicy, n_board_buckets: Sequence[int]) -> Arrays:
    """Make the tables of the solve for one stack: its betting tree, and its strategy in each round."""
    nodes, decisions = tree_tables(policy.problem.tree.root)
    out: Arrays = {"tree": nodes}
    for t, n in enumerate(n_board_buckets):
        n_slots = sum(each.n_actions - 1 for each in decisions if each.round == t)
        play = np.zeros((n_slots, n, policy.strategies.lines(t).n_rows), dtype=np.uint8)
        for p in (0, 1):
            own = [each for each in decisions if (each.round, each.player) == (t, p)]
            places = [(each.enters, each.first_free, each.n_actions) for each in own]
            for board_bucket in range(n):
                slots = policy.strategies.free_slots(t, board_bucket, p, places)
                for each, free in zip(own, slots, strict=True):
                    play[each.slot : each.slot + each.n_actions - 1, board_bucket] = _coarse(free)
        out[f"play-{t}"] = play
    return out


def _coarse(free: np.ndarray) -> np.ndarray:
    """Convert stored bytes ``[row, action]``, of all actions but a decision's last, to fifteenths ``[action, row]``."""
    out: np.ndarray = np.rint(free.T.astype(np.float64) * (ALWAYS / MOST)).astype(np.uint8)
    return out


class Decides(NamedTuple):
    """Location of a decision's strategy in the solve's strategy locker, and in the bot's table.

    The locker and the table store the frequencies of all actions of a decision but the last.

    Attributes:
        enters: betting line with which the round is entered.
        first_free: index of the decision's first stored frequency in the locker, counted through all decisions of the
            player in the round after ``enters``.
        slot: index of the decision's first stored frequency in the bot's table of the round.
    """

    round: int
    player: int
    enters: str
    first_free: int
    n_actions: int
    slot: int


def tree_tables(root: Node) -> tuple[np.ndarray, list[Decides]]:
    """Convert a betting tree to the array that the bot reads.

    Returns:
        The nodes ``[node, column]``, breadth first, as in `spewy.competitions.upac.runtime.tables.Tree`; and the
        decisions of the tree.
    """
    nodes: list[list[int]] = []
    decisions: list[Decides] = []
    queue, n_queued = deque([(root, CALL)]), 1
    n_slots: dict[int, int] = {}
    free_slots = lru_cache(maxsize=None)(_free_slots)
    while queue:
        node, total = queue.popleft()
        row = [-1, node.round, 0, 0, total, 0, *node.put_in]
        if node.kind == "decision":
            assert node.player is not None
            n, slot = len(node.actions), n_slots.get(node.round, 0)
            n_slots[node.round] = slot + n - 1
            row[:4], row[5] = [node.player, node.round, n_queued, n], slot
            enters = entry_line(node.line)
            first = free_slots(root, enters)[node.line]
            decisions.append(Decides(node.round, node.player, enters, first, n, slot))
            n_queued += n
            queue.extend(_followed(node))
        nodes.append(row)
    return np.array(nodes, dtype=np.int32), decisions


def _followed(node: Node) -> Iterator[tuple[Node, int]]:
    """Yield, for each action of a decision, the next node that is no chance node, and the action's number.

    The number is that of the bot's tree: -1 for a fold, 0 for a check or call, else the total of a raise.
    """
    for action, child in zip(node.actions, node.children, strict=True):
        below = child
        while below.kind == "chance":
            below = below.children[0]
        acpc = action.acpc
        yield below, FOLD if acpc == "f" else CALL if acpc == "c" else int(acpc[1:])


def _free_slots(root: Node, enters: str) -> Mapping[str, int]:
    """Return `Decides.first_free` of each decision of the round after line ``enters``, by line."""
    out, seen = {}, [0, 0]
    for line, (node, slot) in decision_slots(find_node(root, enters))[0].items():
        assert node.player is not None
        out[line] = slot - seen[node.player]
        seen[node.player] += 1
    return out
