"""Route for pasted texts, which become drafts: spots of other programs, played hands, and job files."""

from __future__ import annotations

import re
from typing import Any

from starlette.routing import Route

from spewy.bridges.spots import read_spot, recognised
from spewy.errors import InputError
from spewy.match.hand_files import has_hands
from spewy.web.answers import Parameters, post
from spewy.web.hands import hand_draft, listed_hands
from spewy.web.setting_up import MOST_CHARACTERS, Draft, checked

_JOB_LINE = re.compile(r"^\s*(\[[\w.]+\]|[\w.]+\s*=)", re.MULTILINE)


def paste_routes() -> list[Route]:
    return [post("/api/setup/paste", _of_paste)]


def _of_paste(parameters: Parameters) -> dict[str, Any]:
    """Return the draft of a pasted text, with the notes on the text as ``told``.

    The object is that of `setting_up.checked`. For several hands it has the ``hands`` alone (`hands.listed_hands`), of
    which a page lets its user choose one.
    """
    pasted = parameters.get("text")
    if not isinstance(pasted, str) or not pasted.strip():
        raise InputError("expected the text of a spot, a hand or a job, found none")
    if len(pasted) > MOST_CHARACTERS:
        raise InputError(f"expected at most {MOST_CHARACTERS:,} characters, found {len(pasted):,}")
    if recognised(pasted) is not None:
        spot = read_spot(pasted, "the pasted text")
        return checked(Draft.of_data(spot.data, f"A spot of {spot.program}.")) | {"told": list(spot.notes)}
    if not has_hands(pasted):
        if not _JOB_LINE.search(pasted):
            raise InputError(
                "expected a spot of another solver, played hands, or a job file; found a text that is none of these"
            )
        return checked(Draft.of_text(pasted)) | {"told": []}
    found = listed_hands(parameters)
    if len(found["hands"]) > 1:
        return {"hands": found["hands"]}
    if not found["hands"]:
        raise InputError(
            "; ".join(f"hand {each['number']}: {each['reason']}" for each in found["others"][:3])
        )
    draft = hand_draft({"text": pasted, "place": found["hands"][0]["place"]})
    return draft | {"told": draft["from_hand"]}
