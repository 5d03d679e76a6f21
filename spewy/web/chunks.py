"""The inside of a solve for pages: payoff matrices of chunks, board buckets and rows of hands, with their routes.

A matrix of a thousand rows is too large for a picture. So the rows of each player that are in the range are sorted by
equity and divided into at most `MOST_BLOCKS` blocks of equally many rows. With the payoffs ``U[i, j]``, and the
weight ``w[i, j]`` of all compatible pairs of hands of two rows in both ranges, the entry for two blocks is the mean
payoff ``Σ w[i, j] U[i, j] / Σ w[i, j]``, summed over the rows i of one block and j of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from buckets.cards import canonical, cards_name, hand_name
from solvers.tree import Floats, Ints
from spewy.chunks.locate import Place
from spewy.errors import InputError, shown
from spewy.game.nodes import Line
from spewy.look.node import NodeView
from spewy.look.solution import Solution
from spewy.records.policy import BucketPolicy
from spewy.system.tools import plain
from spewy.web.answers import Parameters, get, optional, text
from spewy.web.background import Progress
from spewy.web.folders import Folders
from spewy.web.position import both_views, hands_text
from spewy.web.readers import stamp

if TYPE_CHECKING:
    from spewy.look.chunk_game import Below, OneChunk  # which loads kernels

PAYOFFS: dict[str, Below] = {"average": "average", "stored": "stored"}
MOST_BLOCKS = 60
"""Largest number of blocks into which a player's rows are divided."""
MOST_NAMED = 12
"""Largest number of hands that a block names."""
ROOT = ""
"""Name that stands for the chunk's root beside the names of its leaves.

The payoffs of the root are those of the average strategies.
"""
DEALS_AT_ONCE = 4096
"""Number of random deals that are searched for other boards in one step."""
MOST_DEALS = 100_000
"""Largest number of random deals that are searched for other boards of a bucket."""
MOST_BOARDS = 12
"""Largest number of other boards that are listed for a bucket."""


def chunk_routes(folders: Folders) -> list[Route]:
    def chunk(parameters: Parameters) -> Any:
        name, line = text(parameters, "folder"), text(parameters, "line", "")
        board, payoffs = optional(parameters, "board"), text(parameters, "payoffs", "average")
        if payoffs not in PAYOFFS:
            raise InputError(f"parameter payoffs: expected average or stored, found {shown(payoffs)}")
        saved = stamp(folders.solve(name).path)
        with folders.solution(name) as solution:
            place = solution.at(line, board)
            entry, cards = Line(place.entry), place.cards

        def work(progress: Progress) -> ChunkBlocks:
            del progress
            with folders.apart(name) as solution:
                return chunk_blocks(solution, entry, cards, PAYOFFS[payoffs])

        found = folders.computed(("chunk", entry, cards, payoffs), [name], work, exact=True)
        if isinstance(found, Response):
            return found
        with folders.solution(name) as solution:
            rows = _rows(solution, line, board, found)
        if stamp(folders.solve(name).path) != saved:  # the matrices and the rows may be those of two saves
            return JSONResponse({"done": 0, "total": 0}, 202)
        return found.to_json(text(parameters, "leaf", "")) | {"hand_rows": rows}

    def bucket(parameters: Parameters) -> Any:
        name, line = text(parameters, "folder"), text(parameters, "line", "")
        board = optional(parameters, "board")

        def work(progress: Progress) -> dict[str, Any]:
            del progress
            with folders.solution(name) as solution:
                place = solution.at(line, board, decision=True)
                found = board_bucket(solution, place)
                views = both_views(solution, place)
            return found | {"hand_rows": [hand_rows(view, found["row_of"]) for view in views]}

        return folders.computed(("bucket", line, board), [name], work)

    return [get("/api/chunk", chunk), get("/api/bucket", bucket)]


def _rows(
    solution: Solution, line: str, board: str | None, blocks: ChunkBlocks
) -> list[list[dict[str, Any]]] | None:
    """Return each player's rows of hands in the chunk of a decision; None if each hand is a row of its own."""
    if all(len(set(rows.values())) == len(rows) for rows in blocks.row_of):
        return None
    views = both_views(solution, solution.at(line, board, decision=True))
    return [hand_rows(view, blocks.row_of[view.player]) for view in views]


