"""A spot from a hand that was played: its board, pot, stacks and bets, and ranges that come with Spewy.

The ranges are those of the hand's line before the flop: in heads-up hands those that were solved for the nearest depth
of the stacks, otherwise those of the preset for the same seats and the same number of raises, or the nearest preset.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import Literal

from buckets.cards import Deck, canonical, cards_name, hand_index
from spewy.bot.bet_translation import raise_total
from spewy.errors import InputError, shown
from spewy.game.hand import Hand
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.ranges import parse_range
from spewy.job.shipped import GivenRange, presets, shipped_ranges
from spewy.job.write import FORCE_ALLIN, Answers, job_data, write_job
from spewy.match.acpc_text import LoggedHand, Origin
from spewy.match.table import decisions

STREETS = ROUND_NAMES[1:]
DEPTHS = (10, 20, 50, 100, 200)
"""Depths of the stacks, in big blinds, for which heads-up ranges were solved."""
RAISES = ("limped", "single raised", "3-bet", "4-bet")
_SOLVED = {
    "limped": ("bb-checks", "btn-limps"),
    "limp-raised": ("bb-raises-limp", "btn-limp-calls-raise"),
    "srp": ("bb-calls-raise", "btn-raises"),
    "3bet": ("bb-3bets", "btn-calls-3bet"),
    "4bet": ("bb-calls-4bet", "btn-4bets"),
}
"""Ends of the names of solved ranges, oop first, by the line before the flop."""
_SEATS = ("SB", "BB", "UTG", "HJ", "CO", "BTN")
"""Seats in the order in which they act after the flop."""
_PRESET = re.compile(r"(srp|3bet|4bet)-([a-z]+)-([a-z]+)")
_NEAR = 0.25
"""A usual bet size is left out of a menu if it differs from a played one by at most this share of the larger one."""


@dataclass(frozen=True)
class Ranges:
    """Ranges for a line before the flop.

    Attributes:
        label: short name of the line, such as "hu-100bb-srp" or "srp-btn-bb".
        names: names in `shipped_ranges`, oop first.
        raiser: the seat that raised last before the flop.
        why: how the ranges fit the hand.
    """

    label: str
    names: tuple[str, str]
    raiser: Literal["oop", "ip"] | None
    why: str

    @property
    def given(self) -> tuple[GivenRange, GivenRange]:
        return shipped_ranges()[self.names[0]], shipped_ranges()[self.names[1]]


@dataclass(frozen=True)
class HandSpot:
    """The spot that a hand reaches.

    Attributes:
        answers: the spot as a new job.
        notes: which ranges were taken and why, and what the spot leaves out of the hand.
    """

    answers: Answers
    ranges: Ranges
    notes: tuple[str, ...]


def origin_of(logged: LoggedHand) -> Origin:
    """Return how a hand came to the flop: its recorded origin, or one made from the hand's own betting."""
    origin = logged.origin
    if origin is not None and origin.actions is not None:
        return origin
    positions, actions = ("BB", "BTN"), []
    for public, action in decisions(logged.hand):
        betting, player = public.betting, public.to_act
        assert player is not None
        if betting.round == 0 and (action[0] == "r" or (action == "c" and betting.can_fold)):
            total = raise_total(action, betting) if action[0] == "r" else max(betting.spent)
            kind = "raise" if action[0] == "r" else "call"
            actions.append((positions[player], kind, total / logged.big_blind))
    game = logged.hand.game
    stacks = (0, 0) if game.stacks is None else game.stacks
    extra = (0, 0) if origin is None else origin.extra
    return Origin(positions, min(stacks) / logged.big_blind, tuple(actions), extra)


def ranges_of(origin: Origin) -> Ranges:
    """Choose the shipped ranges that fit a hand's line before the flop best."""
    actions = origin.actions or ()
    raisers = [seat for seat, kind, _ in actions if kind == "raise"]
    n, limped = len(raisers), bool(actions) and actions[0][1] == "call"
    last = raisers[-1] if raisers else None
    raiser: Literal["oop", "ip"] | None = (
        None if last not in origin.positions else "oop" if last == origin.positions[0] else "ip"
    )
    told = f"{origin.positions[1]} against {origin.positions[0]}, {_pot_text(n)} pot"
    if origin.players == 2:
        key = "limped" if n == 0 else "limp-raised" if limped else {1: "srp", 2: "3bet"}.get(n, "4bet")
        return _solved(key, origin.depth, raiser, told, n <= 3 and not (limped and n > 1))
    if n == 0:
        found = _solved("limped", origin.depth, None, told, False)
        # The small blind limps and acts first after the flop; heads-up the button limps and acts last.
        oop, ip = found.names
        return replace(found, names=(ip, oop)) if origin.positions == ("SB", "BB") else found
    return _preset(origin, raisers, raiser, told)


