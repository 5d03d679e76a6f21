"""Filters that select hands by what they are: a made hand, a draw or a blocker.

``pair+&flushdraw, set`` selects hands that have a pair or better together with a flush draw, and sets. A comma means
*or*; ``&`` means *and* and is evaluated first. The names are those of `spewy.game.ranges.hand_kinds` and of `GROUPS`;
blanks, hyphens and capital letters make no difference. ``+`` after a name also selects everything better than it, and
after the name of a group everything better than the group's weakest hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.ranges.hand_kinds import BLOCKERS, DRAWS, MADE, Bools, HandKinds
from spewy.look.node import NodeView

GROUPS: dict[str, tuple[str, ...]] = {
    "pair": MADE[MADE.index("low pair") : MADE.index("two pair")],
    "draw": ("gutshot", "double gutshot", "OESD", "flush draw", "nut flush draw"),
    "straight draw": ("gutshot", "double gutshot", "OESD"),
    "backdoor": ("backdoor straight draw", "backdoor flush draw"),
    "blocker": BLOCKERS,
}
SHORT = {
    "fd": "flush draw",
    "nfd": "nut flush draw",
    "bdfd": "backdoor flush draw",
    "bdsd": "backdoor straight draw",
    "middle pair": "second pair",
    "air": "nothing",
}
"""Short names of made hands and draws."""


def filter_names() -> tuple[str, ...]:
    """Return the names that a filter can have: made hands from the strongest, groups, draws and blockers."""
    return (*reversed(MADE), *GROUPS, *reversed(DRAWS), *BLOCKERS)


def filtered(game: Game, view: NodeView, filters: Sequence[str]) -> NodeView:
    """Return a decision with only those hands that pass all filters.

    Raises:
        InputError: the game is not hold'em, or a filter is invalid.
    """
    if not filters:
        return view
    kinds = view.kinds
    if kinds is None:
        raise InputError(f"filter: expected a hold'em game, found {game.name}")
    return view.only(np.logical_and.reduce([chosen(kinds, text) for text in filters]))


def chosen(kinds: HandKinds, text: str) -> Bools:
    """Whether a filter selects each hand (an array ``[hand]``).

    Raises:
        InputError: the filter has an unknown name, or a plus after a blocker.
    """
    selected = np.zeros(len(kinds.made), dtype=np.bool_)
    for alternative in text.split(","):
        matches = np.ones(len(kinds.made), dtype=np.bool_)
        for name in alternative.split("&"):
            matches &= _having(kinds, name.strip())
        selected |= matches
    return selected


def _having(kinds: HandKinds, text: str) -> Bools:
    names = _named(text.removesuffix("+"))
    better = text.endswith("+")
    selected = np.zeros(len(kinds.made), dtype=np.bool_)
    for all_, having in ((MADE, None), (DRAWS, kinds.draws), (BLOCKERS, kinds.blockers)):
        numbers = [all_.index(name) for name in names if name in all_]
        if not numbers:
            continue
        if better and all_ is BLOCKERS:
            raise InputError(
                f"filter {shown(text)}: expected a + after a made hand or a draw, found a blocker"
            )
        if better:
            numbers = list(range(min(numbers), len(all_)))
        selected |= np.isin(kinds.made, numbers) if having is None else having[:, numbers].any(axis=1)
    return selected


def _named(text: str) -> tuple[str, ...]:
    """Names of the made hands, draws or blockers that a word of a filter stands for."""
    known: dict[str, tuple[str, ...]] = {_plain(name): (name,) for name in (*MADE, *DRAWS, *BLOCKERS)}
    known |= {_plain(name): names for name, names in GROUPS.items()}
    known |= {_plain(name): (meant,) for name, meant in SHORT.items()}
    names = known.get(_plain(text))
    if names is None:
        choices = ", ".join(filter_names())
        near = get_close_matches(_plain(text), known, 1)
        hint = f" (nearest: {_spelled(near[0])})" if near else ""
        raise InputError(f"filter: expected one of {choices}; found {shown(text)}{hint}")
    return names


def _spelled(plain: str) -> str:
    names = (*MADE, *DRAWS, *BLOCKERS, *GROUPS, *SHORT)
    return next(name for name in names if _plain(name) == plain)


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
