"""Spots as JSON of WASM Postflop and Desktop Postflop: a spot, a configuration of a tree, or a file of configurations.

The rules of their trees are those of `spewy.game.sizes`. Lines that were added or removed in their tree editor, and
sizes such as ``100c3r`` (a raise by 100 chips, after at most 3 bets and raises), become lines of the job's tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from buckets.cards import card_name
from spewy.bridges.bets import Rule, bets_of, same_bets
from spewy.bridges.described import ROUNDS, UNCOMPARED, Described, full_ranges, number, plain
from spewy.errors import InputError, short, shown
from spewy.game.betting import Betting
from spewy.game.names import SEAT_NAMES
from spewy.game.sizes import Size, parse_sizes
from spewy.game.treeconfig import PlayerSizes, TreeConfig, raise_totals
from spewy.job.job import Job, SpotJob
from spewy.system.textfile import MOST_NESTED, nested_deeper

NAME = "WASM Postflop"
_BOX = re.compile(r"(oop|ip)(Flop|Turn|River)(Bet|Raise|Donk)")
_AMOUNTS = {"startingPot": "pot", "effectiveStack": "stack", "rakeCap": "cap"}
_THRESHOLDS = {
    "addAllInThreshold": "add_allin",
    "forceAllInThreshold": "force_allin",
    "mergingThreshold": "merge",
}
_RANGES = {"oopRange": "oop", "ipRange": "ip"}
_CAPPED = re.compile(r"(\d+c)(\d+)r")


def recognises(text: str) -> bool:
    return text.lstrip().startswith("{")


def read(text: str) -> Described:
    """Read a spot; the first configuration counts in a file of several.

    Raises:
        InputError: the text is not JSON, or JSON of another kind.
    """
    spot = Described(NAME)
    found = _parsed(text)
    config, ranges = _parts(spot, text, found)
    caps: dict[str, dict[str, int]] = {}
    edits: dict[str, str] = {}
    for key, value in {**ranges, **config}.items():
        line = _line_of(text, key)
        spot.trying(
            line, partial(_key, spot, caps, edits, line, _known(key), value, bool(config.get("donkOption")))
        )
    spot.donks = bool(config.get("donkOption"))
    if spot.rate and spot.amounts.get("cap") == 0:
        spot.note(
            _line_of(text, "rakeCap"), "a cap of 0 chips takes no rake; remove spot.rake.cap for no limit"
        )
    if not spot.rate:
        spot.amounts.pop("cap", None)
    if edits or caps:
        spot.rule = lambda config: _edited(spot, config, edits, caps)
    return spot


def _parsed(text: str) -> Any:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno}, column {error.colno}: expected JSON, found: {error.msg}"
        ) from None
    except (ValueError, RecursionError):
        raise InputError("expected JSON with a few levels and usual numbers, found other JSON") from None
    if nested_deeper(found, MOST_NESTED):
        raise InputError(f"expected at most {MOST_NESTED} nested objects and lists of JSON")
    return found


def _parts(spot: Described, text: str, found: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the objects with the tree's configuration and with the ranges in the JSON ``found``."""
    if isinstance(found, dict) and isinstance(found.get("data"), list):
        if found.get("name") != "configurations":
            raise InputError(f"expected a file of configurations, found one of {shown(found.get('name'))}")
        items = [
            item for item in found["data"] if isinstance(item, dict) and isinstance(item.get("value"), dict)
        ]
        if not items:
            raise InputError("expected a configuration in the list data, found none")
        for item in items[1:]:
            name = "/".join(map(str, item.get("path") or ()))
            spot.note(
                _line_of(text, name), f"the file's first configuration counts; {short(name)} is left out"
            )
        return items[0]["value"], {}
    if not isinstance(found, dict):
        raise InputError(f"expected an object of JSON, found {shown(found)}")
    if "childrens" in found:
        raise InputError(
            "expected a spot, found a solve of TexasSolver; `spewy compare FOLDER FILE` reads it"
        )
    config = found.get("config", found)
    if not isinstance(config, dict) or "startingPot" not in config:
        raise InputError(f"expected a configuration of {NAME} with startingPot, found other JSON")
    return config, {key: found[key] for key in found if key != "config"} if config is not found else {}


def _line_of(text: str, key: str) -> int:
    at = text.find(json.dumps(key))
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def _known(key: str) -> str:
    """Return the usual spelling of a key; versions differ in ``Allin`` and ``AllIn``."""
    spellings = {known.lower(): known for known in (*_AMOUNTS, *_THRESHOLDS, *_RANGES)}
    return spellings.get(key.lower(), key)


