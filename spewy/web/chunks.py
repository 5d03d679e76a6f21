"""Routes for the inside of a solve: payoff matrices of chunks, board buckets and rows of hands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from spewy.errors import InputError, shown
from spewy.look.board_buckets import board_bucket
from spewy.look.hand_rows import hand_rows
from spewy.look.solution import Solution
from spewy.web.answers import Parameters, get, optional, text
from spewy.web.background import Progress
from spewy.web.folders import Folders
from spewy.web.readers import stamp

if TYPE_CHECKING:
    from spewy.look.chunk_blocks import ChunkBlocks
    from spewy.look.chunk_game import Below

PAYOFFS: dict[str, Below] = {"average": "average", "stored": "stored"}


def chunk_routes(folders: Folders) -> list[Route]:
    """Return the routes for chunks and buckets of the solutions in some folders."""

    def chunk(parameters: Parameters) -> Any:
        name, line = text(parameters, "folder"), text(parameters, "line", "")
        board, payoffs = optional(parameters, "board"), text(parameters, "payoffs", "average")
        if payoffs not in PAYOFFS:
            raise InputError(f"parameter payoffs: expected average or stored, found {shown(payoffs)}")
        saved = stamp(folders.solve(name).path)
        with folders.solution(name) as solution:
            node, cards = solution.at(line, board)
            entry = node.line[: node.line.rfind("/") + 1]

        def work(progress: Progress) -> ChunkBlocks:
            from spewy.look.chunk_blocks import chunk_blocks  # imported here, since it loads kernels

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
                found = board_bucket(solution, line, board)
                views = _views(solution, line, board)
            return found | {
                "hand_rows": [[row.to_json() for row in hand_rows(view, found["row_of"])] for view in views]
            }

        return folders.computed(("bucket", line, board), [name], work)

    return [get("/api/chunk", chunk), get("/api/bucket", bucket)]


def _rows(
    solution: Solution, line: str, board: str | None, blocks: ChunkBlocks
) -> list[list[dict[str, Any]]] | None:
    """Return each player's rows of hands in the chunk of a decision; None if each hand is a row of its own.

    ``blocks`` has the chunk's payoff matrices, and the row of each hand.
    """
    if all(len(set(rows.values())) == len(rows) for rows in blocks.row_of):
        return None
    return [
        [row.to_json() for row in hand_rows(view, blocks.row_of[view.player])]
        for view in _views(solution, line, board)
    ]


def _views(solution: Solution, line: str, board: str | None) -> list[Any]:
    """Return two views of a decision: the hands of oop and the hands of ip, with reach, strategy and EVs."""
    views = (solution.node(line, board), solution.waiting(line, board))
    return sorted(views, key=lambda view: view.player)
