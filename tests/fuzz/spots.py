"""Jobs that are right, at random: small enough to be solved in a fraction of a second."""

from random import Random
from typing import Any

from solvers import VARIANTS

from .text import CARDS, choose

Data = dict[str, Any]

TOYS = ("kuhn", "leduc")
SIZES = ("50%", "33%, 100%", "75%, a", "a", "e", "2e", "20c", "e150%", "10%, 60%", "")
RAISES = ("", "", "50%", "2.5x", "3x, a", "a")
PLAIN = [name for name, variant in VARIANTS.items() if not (variant.predictive or variant.looks_ahead)]
"""Variants that every engine knows."""
CLUSTERINGS = ("equation-1", "ward", "k-means", "strength-k-means", "equity-quantiles")


def random_job(rng: Random) -> Data:
    """A river most often, else a turn or a toy game."""
    return choose(rng, (8, random_river), (2, random_turn), (1, random_toy))(rng)  # type: ignore[operator]


def random_river(rng: Random) -> Data:
    """A river in one of the ways to solve it."""
    data = _spot(rng, 5, most_hands=60)
    data["solve"] |= choose(
        rng,
        (4, {"max_sweeps": rng.choice((1, 10, 50, 200))}),
        (2, {"precision": "16-bit", "max_sweeps": rng.choice((10, 50, 200))}),
        (2, {"precision": "double", "max_sweeps": rng.choice((1, 10, 40))}),
        (1, {"precision": "single", "max_sweeps": 30, "workers": 2}),
        (2, {"leaves": "stored", "max_sweeps": rng.choice((1, 5, 20))}),
        (1, {"integrate": "average", "max_sweeps": rng.choice((1, 3))}),
        (1, {"method": "lp"}),
        (1, {"method": "lp", "integrate": "average", "max_sweeps": 2}),
    )
    _spice(rng, data)
    return data


def random_turn(rng: Random) -> Data:
    """A turn with few hands and lines."""
    data = _spot(rng, 4, most_hands=8)
    data["solve"] |= choose(
        rng,
        (5, {"max_sweeps": rng.choice((1, 10, 40))}),
        (2, {"precision": "16-bit", "max_sweeps": 20}),
        (1, {"precision": "double", "max_sweeps": 5}),
        (1, {"leaves": "stored", "max_sweeps": 1}),
    )
    _spice(rng, data)
    return data


def random_toy(rng: Random) -> Data:
    """A whole small game."""
    solve = choose(
        rng,
        (3, {"variant": rng.choice(PLAIN), "max_sweeps": rng.choice((1, 20))}),
        (1, {"leaves": "stored", "variant": "cfr+", "max_sweeps": 2, "symmetry": False}),
        (1, {"integrate": "average", "max_sweeps": 1}),
        (1, {"method": "lp"}),
    )
    unit = rng.choice(({"target": "0.01 chips"}, {"target": "5 mbb"}, {}))
    return {"name": "toy", "game": {"file": rng.choice(TOYS)}, "solve": {**solve, **unit}}  # type: ignore[dict-item]


TWELVE_CARDS = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 10 5
raiseSize = 10 20
firstPlayer = 2 1
maxRaises = 2 2
numSuits = 3
numRanks = 4
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
"""


def random_dealt(rng: Random) -> Data:
    """A whole small game of two rounds whose boards are dealt, in classes or a class each."""
    targets = ("0 mbb", "150 mbb", "0.5 chips")
    solve: Data = {"target": rng.choice(targets), "max_sweeps": rng.choice((1, 20, 200))}
    solve |= rng.choice(
        ({}, {"workers": 2}, {"seed": rng.randrange(2**63)}, {"precision": "16-bit"}, {"cfr_br": 0.5})
    )
    solve |= rng.choice(({}, {"max_time": "0.5 s"}, {"check_every": "0.1 s", "check_flops": 3}))
    if rng.random() < 0.5:
        file: Data = {"file": "leduc"}
        boards, rows = rng.choice(
            (({}, {}), ({"flop": 3}, {"flop": 3}), ({"flop": 1}, {"preflop": 2, "flop": 2}))
        )
    else:
        file = {"text": TWELVE_CARDS}
        boards = {"flop": rng.choice((1, 5, "all"))}
        rows = {"preflop": rng.choice((1, 9)), "flop": rng.choice((1, 7))}
    return {"name": "dealt", "game": file, "boards": boards, "rows": rows, "solve": solve}


def renamed(rng: Random, data: Data) -> Data:
    """The same spot with its suits renamed."""
    suits = str.maketrans("cdhs", "".join(rng.sample("cdhs", 4)))
    changed = {key: data["spot"][key].translate(suits) for key in ("board", "oop", "ip")}
    return data | {"spot": data["spot"] | changed}


def scaled(data: Data) -> Data:
    """The same spot with both ranges' weights halved."""

    def halved(text: str) -> str:
        groups = (group.partition(":") for group in text.split(","))
        return ",".join(f"{hand}:{float(weight or 1) / 2!r}" for hand, _, weight in groups)

    spot = data["spot"]
    return data | {"spot": spot | {"oop": halved(spot["oop"]), "ip": halved(spot["ip"])}}