def _pot_text(n: int) -> str:
    return RAISES[n] if n < len(RAISES) else f"{n + 1}-bet"


def _solved(key: str, depth: float, raiser: Literal["oop", "ip"] | None, told: str, exact: bool) -> Ranges:
    """Ranges that were solved for the line ``key``, at the stack depth nearest to ``depth`` big blinds.

    ``told`` names the seats and the kind of pot; ``exact`` says whether the hand's line is ``key``.
    """
    known, (oop, ip) = shipped_ranges(), _SOLVED[key]
    deep = [each for each in DEPTHS if {f"hu-{each}bb-{oop}", f"hu-{each}bb-{ip}"} <= known.keys()]
    near = min(deep, key=lambda each: abs(log(max(depth, 1) / each)))
    names = f"hu-{near}bb-{oop}", f"hu-{near}bb-{ip}"
    fits = "" if exact else "; no shipped range has exactly this line, and these are the nearest"
    why = f"{told}, {depth:.4g} big blinds deep: solved heads-up ranges for {near} big blinds ({oop}, {ip}){fits}"
    return Ranges(f"hu-{near}bb-{key}", names, raiser, why)


def _preset(origin: Origin, raisers: Sequence[str], raiser: Literal["oop", "ip"] | None, told: str) -> Ranges:
    """Ranges of a preset with as many raises as the hand, if possible the same last raiser, and the nearest seats."""
    kind = {1: "srp", 2: "3bet"}.get(len(raisers), "4bet")
    seats = [_seat(name) for name in origin.positions]

    def distance(name: str) -> tuple[bool, int]:
        match = _PRESET.fullmatch(name)
        assert match is not None
        pair = sorted(_SEATS.index(match[i].upper()) for i in (2, 3))
        far = sum(abs(_SEATS.index(seat) - other) for seat, other in zip(seats, pair, strict=True))
        return presets()[name].raiser != raiser, far

    names = [name for name in presets() if (match := _PRESET.fullmatch(name)) and match[1] == kind]
    best = min(names, key=distance)
    other_raiser, far = distance(best)
    exact = not far and not other_raiser and len(raisers) <= 3 and raisers[0] in origin.positions
    depth = f"the preset has 100 big blinds, the hand {origin.depth:.4g}"
    fits = "" if exact else "; no preset has exactly these seats and raises, and this one is the nearest"
    chosen = presets()[best]
    why = f"{told}: ranges of the preset {best} ({depth}){fits}"
    return Ranges(best, chosen.range_names, chosen.raiser if raiser is None else raiser, why)


def _seat(position: str) -> str:
    return "UTG" if position.startswith("UTG") else position


def spot_of_hand(logged: LoggedHand, street: str = "flop") -> HandSpot:
    """Make the spot at the start of a street of a hand; the hand's own bets come first among the bet sizes.

    Raises:
        InputError: the hand has no decision on the street, or is no hand of no-limit hold'em.
    """
    hand = logged.hand
    game, round_ = hand.game, ROUND_NAMES.index(street)
    if game.limit or not game.is_holdem or game.stacks is None:
        raise InputError(
            f"hand {logged.number}: expected no-limit hold'em with stacks, found {shown(game.name)}"
        )
    start = next((public for public, _ in decisions(hand) if public.betting.round == round_), None)
    if start is None:
        raise InputError(f"hand {logged.number} has no decision on the {street}; choose an earlier street")
    origin, board = origin_of(logged), game.board_order(start.board)
    ranges = ranges_of(origin)
    notes = [f"ranges: {ranges.why}"]
    if round_ > 1:
        notes.append(
            f"the ranges are those before the flop: the play before the {street} does not narrow them"
        )
    half, bb = max(start.betting.spent), logged.big_blind
    pot, pot_note = _big_blinds(Fraction(2 * half, bb), "pot")
    stack, stack_note = _big_blinds(Fraction(min(game.stacks) - half, bb), "stack")
    given = list(ranges.given)
    for player, cards in enumerate(hand.hole):
        if cards is not None and not parse_range(given[player].text).weights[int(hand_index(Deck(), cards))]:
            name = cards_name(cards)
            notes.append(f"{name} is not in the range of {SEAT_NAMES[player]}; the spot has it in addition")
            given[player] = replace(given[player], text=f"{given[player].text}\n{name}")
    seats = f"{origin.positions[1]} against {origin.positions[0]}"
    answers = Answers(
        f"hand-{logged.number}-{cards_name(board)}",
        f"hand {logged.number}: {seats}, {_pot_text(_raises(origin))} pot, {origin.depth:.4g} big blinds deep",
        board,
        None,
        pot,
        stack,
        (given[0], given[1]),
        ranges.raiser == "ip" and round_ == 1,
    )
    notes += filter(None, (pot_note, stack_note))
    raiser = None if ranges.raiser is None else SEAT_NAMES.index(ranges.raiser)
    return HandSpot(_with_sizes(answers, hand, round_, raiser), ranges, tuple(notes))


