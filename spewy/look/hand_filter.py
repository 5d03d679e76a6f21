"""Filters that select hands by their kinds (made hands, draws and blockers) or by their cards.

``pair+&flushdraw, set`` selects hands that have a pair or better together with a flush draw, and sets. A comma means
*or*; ``&`` means *and* and is evaluated first. The names of kinds are those of `spewy.game.ranges.hand_kinds` and of
`GROUPS`; blanks, hyphens and capital letters make no difference. ``+`` after a name also selects everything better than
it, and after the name of a group everything better than the group's weakest hand. Names of hands by their cards are
``AhKh``, ``AK``, ``AKs``, ``Axs``, ``QQ+``, ``Ah`` and ``hh``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from buckets.cards import RANKS, SUITS, Deck, hand_index, hands, parse_card, parse_hand
from buckets.types import Ints
from spewy.errors import InputError, nearest, shown
from spewy.game.gamefile import Game
from spewy.game.ranges.hand_kinds import BLOCKERS, DRAWS, MADE, Bools, HandKinds
from spewy.game.ranges.range import NUM_HANDS
from spewy.game.ranges.text import group_hands
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
EXAMPLES = "AhKh, AK, AKs, Axs, QQ+, Ah, hh"
"""Texts that name hands by their cards, for messages."""
_ANY_RANK = re.compile(f"(?:([{RANKS}])x|x([{RANKS}]))([so]?)", re.IGNORECASE)
_CARD = re.compile(f"[{RANKS}][{SUITS}]", re.IGNORECASE)
_SUITS = re.compile(f"[{SUITS}]{{1,2}}", re.IGNORECASE)


def filter_names() -> tuple[str, ...]:
    """Return the names that a filter can have: made hands from the strongest, groups, draws and blockers."""
    return (*reversed(MADE), *GROUPS, *reversed(DRAWS), *BLOCKERS)


def filtered(game: Game, view: NodeView, filters: Sequence[str]) -> NodeView:
    """Return a player's hands at a decision that pass all filters."""
    if not filters:
        return view
    kinds = view.kinds
    if kinds is None:
        raise InputError(f"filter: expected a hold'em game, found {game.name}")
    numbers = hand_index(Deck(), np.array([parse_hand(name) for name in view.hands]).reshape(-1, 2))
    return view.only(np.logical_and.reduce([chosen(kinds, numbers, text) for text in filters]))


def chosen(kinds: HandKinds, numbers: Ints, text: str) -> Bools:
    """Find the hands that a filter selects: an array ``[hand]``, True for selected hands.

    ``numbers``, ``[hand]``, are the hands' indices among all hands of hold'em.
    """
    selected = np.zeros(len(kinds.made), dtype=np.bool_)
    for alternative in text.split(","):
        matches = np.ones(len(kinds.made), dtype=np.bool_)
        for name in alternative.split("&"):
            by_cards = named_hands(name.strip())
            matches &= _having(kinds, name.strip()) if by_cards is None else by_cards[numbers]
        selected |= matches
    return selected


def _having(kinds: HandKinds, text: str) -> Bools:
    """Find the hands ``[hand]`` of the kind that a word of a filter names, such as ``set`` or ``pair+``."""
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
    """Return the names of the made hands, draws or blockers that a word of a filter stands for."""
    known: dict[str, tuple[str, ...]] = {_plain(name): (name,) for name in (*MADE, *DRAWS, *BLOCKERS)}
    known |= {_plain(name): names for name, names in GROUPS.items()}
    known |= {_plain(name): (meant,) for name, meant in SHORT.items()}
    names = known.get(_plain(text))
    if names is None:
        spelled = {_plain(name): name for name in (*MADE, *DRAWS, *BLOCKERS, *GROUPS, *SHORT)}
        hint = nearest(_plain(text), spelled)
        raise InputError(
            f"filter: expected hands, such as {EXAMPLES}, or a kind of hand, such as set, pair+ or flush draw; "
            f"found {shown(text)}{hint}"
        )
    return names


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def named_hands(text: str) -> Bools | None:
    """Find the hold'em hands that a text names by their cards.

    ``x`` in ``Axs`` is every rank but the ace. ``Ah`` names the hands with this card, ``hh`` the hands with two hearts,
    ``hd`` those with a heart and a diamond, and ``h`` those with a heart. Other texts, such as ``QQ+``, are read as in
    the text of a range.

    Returns:
        An array ``[hand of the deck]``, True for the named hands; None if the text names no hands.

    >>> [int(named_hands(text).sum()) for text in ("AhKh", "AK", "Axs", "QQ+", "Ah", "hh", "hd")]
    [1, 16, 48, 18, 51, 78, 169]
    """
    every = hands(Deck(), 2)
    ranks, suits = every >> 2, every & 3
    if match := _ANY_RANK.fullmatch(text):
        having = (ranks == RANKS.index((match[1] or match[2]).upper())).sum(axis=1) == 1
        suited = suits[:, 0] == suits[:, 1]
        return np.asarray(having & (suited if match[3].lower() == "s" else ~suited if match[3] else True))
    if _CARD.fullmatch(text):
        return np.asarray((every == parse_card(text)).any(axis=1))
    if _SUITS.fullmatch(text):
        wanted = sorted(SUITS.index(suit) for suit in text.lower())
        if len(wanted) == 1:
            return np.asarray((suits == wanted[0]).any(axis=1))
        return np.asarray((np.sort(suits, axis=1) == wanted).all(axis=1))
    selected = np.zeros(NUM_HANDS, dtype=np.bool_)
    try:
        selected[[hand for hand, _ in group_hands(text)]] = True
    except ValueError:
        return None
    return selected
