"""Jobs that may be wrong, made from right ones: keys, values, types and texts changed."""

import math
from collections.abc import Iterator
from random import Random
from typing import Any

from solvers import VARIANTS

from .spots import CLUSTERINGS, Data
from .text import ODD_INTEGERS, ODD_NUMBERS, ODD_REALS, ODD_TEXTS, TOKENS, argument, odd_text, some_text
from .toml import toml

KINDS = {
    **{name: name for name in ("board", "line", "target", "memory")},
    **dict.fromkeys(("oop", "ip"), "range"),
    **dict.fromkeys(("bet", "raise", "donk"), "sizes"),
}
"""Kinds of tokens by the names of keys."""
GAMES = (
    *("kuhn", "leduc", "rhode-island", "doyle", "upac", "holdem.limit.2p.reverse_blinds", "nothing"),
    "a.game",
)
FREQUENCIES = (
    *([0.5, 0.5], [1.0, 0.0], {"check": 1}, {"check": 0.3, "bet 50": 0.7}, {"fold": 1.0}),
    *([], [2, -1], 0.5),
)
ROWS = ("hands", 1, 2, 5, 40, 169, 2000, 0, "buckets")
BOARDS = ("all", 1, 2, 3, 60, 1755, 1756, 10**9, 10**30, 0, -1, "some", True, 1.5)
TIMES = ("0.2 s", "1e-9 s", "1e300 h", "8 h", "0 s", "-1 s", "8", "nan s", "")
CATALOGUE: dict[str, tuple[Any, ...]] = {
    "name": ("odd", "a/b", "..", "con", "n" * 255, "\u202e", " "),
    "game.file": GAMES,
    "game.text": ("GAMEDEF", "GAMEDEF\nlimit\nEND GAMEDEF"),
    "spot.pot": (1, 3, 100, 10**9),
    "spot.stack": (1, 3, 100, 10**9),
    "spot.boards": (["Ks 9d 6h 3c 2s"], ["Ks 9d 6h 3c 2s", "Kd 9s 6h 3c 2d"], [], "Ks", [1]),
    "spot.rake": (
        *({"rate": 0.05}, {"rate": 1, "cap": 0}, {"rate": 0.1, "cap": 1e-9}, {"cap": 3}, {"rate": -0.0}),
        0.05,
    ),
    **{f"bets.{name}.bet": TOKENS["sizes"] for name in ("preflop", "flop", "turn", "river")},
    **{f"bets.river.{key}": TOKENS["sizes"] for key in ("raise", "donk")},
    "bets.river.ip": ({"bet": "50%"}, {"raise": "2x", "donk": "50%"}, {}, "50%"),
    "bets.turn.oop": ({"bet": "a"}, {"donk": "50%"}),
    "tree.add_allin": (0, 1.5, 1e308),
    "tree.force_allin": (0.15, 1e308),
    "tree.merge": (0.1, 1, 1e308),
    "tree.min_bet": (1, 2, 50, 10**9),
    **{f"rows.{name}": ROWS for name in ("flop", "turn", "river", "preflop")},
    **{f"boards.{name}": BOARDS for name in ("flop", "turn", "river")},
    "boards": ({}, "all", []),
    "rows.clustering": CLUSTERINGS,
    "rows.weights": ("uniform", "ranges"),
    "solve.method": ("cfr", "lp", "mccfr"),
    "solve.variant": (*VARIANTS, "cfr++"),
    "solve.integrate": ("regret", "average", ""),
    "solve.order": ("top-down", "bottom-up"),
    "solve.leaves": ("auto", "stored", "live", "dead"),
    "solve.target": TOKENS["target"],
    "solve.max_sweeps": (1, 2, 10, 2**40),
    "solve.check_every": (1, 3, 2**40, "0.1 s", "1e-300 s"),
    "solve.check_flops": (1, 3, 0, 2**70),
    "solve.max_time": TIMES,
    "solve.seed": (0, 7, 2**63 - 1, 2**63, -1),
    "solve.coarse_to_fine": (True, False, 1),
    "solve.cfr_br": (0, 0.25, 1, 1.5, -0.1, "half"),
    "solve.iterations": (1, 3, 10_000, 10_001),
    "solve.tremble": (0.001, 0.5, 1e-300, 1, 0),
    "solve.symmetry": (True, False, "yes", 1),
    "solve.precision": ("auto", "16-bit", "single", "double", "half"),
    "solve.workers": (1, 2, 3, 0, 2**40),
    "solve.memory": TOKENS["memory"],
    "lock": (
        *([{"line": "", "strategy": f}] for f in FREQUENCIES),
        *([{"line": "c", "hands": {"AA": f, "random": f}}] for f in FREQUENCIES),
        [{"line": "", "strategy": [1, 0]}, {"line": "", "strategy": [1, 0]}],
        [{"line": "cc/", "board": "Ks 9d 6h 3c 2s", "strategy": {"check": 1}}],
        [{"line": "c"}],
        [],
        {},
    ),
    "unit": ("bb", "chips", "mbb", 1),
    "spot.oop": ({"file": "none.txt"}, {"file": "job.toml"}, {"file": 1}, {}, "@job.toml"),
    "unknown": (1,),
    "solve.unknown": ({},),
}