def _raises(origin: Origin) -> int:
    return sum(kind == "raise" for _, kind, _ in origin.actions or ())


def _big_blinds(amount: Fraction, what: str) -> tuple[float, str]:
    """Round an amount in big blinds to hundredths; the second value is a note if the amount changes, else empty."""
    rounded = round(100 * amount)
    note = (
        ""
        if Fraction(rounded, 100) == amount
        else f"{what} {float(amount):.5g} is rounded to {rounded / 100:g} big blinds"
    )
    return rounded / 100, note


def _with_sizes(answers: Answers, hand: Hand, first: int, raiser: int | None) -> Answers:
    """Put the bets of a hand first among the bet sizes of a spot that begins in round ``first``.

    Args:
        raiser: the player who raised last before the flop.
    """
    menus: dict[str, list[str]] = {}
    overrides = []
    for key, size in _played_sizes(hand, first, raiser):
        if key == f"{ROUND_NAMES[first]}.donk":
            key = f"{ROUND_NAMES[first]}.bet"
            if answers.caller_checks:
                overrides.append(f"bets.{ROUND_NAMES[first]}.oop.bet={size}")
                continue
        menu = menus.setdefault(key, [])
        if size not in menu:
            menu.append(size)
    if _leaves_little(hand, first):
        overrides.append(
            "tree.force_allin=0"
        )  # else the tree would have an all-in in place of the played bet
    usual = job_data(answers)["bets"]
    sizes = {}
    for key, menu in menus.items():
        round_, _, kind = key.partition(".")
        texts = [each.strip() for each in usual[round_].get(kind, "").split(",") if each.strip()]
        sizes[key] = ", ".join(
            [*menu, *(each for each in texts if not any(_is_near(each, played) for played in menu))]
        )
    return replace(answers, sizes=sizes, overrides=tuple(overrides))


def _leaves_little(hand: Hand, first: int) -> bool:
    """Whether a bet from round ``first`` on leaves so few chips that the tree of a usual job would make it all-in."""
    assert hand.game.stacks is not None
    effective = min(hand.game.stacks)
    return any(
        public.betting.round >= first
        and action[0] == "r"
        and 0 < effective - (total := raise_total(action, public.betting)) <= FORCE_ALLIN * 2 * total
        for public, action in decisions(hand)
    )


def _is_near(usual: str, played: str) -> bool:
    if not (usual.endswith("%") and played.endswith("%")):
        return usual == played
    a, b = float(usual[:-1]), float(played[:-1])
    return abs(a - b) <= _NEAR * max(a, b)


def _played_sizes(hand: Hand, first: int, raiser: int | None) -> Iterator[tuple[str, str]]:
    """Yield the bets and raises of a hand from a round on: the key of its sizes, such as ``flop.bet``, and the size."""
    assert hand.game.stacks is not None
    effective, round_, aggressor, last = min(hand.game.stacks), 0, raiser, raiser
    for public, action in decisions(hand):
        betting = public.betting
        if betting.round != round_:
            round_, last, aggressor = betting.round, aggressor, None
        if action[0] != "r":
            continue
        player, highest = public.to_act, max(betting.spent)
        total, is_raise = min(raise_total(action, betting), effective), bool(betting.num_raises)
        aggressor = player
        if round_ < first or highest >= effective:
            continue
        share = Fraction(100 * (total - highest), 2 * highest)
        kind = "raise" if is_raise else "donk" if player == 0 and last == 1 else "bet"
        yield f"{ROUND_NAMES[round_]}.{kind}", "a" if total == effective else f"{_rounded(share)}%"


def _rounded(share: Fraction) -> str:
    return f"{float(share):.1f}".removesuffix(".0")


@dataclass(frozen=True)
class Missing:
    """A job whose spots, which differ in the board only, would cover hands that no solved spot covers yet.

    Attributes:
        name: name of the job.
        about: the seats, the kind of pot, and the ratio of stack to pot.
        boards: flops, the most frequent first.
        hands: numbers of the hands that the spots would cover.
        text: the job file.
    """

    name: str
    about: str
    boards: tuple[str, ...]
    hands: tuple[int, ...]
    text: str