@dataclass(frozen=True)
class ChunkBlocks:
    """All payoff matrices of a chunk, with rows joined to blocks (`spewy.web.chunks`). Amounts are in the job's unit.

    Attributes:
        facts: a JSON object with the ``line`` that enters the chunk; the ``pot`` at its root; the ``unit``; for both
            players, the number of ``rows`` and the ``blocks``, those with the least equity first; ``estimated``,
            whether the payoffs of a chance leaf were estimated, since none were stored; the ``value``, which oop wins
            on average from the root; and the ``leaves`` by name, the root as `ROOT`, with line, words and kind.
        payoffs: by the name of the leaf, the net amount that oop wins on average ``[block of oop, block of ip]``; NaN
            for blocks without two compatible hands.
        row_of: for oop and ip, the row of each hand by its name.
    """

    facts: Mapping[str, Any]
    payoffs: Mapping[str, Floats]
    row_of: tuple[Mapping[str, int], Mapping[str, int]]

    def to_json(self, leaf: str = ROOT) -> dict[str, Any]:
        """Return the chunk's facts and the payoff matrix of one of its leaves, or of its root, as a JSON object."""
        if leaf not in self.payoffs:
            raise InputError(f"leaf {shown(leaf)}: expected one of {', '.join(filter(None, self.payoffs))}")
        plained: dict[str, Any] = plain({**self.facts, "leaf": leaf, "payoffs": self.payoffs[leaf]})
        return plained


def chunk_blocks(
    solution: Solution,
    line: str | Place = "",
    board: str | Sequence[int] | None = None,
    payoffs: Below = "average",
) -> ChunkBlocks:
    """Compute the payoff matrices of the chunk in which a decision lies, with the rows joined to blocks."""
    entry, unit = solution.reads.policy.start_of(solution.at(line, board)), solution.job.amounts
    views = both_views(solution, entry)
    chunk = solution.chunk(entry, payoffs=payoffs)
    sides = [_sorted_rows(view, chunk, p) for p, view in enumerate(views)]
    groups = [np.array_split(order, min(MOST_BLOCKS, len(order))) for order, _ in sides]
    weights = chunk.chunk.entering[0][:, None] * chunk.joint_weight * chunk.chunk.entering[1]
    matrices = {ROOT: chunk.average.payoffs}
    entered = unit.line_text(Line(entry.line))
    leaves = [{"name": ROOT, "line": entered, "words": "", "kind": "root"}]
    for n in chunk.leaves:
        leaf = chunk.tree.nodes[n]
        name, words = unit.line_text(leaf.line), solution.words(leaf).rpartition(" / ")[2]
        matrices[name] = chunk.leaf_payoffs(n)
        leaves.append({"name": name, "line": name, "words": words, "kind": leaf.kind})
    facts = {
        "line": entered,
        "pot": chunk.pot / unit.chips,
        "unit": unit.name,
        "rows": [len(hands) for hands in chunk.hands],
        "estimated": chunk.estimated,
        "value": chunk.average.value / unit.chips,
        "blocks": [_blocks(chunk, p, groups[p], sides[p][1]) for p in (0, 1)],
        "leaves": leaves,
    }
    payoffs_of = {name: _means(matrix, weights, groups) / unit.chips for name, matrix in matrices.items()}
    return ChunkBlocks(facts, payoffs_of, (_rows_of(chunk, 0), _rows_of(chunk, 1)))


def _sorted_rows(view: NodeView, chunk: OneChunk, p: int) -> tuple[Ints, Floats]:
    """Return the rows of player p that are in the range, sorted by equity, and the equity ``[row]`` of all rows."""
    row_of, n_rows = _rows_of(chunk, p), len(chunk.hands[p])
    rows = np.array([row_of[hand] for hand in view.hands], dtype=np.int64)
    known = ~np.isnan(view.equity) & (view.reach > 0)
    mass = np.bincount(rows[known], view.reach[known], n_rows)
    total = np.bincount(rows[known], (view.reach * view.equity)[known], n_rows)
    equity = np.divide(total, mass, out=np.full(n_rows, np.nan), where=mass > 0)
    order = np.argsort(equity, kind="stable")
    return order[: int((mass > 0).sum())], equity


def _rows_of(chunk: OneChunk, p: int) -> dict[str, int]:
    return {hand: row for row, names in enumerate(chunk.hands[p]) for hand in names}


def _blocks(chunk: OneChunk, p: int, groups: Sequence[Ints], equity: Floats) -> list[dict[str, Any]]:
    """Describe each group of a player's rows (a block of the page's matrices) as a JSON object.

    Each of ``groups`` has row numbers by ascending ``equity`` ``[row]``. An object has the names of at most
    `MOST_NAMED` of the block's ``hands``, those with the least equity first; the ``count`` of all its hands; its
    ``weight``, a share of the player's range; and the smallest and largest ``equity`` of its rows.
    """
    total = chunk.ranges[p].sum()
    found = []
    for rows in groups:
        names = [hand for row in rows for hand in chunk.hands[p][row]]
        found.append(
            {
                "hands": names[:MOST_NAMED],
                "count": len(names),
                "weight": float(chunk.ranges[p][rows].sum() / total),
                "equity": (float(equity[rows[0]]), float(equity[rows[-1]])),
            }
        )
    return found