def _spot(rng: Random, n_cards: int, most_hands: int) -> Data:
    cards = rng.sample(CARDS, 52)
    board, left = cards[:n_cards], cards[n_cards:]
    pot = rng.choice((1, 2, 10, 100, 999, 10**6))
    names = {3: "flop", 4: "turn", 5: "river"}
    sizes = {"bet": rng.choice(SIZES), "raise": rng.choice(RAISES)}
    if not sizes["bet"]:
        sizes.pop("raise")  # which would be refused: there is nothing to raise
    if n_cards == 4:
        sizes = {"bet": rng.choice(("50%", "a", "e")), "raise": rng.choice(("", "a"))}
    return {
        "name": f"{names[n_cards]} {rng.randrange(1000)}",
        "game": {"file": rng.choice(("holdem.nolimit.2p.reverse_blinds", "upac", "doyle"))},
        "spot": {
            "board": " ".join(board),
            "pot": pot,
            "stack": max(1, round(pot * rng.choice((0.01, 0.3, 1, 3, 20)))),
            "oop": _hands(rng, left, most_hands),
            "ip": _hands(rng, left, most_hands),
        },
        "bets": {names[n_cards]: sizes},
        "solve": {
            "target": rng.choice(("0%", "0.1%", "1%", "20%")),
            "check_every": rng.choice((1, 7, 10, 50)),
        },
    }


def _hands(rng: Random, cards: list[str], most: int) -> str:
    """At least three hands without a card in common, so that two ranges always go together; some with weights."""
    n = rng.choice((3, 3, 4, rng.randint(3, most)))
    shuffled = rng.sample(cards, len(cards))
    apart = [a + b for a, b in zip(shuffled[:6:2], shuffled[1:6:2], strict=True)]
    others = ["".join(rng.sample(cards, 2)) for _ in range(n - 3)]
    weighted = rng.random() < 0.4
    hands = dict.fromkeys(apart + [hand for hand in others if hand[2:] + hand[:2] not in others])
    return ",".join(f"{hand}:{rng.choice((0.25, 0.5, 1, 0.013))}" if weighted else hand for hand in hands)


def _spice(rng: Random, data: Data) -> None:
    """Add what only some ways to solve allow: a variant, buckets, rake, a lock."""
    solve = data["solve"]
    exact = solve.get("leaves", "live") == "live" and "integrate" not in solve and "method" not in solve
    if "method" not in solve and rng.random() < 0.3:
        solve["variant"] = rng.choice(PLAIN if solve.get("precision") == "16-bit" else list(VARIANTS))
    if not exact and solve.get("method") != "lp" and rng.random() < 0.5:
        data["rows"] = {"river": rng.choice((1, 2, 5, 40)), "clustering": rng.choice(CLUSTERINGS)}
    if exact and rng.random() < 0.2:
        data["spot"]["rake"] = {"rate": rng.choice((0, 0.05, 0.5)), "cap": rng.choice((0, 3, 1e9))}
    if exact and rng.random() < 0.2:
        data["lock"] = [{"line": "", "strategy": {"check": 1}}]
    if rng.random() < 0.2:
        add_allin, merge = rng.choice((0.5, 2.0)), rng.choice((0.05, 0.5))
        data["tree"] = {"add_allin": add_allin, "force_allin": 0.2, "merge": merge}