def missing_spots(hands: Iterable[LoggedHand], tolerance: float) -> list[Missing]:
    """Group hands by the spots that a review would compare them with; the group with the most hands comes first.

    The hands of a group have the same shipped ranges, and their ratios of stack to pot are within ``tolerance`` of the
    group's ratio. Hands without a decision on the flop are left out.
    """
    groups: dict[tuple[str, str], list[tuple[float, LoggedHand, HandSpot]]] = {}
    for logged in hands:
        try:
            spot = spot_of_hand(logged)
        except InputError:
            continue
        ratio = spot.answers.stack / spot.answers.pot
        groups.setdefault(spot.ranges.names, []).append((ratio, logged, spot))
    found = [each for group in groups.values() for each in _by_ratio(group, tolerance)]
    found.sort(key=lambda each: -len(each))
    names = dict[str, int]()
    return [_missing(each, names) for each in found]


_Group = Sequence[tuple[float, LoggedHand, HandSpot]]


def _by_ratio(group: _Group, tolerance: float) -> Iterator[_Group]:
    """Split hands into as few groups as possible, whose ratios differ from a middle ratio by at most ``tolerance``."""
    left = sorted(group, key=lambda each: each[0])
    widest = (1 + 0.9 * tolerance) / (1 - 0.9 * tolerance)  # pots and stacks are rounded
    while left:
        size = sum(ratio <= left[0][0] * widest for ratio, *_ in left)
        yield left[:size]
        left = left[size:]


def _missing(group: _Group, names: dict[str, int]) -> Missing:
    spot = group[len(group) // 2][2]
    ratio = (group[0][0] + group[-1][0]) / 2
    counts: dict[tuple[int, ...], list[str]] = {}
    for _, logged, _ in group:
        flop = logged.hand.game.board_order(logged.hand.board[:3])
        key = canonical((flop,), Deck())[0][0]
        counts.setdefault(key, []).append(" ".join(cards_name([card]) for card in flop))
    boards = tuple(names_[0] for names_ in sorted(counts.values(), key=len, reverse=True))
    label = spot.ranges.label
    names[label] = names.get(label, 0) + 1
    name = label if names[label] == 1 else f"{label}-{names[label]}"
    answers = replace(
        spot.answers,
        name=name,
        stack=round(spot.answers.pot * ratio, 2),
        ranges=spot.ranges.given,
        sizes={},
        overrides=(),
    )
    about = f"{answers.about.partition(': ')[2].rpartition(',')[0]}, stack to pot {ratio:.3g}"
    data = job_data(answers)
    if len(boards) > 1:
        data["spot"] = {"boards": list(boards)} | {
            key: value for key, value in data["spot"].items() if key != "board"
        }
        data["solve"]["workers"] = 1  # one thread for each flop is fastest if there are many flops
        data["save"] = {"rounds": "flop"}
    header = (
        f"Spots that judge {len(group)} hands: {about}.",
        "Written by spewy review. Bet sizes are usual ones; a review takes each bet as the nearest of them.",
    )
    comments = {f"spot.{seat}": given.about for seat, given in zip(SEAT_NAMES, answers.ranges, strict=True)}
    numbers = tuple(logged.number for _, logged, _ in group)
    return Missing(name, about, boards, numbers, write_job(data, header, comments))


def hand_numbered(hands: Sequence[LoggedHand], number: int | None, subject: str) -> LoggedHand:
    """Return the hand with ``number`` in the file, or else the ``number``-th hand; None: the only hand of the file."""
    if not hands:
        raise InputError(f"{subject}: expected a hand that two players play after the flop, found none")
    if number is None:
        if len(hands) == 1:
            return hands[0]
        raise InputError(f"{subject} has {len(hands):,} hands; choose one with --hand N (--list lists them)")
    named = next((each for each in hands if each.number == number), None)
    if named is None and not 1 <= number <= len(hands):
        raise InputError(f"{subject} has no hand {number}; it has {hands[0].number} to {hands[-1].number}")
    return named or hands[number - 1]


def hand_line(logged: LoggedHand) -> str:
    """Describe a hand: players with seats and cards, the board, and the betting."""
    hand, positions = logged.hand, ("BB", "BTN") if logged.origin is None else logged.origin.positions
    players = ", ".join(
        f"{name} ({seat}) {'?' if hole is None else cards_name(hole)}"
        for name, seat, hole in zip(logged.names, positions, hand.hole, strict=True)
    )
    return f"{players}; {cards_name(hand.game.board_order(hand.board)) or 'no flop'}; {hand.betting.line}"