def _means(matrix: Floats, weights: Floats, groups: Sequence[Sequence[Ints]]) -> Floats:
    """Average a matrix over pairs of blocks: ``[block of oop, block of ip]``.

    ``matrix`` and ``weights`` are ``[row of oop, row of ip]``; NaN in ``matrix`` counts as 0.
    """
    chosen = [_members(side, n) for side, n in zip(groups, weights.shape, strict=True)]
    mass = chosen[0] @ weights @ chosen[1].T
    total = chosen[0] @ np.where(weights > 0, weights * np.nan_to_num(matrix), 0.0) @ chosen[1].T
    out: Floats = np.divide(total, mass, out=np.full_like(total, np.nan), where=mass > 0)
    return out


def _members(groups: Sequence[Ints], n_rows: int) -> Floats:
    """Return an array ``[block, row]``: 1 if the block has the row, else 0."""
    out = np.zeros((len(groups), n_rows))
    for block, rows in enumerate(groups):
        out[block, rows] = 1.0
    return out


def hand_rows(view: NodeView, row_of: Mapping[str, int]) -> list[dict[str, Any]]:
    """Group the hands of a player at a decision by their rows, as JSON, the row with the least equity first.

    ``row_of`` has the number of each hand's row. A row of the result has its ``number``, the names of its ``hands``,
    the hands as the ``text`` of a range, the sum of the weights as ``reach``, the mean ``equity``, or null if it is not
    known, and the ``strategy``, the frequency of each action.
    """
    numbers = np.array([row_of[hand] for hand in view.hands], dtype=np.int64)
    rows = [_row(view, int(number), numbers == number) for number in np.unique(numbers)]
    rows.sort(key=lambda row: (np.isnan(row["equity"]), row["equity"], row["number"]))
    plained: list[dict[str, Any]] = plain(rows)
    return plained


def _row(view: NodeView, number: int, members: NDArray[np.bool_]) -> dict[str, Any]:
    hands = view.only(members)
    reach, known = float(hands.reach.sum()), ~np.isnan(hands.equity)
    weights = hands.reach if reach > 0 else np.ones(len(hands.hands))
    mass = float(weights[known].sum())
    equity = float(weights[known] @ hands.equity[known]) / mass if mass > 0 else float("nan")
    return {
        "number": number,
        "hands": hands.hands,
        "text": hands_text(view, hands.hands),
        "reach": reach,
        "equity": equity,
        "strategy": (hands.strategy @ weights / weights.sum()).tolist(),
    }


def board_bucket(solution: Solution, place: Place) -> dict[str, Any]:
    """Describe the board bucket of a board in a whole game, as a JSON object.

    It has ``bucket``, the number of the board bucket; ``of``, the number of board buckets in its round; ``boards``,
    names of other boards of the bucket, found by random deals and different by more than suits; and ``row_of``, the
    number of each hand's row.
    """
    policy = solution.reads.policy
    if not isinstance(policy, BucketPolicy):
        raise InputError(f"job {solution.job.name}: expected a whole game with [boards], found another solve")
    t = place.round
    bucket, rows = policy.rows_on(place)
    deck = solution.problem.hands
    return {
        "bucket": bucket,
        "of": policy.strategies.saved.board_buckets[t],
        "boards": [cards_name(found) for found in _others(solution, policy, t, place.cards, bucket)],
        "row_of": {hand_name(deck[h]): int(rows[h]) for h in np.flatnonzero(rows >= 0)},
    }


def _others(
    solution: Solution, policy: BucketPolicy, t: int, cards: Sequence[int], bucket: int
) -> Iterator[tuple[int, ...]]:
    """Yield other boards of a board bucket of round t, from random deals."""
    from buckets.abstraction import Abstraction

    game, size, abstraction = solution.job.rules, len(cards), policy.abstraction
    if not size or not isinstance(abstraction, Abstraction):
        return
    seen = {canonical(game.cut(cards), game.deck)[0]}
    for first in range(0, MOST_DEALS, DEALS_AT_ONCE):
        classes = abstraction.classes_of_deals(0, first, DEALS_AT_ONCE)[:, t]
        for number in first + np.flatnonzero(classes == bucket):
            dealt = tuple(abstraction.deal(0, [int(number)]).boards[0, :size].tolist())
            history = canonical(game.cut(dealt), game.deck)[0]
            if history not in seen:
                seen.add(history)
                yield game.board_order(dealt)
            if len(seen) > MOST_BOARDS:
                return