def _key(
    spot: Described,
    caps: dict[str, dict[str, int]],
    edits: dict[str, str],
    line: int,
    key: str,
    value: Any,
    donks: bool,
) -> None:
    if key in _AMOUNTS:
        spot.set_amount(line, key, _AMOUNTS[key], _number(key, value))
    elif key in _THRESHOLDS:
        share = float(_number(key, value)) / 100
        if share:
            spot.tree[_THRESHOLDS[key]] = round(share, 9)
    elif key == "rakePercent":
        spot.rate = round(float(_number(key, value)) / 100, 9)
    elif key == "board":
        cards = value if isinstance(value, list) else [value]
        spot.set_board(line, key, " ".join(map(_card, cards)))
    elif key in _RANGES:
        spot.set_range(line, key, _RANGES[key], _text(key, value))
    elif box := _BOX.fullmatch(key):
        seat, name, kind = box[1], box[2].lower(), box[3].lower()
        if kind == "donk" and not donks:
            return
        text = _text(key, value)
        for size, most in _CAPPED.findall(text):
            caps.setdefault(f"{name} {seat}", {})[size] = int(most)
        text = _CAPPED.sub(r"\1", text)
        spot.set_sizes(line, key, (name, seat, kind), spot.sizes_in(line, key, text, raises=kind == "raise"))
    elif key in ("addedLines", "removedLines"):
        if _text(key, value):
            edits[key] = _text(key, value)
    elif key not in ("donkOption", "expectedBoardLength"):
        spot.note(line, f"{short(key)} has no counterpart; left out")


