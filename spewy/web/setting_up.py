"""Routes for setting up a job: presets, drafts with their errors, ranges, the betting tree, and the cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from random import randrange
from typing import Any

from starlette.routing import Route

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.game.lines import action_words, line_words, read_line
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.nodes import Node
from spewy.game.ranges import parse_range
from spewy.game.sizes import parse_sizes
from spewy.job.job import Job, SpotJob
from spewy.job.shipped import GivenRange, preset, presets
from spewy.job.write import Answers, drawn_board, job_text
from spewy.look.colours import action_colours, hex_colour
from spewy.web.answers import Parameters, get, optional, post, text
from spewy.web.drafts import Draft, draft_of_solve, problems
from spewy.web.folders import Folders
from spewy.web.job_process import Estimates
from spewy.web.ranges import range_answer

MOST_NODES = 400
"""Largest number of nodes of a betting tree in one answer; a page asks for the nodes below separately."""
MOST_SEED = 10**6


def setup_routes(folders: Folders, estimates: Estimates) -> list[Route]:
    """Return the routes for setting up jobs."""

    def of_solve(parameters: Parameters) -> dict[str, Any]:
        entry = folders.entry(text(parameters, "folder"))
        return checked(draft_of_solve(entry, beside=folders.holds(entry)))

    def cost(parameters: Parameters) -> dict[str, Any]:
        draft = draft_of(parameters)
        draft.job  # noqa: B018 - the property refuses an invalid job, before a process starts
        found = estimates.of(draft.of_first_board().text, text(parameters, "page", ""))
        if found is None:
            return {"replaced": True}
        boards = draft.boards
        one = None if boards is None else {"board": boards.boards[0], "of": len(boards.boards)}
        return found | {"first": one}

    return [
        get("/api/presets", _presets),
        get("/api/setup/preset", _of_preset),
        get("/api/setup/solve", of_solve),
        post("/api/setup/check", _check),
        post("/api/setup/tree", lambda parameters: tree_part(draft_of(parameters).job, parameters)),
        post("/api/setup/cost", cost),
        post("/api/range", range_answer),
    ]


def draft_of(parameters: Parameters) -> Draft:
    """Return the draft in a request: its ``text``, or its ``data`` as nested dictionaries.

    Raises:
        InputError: the text is not TOML, or the request has neither.
    """
    written, data = parameters.get("text"), parameters.get("data")
    if isinstance(written, str):
        return Draft.of_text(written)
    if not isinstance(data, Mapping):
        raise InputError("expected the text of a job, or the job as an object")
    return Draft.of_data(data, text(parameters, "about", ""))


def _check(parameters: Parameters) -> dict[str, Any]:
    """Check a draft; a text that is not TOML has no data, which is usual while a user types."""
    try:
        draft = draft_of(parameters)
    except InputError as error:
        written = parameters.get("text")
        return {"text": written, "data": None, "problems": problems(error), "notes": [], "facts": None}
    return checked(draft)


def checked(draft: Draft) -> dict[str, Any]:
    """Return a draft and what its validation found, as a JSON object.

    It has the ``text`` and the ``data`` of the job, and its ``problems``, each with a key and a message. A valid job
    also has ``notes`` about hands that the solve leaves out for their small weight, and ``facts``: the number of
    boards, the numbers of decisions and ends of the betting tree and whether all were counted, and the number of combos
    of each range on the board.
    """
    found: dict[str, Any] = {
        "text": draft.text,
        "data": draft.data,
        "problems": [],
        "notes": [],
        "facts": None,
    }
    try:
        job = draft.job
    except InputError as error:
        first = problems(error)
        keys = {problem["key"] for problem in first}
        return found | {"problems": first + [each for each in _texts(draft.data) if each["key"] not in keys]}
    count = job.tree_count
    facts = {
        "name": job.name,
        "kind": "whole game" if job.spot is None else "spot",
        "boards": 1 if draft.boards is None else len(draft.boards.boards),
        "nodes": count.nodes,
        "all_counted": count.complete,
        "hands": [float(one.combos) for one in job.ranges] if isinstance(job, SpotJob) else [],
        "unit": job.amounts.name,
    }
    # Hands that the board blocks need no note: the page shows how many hands are left.
    notes = [note for note in job.range_notes if ": the board blocks " not in note]
    return found | {"notes": notes, "facts": facts}


def _texts(data: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the problems of ranges and bet sizes, which the validation of a job does not reach after other errors."""
    spot, bets = data.get("spot"), data.get("bets")
    unit = Unit("bb") if data.get("unit") == "bb" else CHIPS
    for seat in SEAT_NAMES:
        value = spot.get(seat) if isinstance(spot, dict) else None
        if isinstance(value, str):
            yield from _problem(f"spot.{seat}", partial(parse_range, value))
    for name in ROUND_NAMES:
        section = bets.get(name) if isinstance(bets, dict) else None
        for key in ("bet", "raise", "donk"):
            value = section.get(key) if isinstance(section, dict) else None
            if isinstance(value, str):
                parse = partial(parse_sizes, value, raises=key == "raise", key="sizes", unit=unit)
                yield from _problem(f"bets.{name}.{key}", parse)