def odd_job(rng: Random, data: Data) -> bytes:
    """The job file of a job that is changed in one to three places."""
    data = _copied(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(_CHANGES)(rng, data)
    text = toml(data)
    if rng.random() < 0.12:
        text = odd_text(rng, text)
    found = text.encode(errors="surrogatepass")
    if rng.random() < 0.03:
        place = rng.randint(0, len(found))
        odd = rng.choice((b"\xff", b"\0", b"\xef\xbb\xbf", b"\r", b"\xed\xa0\x80"))
        found = found[:place] + odd + found[place:]
    return found


def override(rng: Random) -> str:
    """The text of ``--set``, as a command line can hold it."""
    key = rng.choice(tuple(CATALOGUE))
    text = f"{key}={_text_of(rng.choice(CATALOGUE[key]))}"
    odd = odd_text(rng, text, KINDS.get(key.rpartition(".")[2], "any")) if rng.random() < 0.5 else text
    return argument(odd)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else toml({"v": value})[4:].strip()


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key in it."""
    inside = list(data.items()) if isinstance(data, dict) else list(enumerate(data))
    for key, value in inside:
        yield data, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _place(rng: Random, data: Data, *kinds: type) -> tuple[Any, Any] | None:
    found = [(where, key) for where, key in _places(data) if isinstance(where[key], kinds)]
    return rng.choice(found) if found else None


def change_value(rng: Random, data: Data) -> None:
    """Another value, of its type or not."""
    where, key = rng.choice(list(_places(data)))
    old = where[key]
    same: Any = ODD_TEXTS
    if isinstance(old, bool | int | float):
        same = ODD_INTEGERS if isinstance(old, int) else ODD_REALS
    if rng.random() < 0.5:
        where[key] = rng.choice(same)
        return
    numeric = isinstance(old, int) or (isinstance(old, float) and math.isfinite(old))
    others = [str(old), [old], {"x": old}, [], {}, True, *rng.choices(ODD_NUMBERS, k=2)]
    where[key] = rng.choice([*others, -old] if numeric else others)


def _text(rng: Random, data: Data) -> None:
    """A text changed by what it is about, or made anew."""
    place = _place(rng, data, str)
    if place is None:
        return
    where, key = place
    kind = KINDS.get(str(key), "any")
    if rng.random() < 0.3 and kind != "any":
        where[key] = some_text(rng, kind, between=" " if kind == "board" else "" if kind == "line" else ",")
    else:
        where[key] = odd_text(rng, where[key], kind)


def _known(rng: Random, data: Data) -> None:
    """A key that there is, with a value that may go with the others."""
    path = rng.choice(tuple(CATALOGUE))
    *sections, key = path.split(".")
    inner: Any = data
    for section in sections:
        inner = inner.setdefault(section, {}) if isinstance(inner, dict) else None
    if isinstance(inner, dict):
        inner[key] = _copied(rng.choice(CATALOGUE[path]))


def _key(rng: Random, data: Data) -> None:
    """A key that goes, or has another name."""
    place = _place(rng, data, object)
    if place is None:
        return
    where, key = place
    old = where.pop(key)
    if isinstance(where, dict) and rng.random() < 0.5:
        upper = key.upper() if isinstance(key, str) else "y"
        where[rng.choice((odd_text(rng, str(key)), "x", "spot", "", upper))] = old


def _section(rng: Random, data: Data) -> None:
    """A section that is something else, or in another one."""
    place = _place(rng, data, dict)
    if place is None:
        return
    where, key = place
    if rng.random() < 0.5:
        where[key] = rng.choice((1, "x", [], [where[key]], {}, 1.5, True))
    else:
        data[str(rng.choice(tuple(data)))] = _copied(where[key])


_CHANGES = (change_value, change_value, change_value, _text, _text, _known, _known, _known, _key, _section)
