"""Build the matrix game of one chunk of a job, with named rows, as in Figure 1 of the paper.

The inputs are a range for each player at the root of the chunk and a payoff matrix for each leaf. The outputs are a
strategy for each player and the payoff matrix of the root. The ranges at the root are computed with the average
strategies of earlier chunks. The payoffs at chance leaves are stored or computed, or estimated before the first visit.
Both players' hands weigh by their ranges at the root, as for ``integrate = "average"`` and the linear program.

    >>> from spewy import Job
    >>> kuhn = one_chunk(Job.of({"name": "Kuhn", "game": {"file": "kuhn"}}))
    >>> round(kuhn.by_lp().value, 9)
    -0.055555556
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from buckets.cards import hand_name, permute_cards
from buckets.types import Ints
from solvers.matrix.chunk import normalise
from spewy.chunks.layout import Layout
from spewy.chunks.locate import board_cards, locate, solved_board
from spewy.chunks.problem import Problem
from spewy.errors import InputError, shown
from spewy.game.lines import read_line
from spewy.game.nodes import Node
from spewy.job.job import Job
from spewy.learn.chunk_matrices import Payoffs, build_chunk, one_view, row_reach
from spewy.learn.payoffs import AveragePayoffs, StoredPayoffs
from spewy.learn.playdown import PlayDown
from spewy.look.dropped import StoreReads
from spewy.look.matrix_game import OneChunk
from spewy.records.chunks import Chunks
from spewy.run.session import Session

Below = Literal["average", "stored"]
"""Source of the payoffs at chance leaves: computed from the average strategies, or as stored by the last visits."""

MOST_BELOW = 20_000
"""Largest number of later chunks for which payoffs are computed; each takes some milliseconds."""


def one_chunk(source: Job | Session, line: str = "", board: str | Sequence[int] | None = None) -> OneChunk:
    """Build the matrix game of the chunk that a line enters on a board.

    For a chunk of a folder, use `spewy.Solution.chunk`, which writes nothing.

    Args:
        source: a session, whose store has the strategies and payoffs; or a job, for the state before its first visit,
            with uniform strategies in earlier chunks and estimated payoffs at chance leaves.
        line: line that enters the chunk, ``""`` or ending in ``/``.
        board: public cards, the root's first; None for the root's.

    Raises:
        InputError: no betting round starts after the line, the board is impossible after it, or the job has rake or
            locks, which a matrix game cannot have.
    """
    job = source if isinstance(source, Job) else source.job
    _require_zero_sum(job)
    session = source if isinstance(source, Session) else Session(source)
    layout, store = session.layout, session.store
    node = _entered(session.job, read_line(session.job.betting_tree, line))
    t = node.round - layout.problem.first_round
    r = layout.betting[t].find(node.line)
    b, perm = locate(layout, t, board_cards(layout.problem, node.round, board))
    play_down, below = PlayDown(layout, Chunks(layout, store).get), StoredPayoffs(layout, store)
    chunk = _build(layout, (t, b, r), perm, play_down, below, job.solve.tremble)
    return replace(chunk, estimated=below.estimated)


def stored_chunk(
    job: Job,
    problem: Problem,
    reads: StoreReads,
    line: str,
    board: str | Sequence[int] | None,
    payoffs: Below,
) -> OneChunk:
    """Build the matrix game of a chunk of a solve, without writing to its store: see `spewy.Solution.chunk`.

    Args:
        job: job that the store was made for.
        problem: game or spot of the job, with a row for each hand in dropped rounds.
        reads: reads the store.
        line: line that enters the chunk, ``""`` or ending in ``/``.
        board: public cards, the root's first; None for the root's.
        payoffs: whether payoffs at chance leaves are computed ("average") or read from the store ("stored").

    Raises:
        InputError: `one_chunk` would refuse the line, the board or the job; or payoffs cannot be computed, since later
            rounds were dropped or have too many chunks.
    """
    if payoffs not in get_args(Below):
        raise InputError(f"payoffs: expected one of {', '.join(get_args(Below))}, found {shown(payoffs)}")
    _require_zero_sum(job)
    node = _entered(job, read_line(job.betting_tree, line))
    cards = board_cards(problem, node.round, job.board if board is None else board)
    history, perm = solved_board(problem, node.round, cards)
    reads.require(node.line, cards, below=True)
    subgame, ranges = reads.subgame(node.line, node.round, history)
    play_down = PlayDown(subgame, Chunks(subgame, reads.store).get, ranges)
    if payoffs == "average":
        _require_computable(job, subgame, reads, node)
        averaged = AveragePayoffs(subgame, reads.store, play_down, job.solve.tremble)
        return _build(subgame, (0, 0, 0), perm, play_down, averaged, job.solve.tremble)
    below = StoredPayoffs(subgame, reads.store)
    chunk = _build(subgame, (0, 0, 0), perm, play_down, below, job.solve.tremble)
    return replace(chunk, estimated=below.estimated)


def _build(
    layout: Layout,
    place: tuple[int, int, int],
    perm: Ints,
    play_down: PlayDown,
    below: Payoffs,
    tremble: float,
) -> OneChunk:
    """Build the matrix game of a chunk of a layout.

    Args:
        layout: boards and betting of the solve or of a subgame.
        place: numbers of the chunk in the layout: round t, board b and entering line r.
        perm: suit permutation that maps the requested board to the layout's board.
        play_down: reads strategies, and computes the ranges at the chunk's root.
        below: reads, computes or estimates payoffs at chance leaves.
        tremble: fraction of the initial range that is added to each player's range.
    """
    t, b, r = place
    first, second = (side[r] for side in play_down.ranges(t, b))
    chunk = build_chunk(layout, t, b, r, one_view(layout, t, b, (first, second), tremble), below)
    back, tree = np.argsort(perm), layout.tree(t, r)
    board = [int(c) for group in layout.board(t, b).history for c in permute_cards(group, back)]
    return OneChunk(
        layout.problem.game.board_order(board),
        tree,
        layout.problem.pot + sum(tree.nodes[0].put_in),
        (_names(layout, t, b, 0, back), _names(layout, t, b, 1, back)),
        row_reach(layout, t, b, (first, second)),
        chunk,
        normalise(chunk, play_down.read(t, b, r) or chunk.zeros()),
    )


def _names(layout: Layout, t: int, b: int, p: int, back: Ints) -> tuple[tuple[str, ...], ...]:
    """Return the names of the hands in each row of player p, those with the largest weight first.

    Args:
        layout: boards and betting of the solve or of a subgame.
        t: the round.
        b: number of the board.
        p: the player.
        back: suit permutation that maps the layout's board to the requested board.
    """
    rows = layout.board(t, b).hands[p]
    names = [hand_name(permute_cards(hand, back)) for hand in layout.problem.hands[rows.numbers]]
    grouped: list[list[str]] = [[] for _ in range(rows.n_rows)]
    for h in sorted(range(len(names)), key=lambda h: (-rows.weight[h], names[h])):
        grouped[rows.row[h]].append(names[h])
    return tuple(tuple(group) for group in grouped)


def _require_zero_sum(job: Job) -> None:
    if job.lock or (job.spot is not None and job.spot.rake is not None):
        raise InputError(
            f"job {job.name}: a chunk is a matrix game only without rake and locks; this job has some"
        )


def _require_computable(job: Job, subgame: Layout, reads: StoreReads, node: Node) -> None:
    """Check that payoffs at a chunk's chance leaves can be computed from later rounds.

    Args:
        job: job that the store was made for.
        subgame: layout that begins with the chunk.
        reads: reads the store.
        node: the root of the chunk.

    Raises:
        InputError: later rounds were dropped, or have so many chunks that it would take hours.
    """
    hint = 'payoffs="stored" takes payoffs that visits have stored, or estimates'
    first = reads.store.first
    if first is not None and node.round < first and subgame.n_rounds > 1:
        raise InputError(
            f"job {job.name}: payoffs after line {node.line!r} need all later rounds, but some were dropped ({hint})"
        )
    below = sum(
        len(table.boards) * len(bets.chunks)
        for table, bets in zip(subgame.boards[1:], subgame.betting[1:], strict=False)
    )
    if below > MOST_BELOW:
        raise InputError(
            f"line {node.line!r}: expected at most {MOST_BELOW:,} later chunks to compute payoffs from, "
            f"found {below:,} (a later round has fewer; {hint})"
        )


def _entered(job: Job, line: str) -> Node:
    for roots in job.betting_tree.rounds.values():
        if line in roots:
            return roots[line]
    job.betting_tree.find(line)  # says where a line goes wrong
    raise InputError(
        f"line {line!r}: no betting round starts after it; give a line that ends a round, with / at its end"
    )