def _problem(key: str, parse: Callable[[], object]) -> Iterator[dict[str, str]]:
    """Yield the problem of a text that ``parse`` refuses; ``key`` is the key of the text in the job."""
    try:
        parse()
    except InputError as error:
        yield {"key": key, "message": str(error)}


def tree_part(job: Job, parameters: Parameters) -> dict[str, Any]:
    """Return the betting tree from the node at the parameter ``line`` to the end of the round, as a JSON object.

    A decision has its ``player`` and its ``actions``, each with a ``node``. If there are too many nodes, a decision has
    ``more`` instead of actions; then a page asks for the rest with the decision's ``line``. A deal of cards has the
    ``line`` that follows it.
    """
    tree = job.betting_tree
    node = tree.alone(read_line(tree, text(parameters, "line", "")))
    if node.kind == "chance":
        raise InputError(f"line {shown(text(parameters, 'line', ''))}: the round is over; add a /")
    root: dict[str, Any] = _tree_node(job, node)
    waiting, made = deque([(node, root)]), 1
    while waiting:
        parent, found = waiting.popleft()
        if parent.kind != "decision":
            continue
        if made + len(parent.children) > MOST_NODES:
            found["more"] = True
            continue
        colours = action_colours([action.label for action in parent.actions])
        found["actions"] = []
        for action, child, colour in zip(parent.actions, parent.children, colours, strict=True):
            inner = _tree_node(job, child)
            row = {"label": action.label, "words": action_words(action.label), "colour": hex_colour(colour)}
            found["actions"].append(row | {"node": inner})
            waiting.append((child, inner))
            made += 1
    return {
        "unit": job.amounts.name,
        "words": line_words(tree.entered(_entry(node)), node.line),
        "root": root,
    }


def _entry(node: Node) -> str:
    return node.line[: node.line.rfind("/") + 1]


def _tree_node(job: Job, node: Node) -> dict[str, Any]:
    """Return a node of a betting tree without its actions."""
    unit = job.amounts
    names = job.rules.round_names
    found = {
        "kind": node.kind,
        "player": node.player,
        "round": names[node.round],
        "line": unit.line_text(node.line),
        "pot": (job.pot + sum(node.put_in)) / unit.chips,
        "put_in": [chips / unit.chips for chips in node.put_in],
    }
    if node.kind == "chance":
        below = node.children[0]
        ends = below.kind != "decision"
        following = {"line": None if ends else unit.line_text(below.line), "round": names[node.round + 1]}
        return found | {"following": following}
    return found


def _presets(parameters: Parameters) -> dict[str, Any]:
    del parameters
    rows = [
        {
            "name": each.name,
            "about": each.about,
            "pot": each.pot,
            "stack": each.stack,
            "ranges": [_given(given) for given in each.ranges],
        }
        for each in presets().values()
    ]
    return {"presets": rows}


def _given(given: GivenRange) -> dict[str, str]:
    return {"about": given.about, "text": given.text}


def _of_preset(parameters: Parameters) -> dict[str, Any]:
    """Return the draft of a preset on a board, on a random board, or on a subset of flops."""
    known = preset(text(parameters, "name"))
    subset, board = optional(parameters, "subset"), optional(parameters, "board")
    if subset is not None:
        if not subset.isdecimal():
            raise InputError(f"subset: expected a number of flops, found {shown(subset)}")
        answers = replace(Answers.of(known, (), None), subset=int(subset[:9]))
        return checked(Draft.of_text(job_text(answers, "spewy serve")))
    try:
        cards = drawn_board(randrange(MOST_SEED), 3) if board is None else parse_cards(board)
    except CardError as error:
        raise InputError(f"board: {error}") from None
    if not 3 <= len(cards) <= 5:
        raise InputError(f"board: expected three to five cards, found {len(cards)} ({cards_name(cards)})")
    return checked(Draft.of_text(job_text(Answers.of(known, cards, None), "spewy serve")))
