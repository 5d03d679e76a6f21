"""Routes for setting up a job: presets, drafts with their errors, ranges, the betting tree, and the cost.

A *draft* is the text of a job file, and the same job as nested dictionaries, which a form on a page shows. A page sends
either the text or the dictionaries, and gets both back with the errors of the job's own validation. Drafts never name
files: a range, or a game that does not come with Spewy, is written into the job itself.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from random import randrange
from typing import Any

import numpy as np
from starlette.routing import Route

from buckets.cards import Deck, cards_name, hand_index, hand_name, hands, parse_cards
from buckets.errors import CardError
from lockers import open_store
from spewy.batch.batch import JobBoards, validated
from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.game.gamefile import format_game, shipped_games, shipped_name
from spewy.game.lines import line_words, read_line, sized_words
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.nodes import Node, entry_line
from spewy.game.ranges import Range, format_range, parse_range
from spewy.game.ranges.range import NUM_HANDS
from spewy.game.sizes import parse_sizes
from spewy.job.job import Job, SpotJob
from spewy.job.shipped import examples, preset, presets, shipped_ranges
from spewy.job.write import DOCS, Answers, drawn_board, job_text, write_job
from spewy.look.colours import action_colours, hex_colour
from spewy.look.folder import stored_job, strategy_folder
from spewy.records.progress import last_target
from spewy.system.textfile import parse_toml, read_text
from spewy.web.answers import Parameters, get, optional, post, text
from spewy.web.folders import Entry, Folders
from spewy.web.job_process import Estimates

SIZES = re.compile(r"^sizes, position \d+: ")
"""Matches the subject with which the errors of bet sizes begin; a page shows such an error beside its field."""
MOST_NODES = 400
"""Largest number of nodes of a betting tree in one answer; a page asks for the nodes below separately."""
MOST_SEED = 10**6
MOST_CHARACTERS = 400_000
"""Largest length of a job's text; two ranges of 1,326 numbers with many digits have some 60,000 characters."""
SUBJECT = re.compile(r"^job[^:]*: ")
"""Matches the subject with which the errors of a job begin, such as ``job: ``."""
KEY = re.compile(r"^[a-z_]+(\.[^\s.,:]+)*(?=[\s,:])")
"""Matches the key at the beginning of an error, such as ``spot.oop``."""


def setup_routes(folders: Folders, estimates: Estimates) -> list[Route]:
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
        get("/api/setup/example", _of_example),
        get("/api/setup/solve", of_solve),
        post("/api/setup/check", _check),
        post("/api/setup/tree", lambda parameters: tree_part(draft_of(parameters).job, parameters)),
        post("/api/setup/cost", cost),
        post("/api/range", range_answer),
    ]


def draft_of(parameters: Parameters) -> Draft:
    """Return the draft in a request: its ``text``, or its ``data`` as nested dictionaries."""
    written, data = parameters.get("text"), parameters.get("data")
    if isinstance(written, str):
        return Draft.of_text(written)
    if not isinstance(data, Mapping):
        raise InputError("expected the text of a job, or the job as an object")
    return Draft.of_data(data, text(parameters, "about", ""))


def _check(parameters: Parameters) -> dict[str, Any]:
    """Return a request's draft with its problems, see `checked`; ``data`` is None for a text that is not TOML."""
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
    boards, the numbers of decisions and ends of the betting tree, in all and by round, whether all were counted, the
    number of combos of each range on the board, and whether a quick solve is possible.
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
        "rounds": [
            {"round": name, "decisions": sum(each.decisions), "nodes": each.nodes}
            for name, each in zip(job.rules.round_names[-len(count.rounds) :], count.rounds, strict=True)
        ],
        "all_counted": count.complete,
        "hands": [float(one.combos) for one in job.ranges] if isinstance(job, SpotJob) else [],
        "unit": job.amounts.name,
        "quick": draft.boards is None and _can_be_quick(job),
    }
    # Hands that the board blocks need no note: the page shows how many hands are left.
    notes = [note for note in job.range_notes if ": the board blocks " not in note]
    return found | {"notes": notes, "facts": facts}


def _can_be_quick(job: Job) -> bool:
    try:
        job.replace(quick="1 s")
    except InputError:
        return False
    return True


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
        if not isinstance(section, dict):
            continue
        for path, own in ((name, section), *((f"{name}.{seat}", section.get(seat)) for seat in SEAT_NAMES)):
            for key in ("bet", "raise", "donk"):
                value = own.get(key) if isinstance(own, dict) else None
                if isinstance(value, str):
                    parse = partial(parse_sizes, value, raises=key == "raise", key="sizes", unit=unit)
                    yield from _problem(f"bets.{path}.{key}", parse)


