"""Routes for played hands: the hands of a file, the spot of a hand, and a hand's review by the server's solves.

A page sends the whole text of a file with each request, since the server keeps no files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.routing import Route

from buckets.cards import cards_name
from spewy.bridges.from_hand import spot_of_hand
from spewy.errors import InputError, NotSolvedError
from spewy.game.names import ROUND_NAMES
from spewy.job.write import job_text
from spewy.match.acpc_text import LoggedHand, UnreadHand
from spewy.match.hand_files import named_game, read_hands_text
from spewy.match.review import NotInSpotError, Reviewed, SpotHands, review_hands
from spewy.match.table import decisions
from spewy.web.answers import Parameters, post, text
from spewy.web.folders import Folders
from spewy.web.setting_up import Draft, checked

MOST_HANDS = 5000
"""Largest number of hands in the answer about a file."""


def hand_routes(folders: Folders) -> list[Route]:
    return [
        post("/api/hands", listed_hands),
        post("/api/hands/job", hand_draft),
        post("/api/hands/review", lambda parameters: _reviewed(folders, parameters)),
    ]


def listed_hands(parameters: Parameters) -> dict[str, Any]:
    """Return the hands of a file that reach a spot, with their index as ``place``; and why the ``others`` do not."""
    rows, others = [], []
    for place, each in enumerate(_read(parameters)):
        if isinstance(each, UnreadHand):
            others.append({"number": str(each.number), "reason": each.reason})
            continue
        try:
            rows.append({"place": place, **_row(each)})
        except InputError as error:
            others.append({"number": str(each.number), "reason": str(error)})
    return {"hands": rows[:MOST_HANDS], "others": others[:MOST_HANDS]}


def _row(logged: LoggedHand) -> dict[str, Any]:
    spot = spot_of_hand(logged)
    hand = logged.hand
    streets = sorted({public.betting.round for public, _ in decisions(hand)} - {0})
    won = logged.won()
    return {
        "number": str(logged.number),  # a room's numbers may be too large for JavaScript
        "about": spot.answers.about.partition(": ")[2],
        "players": [
            {"name": name, "hole": None if cards is None else cards_name(cards)}
            for name, cards in zip(logged.names, hand.hole, strict=True)
        ],
        "board": cards_name(hand.game.board_order(hand.board)),
        "streets": [ROUND_NAMES[t] for t in streets],
        "won": None if won is None else [chips / logged.big_blind for chips in won],
    }


def hand_draft(parameters: Parameters) -> dict[str, Any]:
    """Return a draft for the spot of a hand (see `setting_up.checked`); its key ``from_hand`` has notes on the spot."""
    street = text(parameters, "street", "flop")
    if street not in ROUND_NAMES[1:]:
        raise InputError(f"street: expected one of {', '.join(ROUND_NAMES[1:])}, found {street!r}")
    spot = spot_of_hand(_hand(parameters), street)
    return checked(Draft.of_text(job_text(spot.answers, "spewy serve"))) | {"from_hand": spot.notes}


def _reviewed(folders: Folders, parameters: Parameters) -> dict[str, Any]:
    """Return a hand's decisions, compared with the solve of its spot; ``reason`` says why decisions are missing."""
    logged = _hand(parameters)
    solves = {path: name for entry in folders.entries() for path, name in _solves(entry)}
    missing: dict[str, Any] = {"folder": None, "decisions": []}
    with SpotHands(list(solves), skip_games=True, note=lambda line: None) as spots:
        try:
            in_spot = spots.enter(logged.hand)
        except (NotInSpotError, NotSolvedError) as error:
            return missing | {"reason": str(error)}
        review = review_hands(spots, [logged])
        folder = solves[in_spot.spot.folder]
        same_suits = bool((np.asarray(in_spot.perm) == np.arange(len(in_spot.perm))).all())
        rows = [_decision(each, same_suits) for each in review.decisions]
        reason = "; ".join(each.reason for each in review.skipped)
        return {"folder": folder, "decisions": rows, "reason": reason or None}


def _solves(entry: Any) -> list[tuple[Any, str]]:
    names = entry.boards or (entry.id,)
    return list(zip(entry.solves, names, strict=True))


def _decision(each: Reviewed, same_suits: bool) -> dict[str, Any]:
    decided = each.decided
    faces_bet = "f" in decided.actions
    assert each.fit is not None
    return {
        "name": each.name,
        "hole": None if each.hole is None else cards_name(each.hole),
        "round": ROUND_NAMES[len(decided.board) - 2],
        "board": cards_name(decided.board),
        "line": decided.line,
        "look": same_suits,
        "played": _words(decided.action, faces_bet),
        "action": decided.action,
        "actions": decided.actions,
        "words": [_words(action, faces_bet) for action in decided.actions],
        "frequencies": decided.frequencies,
        "values": decided.values,
        "cost": decided.cost,
        "loss": decided.loss,
        "unit": each.fit.unit,
        "off": 100 * max(abs(each.fit.distance), each.fit.line_distance),
    }


def _words(action: str, faces_bet: bool) -> str:
    if action[0] == "r":
        return f"{'raise to' if faces_bet else 'bet'} {action[1:]}"
    return "fold" if action == "f" else "call" if faces_bet else "check"


def _hand(parameters: Parameters) -> LoggedHand:
    place, hands = parameters.get("place"), _read(parameters)
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(hands):
        raise InputError(f"place: expected the place of a hand, 0 to {len(hands) - 1}, found {place!r}")
    found = hands[place]
    if isinstance(found, UnreadHand):
        raise InputError(f"hand {found.number}: {found.reason}")
    return found


def _read(parameters: Parameters) -> list[LoggedHand | UnreadHand]:
    written = parameters.get("text")
    if not isinstance(written, str) or not written.strip():
        raise InputError("expected the text of a file with hands")
    return list(read_hands_text(named_game(written), written, "the file", own_stakes=True))