def _number(key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**12:
        raise InputError(f"{key}: expected a number of at least 0, found {shown(value)}")
    return plain(float(value))


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{key}: expected a text, found {shown(value)}")
    return value.strip()


def _card(value: Any) -> str:
    """Return a card's name; some versions write the number of a card, from 0 (2c) and 1 (2d) to 51 (As)."""
    if isinstance(value, int) and 0 <= value < 52:
        return card_name(value)
    return value if isinstance(value, str) else shown(value)


def _edited(
    spot: Described, config: TreeConfig, edits: dict[str, str], caps: dict[str, dict[str, int]]
) -> Rule:
    """Return a rule for bets: sizes of ``config``, bets that ``edits`` add or remove, and limits ``caps`` of raises."""
    added: dict[str, set[int]] = {}
    removed: dict[str, set[int]] = {}
    for key, bets in (("addedLines", added), ("removedLines", removed)):
        for text in filter(None, edits.get(key, "").split(",")):
            try:
                line, total = _edit(config, text.strip())
            except InputError as error:
                spot.note(0, f"{key}, {shown(text)}: {error}; left out")
                continue
            bets.setdefault(line, set()).add(total)
    variants = _variants(config, caps)

    def totals(state: Betting, before: int, donk: bool) -> tuple[int, ...]:
        sized = variants[min(state.num_raises, len(variants) - 1)]
        bets = set(raise_totals(sized, state, before, donk))
        bets |= added.get(state.line, set())
        return tuple(sorted(bets - removed.get(state.line, set())))

    return totals


def _edit(config: TreeConfig, text: str) -> tuple[str, int]:
    """Read a line of the tree editor, such as ``X-B50-C|B100``, whose last action is a bet.

    Returns:
        the line before the bet as an ACPC betting string, and the bet as a total in chips since the root.
    """
    state, before = config.start(), 0
    *actions, last = re.split(r"[-|]", text)
    if not re.fullmatch(r"[BRA]\d{1,9}", last):
        raise InputError(f"a tree here always has checks, calls and folds; found {shown(last)}")
    for action in actions:
        if action in ("X", "C"):
            after = state.called()
            before = after.spent[0] if after.round != state.round else before
            state = after
        elif re.fullmatch(r"[BRA]\d{1,9}", action):
            state = state.apply(f"r{before + int(action[1:])}")
        else:
            raise InputError(f"expected X, C, or a bet such as B50, found {shown(action)}")
    total = before + int(last[1:])
    state.apply(f"r{total}")  # raises an error unless the bet is legal
    return state.line, total


def _variants(config: TreeConfig, caps: dict[str, dict[str, int]]) -> list[TreeConfig]:
    """Return a configuration for each number n of earlier bets and raises in the round: 0, 1, 2, and so on.

    Entry n lacks the raise sizes whose limit in ``caps`` is below n. The last entry is for all larger n, too.
    """
    names = config.game.round_names[config.start_round :]
    most = max((cap for sizes in caps.values() for cap in sizes.values()), default=-1)

    def left(name: str, seat: str, own: PlayerSizes, raises: int) -> PlayerSizes:
        limits = {parse_sizes(size)[0]: cap for size, cap in caps.get(f"{name} {seat}", {}).items()}
        return replace(own, raises=tuple(size for size in own.raises if raises <= limits.get(size, raises)))

    return [
        replace(
            config,
            sizes=tuple(
                (left(name, "oop", oop, raises), left(name, "ip", ip, raises))
                for name, (oop, ip) in zip(names, config.sizes, strict=True)
            ),
        )
        for raises in range(most + 2)
    ]


def write(job: SpotJob) -> tuple[str, list[str]]:
    """Write a spot as JSON that Desktop Postflop imports; its object ``config`` has the form of WASM Postflop.

    A tree that the programs' bet sizes cannot express is listed in ``addedLines``.

    Returns:
        the text, and notes on what it does not say.
    """
    config, notes = job.tree_config, [f"lock {n}: {NAME} reads no locks" for n, _ in enumerate(job.lock, 1)]
    text = _json(job, _boxes(config))
    same = same_bets(config, Job.of(read(text).job_data(NAME)).tree_config)
    if same is None:
        notes.append(UNCOMPARED)
    elif config.lines or not same:
        notes.append(f"no bet sizes of {NAME} say this tree; addedLines lists its bets")
        added = sorted(
            (f"{line}r{total}" for line, totals in bets_of(config).items() for total in totals),
            key=lambda line: len(re.findall(r"c|r\d+", line)),
        )
        lines = ",".join(_encoded(config, line) for line in added)
        text = _json(job, {"expectedBoardLength": len(job.board), "addedLines": lines})
    return text, notes


def _json(job: SpotJob, changes: Mapping[str, Any]) -> str:
    """Write a spot as JSON, whose object ``config`` has the values ``changes``; all other bet sizes are empty."""
    config = job.tree_config
    values: dict[str, Any] = {
        "board": [card_name(card) for card in job.board],
        "startingPot": config.pot,
        "effectiveStack": config.stack,
        "rakePercent": _percent(config.rake.rate),
        "rakeCap": _most_raked(config),
        "donkOption": False,
    }
    for seat in SEAT_NAMES:
        for name in ROUNDS:
            donk = ("Donk",) if seat == "oop" and name != "flop" else ()
            values |= {f"{seat}{name.title()}{kind}": "" for kind in ("Bet", "Raise", *donk)}
    values |= dict.fromkeys(_THRESHOLDS, 0)
    values |= {"expectedBoardLength": 0, "addedLines": "", "removedLines": ""}
    ranges = {f"{seat}Range": text for seat, text in full_ranges(job).items()}
    return json.dumps({**ranges, "config": {**values, **changes}}, indent=2) + "\n"


def _boxes(config: TreeConfig) -> dict[str, Any]:
    """Return bet sizes and thresholds by their keys in the JSON; sizes that the program lacks are left out."""
    donks = any(own.donk is not None for players in config.sizes for own in players)
    boxes: dict[str, Any] = {"donkOption": donks}
    for r, players in enumerate(config.sizes):
        name = config.game.round_names[config.start_round + r].title()
        for seat, own in zip(SEAT_NAMES, players, strict=True):
            kinds = {"Bet": own.bet, "Raise": own.raises}
            if seat == "oop" and r and donks:
                kinds["Donk"] = own.bet if own.donk is None else own.donk
            for kind, sizes in kinds.items():
                known = [size for size in sizes if size.kind != "steps" and not _limited(size)]
                boxes[f"{seat}{name}{kind}"] = ", ".join(str(size).removesuffix("%") for size in known)
    return boxes | {key: _percent(getattr(config, name)) for key, name in _THRESHOLDS.items()}


def _limited(size: Size) -> bool:
    return size.kind == "allin" and size.value > 0


def _encoded(config: TreeConfig, line: str) -> str:
    """Write an ACPC betting string as a line of the tree editor, such as ``X-B50-C|B100``."""
    state, before, text = config.start(), 0, ""
    for action in re.findall(r"c|r\d+", line):
        faced = max(state.spent) > before
        if action == "c":
            after, word = state.called(), "C" if faced else "X"
        else:
            total = int(action[1:])
            kind = "A" if total == config.stack else "R" if faced else "B"
            after, word = state.raised(total), f"{kind}{total - before}"
        text += word + ("|" if after.round != state.round else "-")
        before = after.spent[0] if after.round != state.round else before
        state = after
    return text[:-1]


def _percent(share: float) -> float:
    return number(Decimal(repr(round(100 * share, 9))))


def _most_raked(config: TreeConfig) -> float:
    """Return the cap of the rake; without a cap, the largest pot."""
    if not config.rake.rate:
        return 0
    return config.pot + 2 * (config.stack or 0) if config.rake.cap is None else config.rake.cap