def _problem(key: str, parse: Callable[[], object]) -> Iterator[dict[str, str]]:
    """Yield the problem of a text that ``parse`` refuses; ``key`` is the key of the text in the job."""
    try:
        parse()
    except InputError as error:
        yield {"key": key, "message": SIZES.sub("", str(error))}


def tree_part(job: Job, parameters: Parameters) -> dict[str, Any]:
    """Return the betting tree from the node at ``line`` to the end of the round, as ``root`` of a JSON object.

    A decision has its ``player`` and its ``actions``, each with a ``node``. If there are too many nodes, a decision has
    ``more`` instead of actions; then a page asks for the rest with the decision's ``line``. A deal of cards has
    ``following``, the next ``round`` and the ``line`` that enters it, which is null if nobody acts then.
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
            row = {"label": action.label, "words": sized_words(action.label), "colour": hex_colour(colour)}
            found["actions"].append(row | {"node": inner})
            waiting.append((child, inner))
            made += 1
    return {
        "unit": job.amounts.name,
        "words": line_words(tree.entered(entry_line(node.line)), node.line),
        "root": root,
    }


def _tree_node(job: Job, node: Node) -> dict[str, Any]:
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
        {"name": each.name, "about": each.about, "pot": each.pot, "stack": each.stack}
        for each in presets().values()
    ]
    return {"presets": rows, "ranges": [asdict(given) for given in shipped_ranges().values()]}


def _of_preset(parameters: Parameters) -> dict[str, Any]:
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


def _of_example(parameters: Parameters) -> dict[str, Any]:
    name = text(parameters, "name")
    found = next((each for each in examples() if each.name == name), None)
    if found is None:
        raise InputError(f"name: expected an example that comes with Spewy, found {shown(name)}")
    return checked(Draft.of_text(found.text))


def range_answer(parameters: Parameters) -> dict[str, Any]:
    """Return the result of `range_json`, or ``{"error": text}`` for invalid input, as is usual while a user types."""
    try:
        return range_json(parameters)
    except InputError as error:
        return {"error": str(error)}


def range_json(parameters: Parameters) -> dict[str, Any]:
    """Convert a range between its text and weights of hands.

    The parameters are the ``text`` of the range, or weights of ``hands`` by name (hands that are missing have weight
    0); and the ``board``, if there is one.

    Returns:
        ``text``, and ``hands`` with their weights above 0; ``combos``, the sum of the weights, ``share``, its share of
        all hands, and ``live``, the sum of the weights of hands that the board does not block.
    """
    given, board = parameters.get("hands"), _board(optional(parameters, "board"))
    held = parse_range(text(parameters, "text")) if given is None else _weighted(given)
    live = held.without(board)
    names = {hand_name(hands(Deck(), 2)[n]): float(held.weights[n]) for n in np.flatnonzero(held.weights)}
    written = format_range(held) if names else ""
    return {
        "text": text(parameters, "text") if given is None else written,
        "hands": names,
        "combos": held.combos,
        "share": held.combos / NUM_HANDS,
        "live": live.combos,
    }


def _weighted(given: object) -> Range:
    if not isinstance(given, Mapping):
        raise InputError(f"hands: expected weights by the names of hands, found {shown(given)}")
    weights = np.zeros(NUM_HANDS)
    for name, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise InputError(f"weight of {shown(name)}: expected a number from 0 to 1, found {shown(weight)}")
        weights[_hand(name)] = weight
    return Range(weights)


def _hand(name: str) -> int:
    try:
        cards = parse_cards(name)
    except CardError as error:
        raise InputError(f"hand {shown(name)}: {error}") from None
    if len(cards) != 2:
        raise InputError(f"hand {shown(name)}: expected two cards, found {len(cards)}")
    return int(hand_index(Deck(), cards))


def _board(board: str | None) -> tuple[int, ...]:
    """Cards of a board; no cards if the text is invalid, which another request of the page reports."""
    try:
        return parse_cards(board or "")
    except CardError:
        return ()


@dataclass(frozen=True)
class Draft:
    """A job that may be invalid.

    Attributes:
        text: the text of the job file.
        data: the same job as nested dictionaries.
    """

    text: str
    data: dict[str, Any]

    @classmethod
    def of_text(cls, text: str) -> Draft:
        data = parse_toml(text, "job", MOST_CHARACTERS)
        try:
            json.dumps(data, allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            raise InputError(
                "job: expected texts, usual numbers, lists and tables, found another value"
            ) from None
        return cls(text, data)

    @classmethod
    def of_data(cls, data: Mapping[str, Any], about: str = "") -> Draft:
        """Make a draft from the dictionaries of a job, and write its text with the comment ``about`` at the top."""
        header = tuple(filter(None, (about, f"Written by spewy serve. {DOCS}")))
        return cls.of_text(write_job(data, header))

    @cached_property
    def boards(self) -> JobBoards | None:
        return JobBoards.of(self.data, "")

    @cached_property
    def job(self) -> Job:
        """The job; for several boards, the job on the first board."""
        _require_no_files(self.data)
        return validated(self.data, "job") if self.boards is None else self.boards.job(0)

    @property
    def name(self) -> str:
        name = self.data.get("name")
        return name if isinstance(name, str) else ""

    def of_first_board(self) -> Draft:
        """Return the draft of the job on its first board, or this draft if it has only one board."""
        if self.boards is None:
            return self
        spot = {key: value for key, value in self.data["spot"].items() if key != "boards"}
        return Draft.of_data(self.data | {"spot": {"board": self.boards.boards[0], **spot}})


def problems(error: InputError) -> list[dict[str, str]]:
    """Split the error of a job into its single errors, each with its key and its message.

    >>> problems(InputError("job: spot.pot: expected a value, found none; job: unknown key spots"))
    [{'key': 'spot.pot', 'message': 'expected a value, found none'}, {'key': '', 'message': 'unknown key spots'}]
    """
    text = str(error)
    match = SUBJECT.match(text)
    subject = match.group() if match else ""
    # Each error may repeat the subject.
    begins = rf"; (?:{re.escape(subject)}|(?=[a-z_]+(?:\.[^\s.,:]+)+: |lock [0-9]+[,:] ))"
    lines = re.split(begins, text.removeprefix(subject)) if subject else [text]
    return [_keyed(line) for line in lines]


def draft_of_solve(entry: Entry, *, beside: bool) -> Draft:
    """Return the job of a solve or a batch.

    With ``beside``, the draft has the text, with comments, of the job file beside the folder. For a solve the file must
    hold the same job; for a batch it may hold any job. Otherwise the text is written from the stored job.
    """
    solve = entry.path if entry.kind == "solve" else entry.path / entry.boards[0].rpartition("/")[2]
    with open_store(strategy_folder(solve), read_only=True) as store:
        job, target = stored_job(store, solve), last_target(store)
    file = job_file(entry.path)
    if beside and file.is_file():
        try:
            draft = Draft.of_text(read_text(file, f"file {file.name}"))
            if entry.kind == "batch" or draft.job.manifest() == job.manifest():
                return draft
        except InputError:  # the file is another job, or none
            pass
    data = job.model_dump(mode="json", exclude_defaults=True, exclude_unset=False)
    if target is not None:
        data["solve"] = data.get("solve", {}) | {"target": target}
    data["game"] = _game(job)
    if entry.kind == "batch":
        boards = [name.rpartition("/")[2] for name in entry.boards]
        data["spot"] = {key: boards if key == "board" else value for key, value in data["spot"].items()}
        data["spot"] = {"boards": data["spot"].pop("board"), **data["spot"]}
    return Draft.of_data(data)


def job_file(folder: Path) -> Path:
    """Return the path of the job file of a solve that a page has started: it lies beside the solve's folder."""
    return folder.parent / f"{folder.name}.toml"


def _keyed(line: str) -> dict[str, str]:
    match = KEY.match(line)
    if match is None or "." not in match.group():
        named = re.match(r"(name|unit|betting tree): |(?:unknown key )?(lock) [0-9]", line)
        key = {"betting tree": "bets"}.get(named[1], named[1] or named[2]) if named else ""
        return {"key": key, "message": line.partition(": ")[2] if key in ("name", "unit") else line}
    rest = line[match.end() :]
    message = rest.removeprefix(":").removeprefix(",").strip()
    if match.group().startswith("bets."):
        message = re.sub(r"^position \d+: ", "", message)  # the message quotes the wrong size
    return {"key": match.group(), "message": message}


def _require_no_files(data: Mapping[str, Any]) -> None:
    """Refuse names of files in a draft: a page may read only the folders of the server."""
    spot, game = data.get("spot"), data.get("game")
    for seat in SEAT_NAMES:
        value = spot.get(seat) if isinstance(spot, dict) else None
        if isinstance(value, dict) or (isinstance(value, str) and value.lstrip().startswith("@")):
            raise InputError(
                f"job: spot.{seat}: expected a range, found {shown(value)}; a page reads no files, so paste the "
                "range itself"
            )
    name = game.get("file") if isinstance(game, dict) else None
    if isinstance(name, str) and name not in shipped_games():
        raise InputError(
            f"job: game.file: expected one of {', '.join(shipped_games())}, found {shown(name)}; a page reads no "
            "files, so paste the text of the game into game.text"
        )


def _game(job: Job) -> dict[str, str]:
    """Return the section ``[game]`` of a job: the name of a game that comes with Spewy, or the text of the game."""
    text = format_game(job.rules)
    name = shipped_name(text)
    return {"text": text} if name is None else {"file": name}
