"""Measures the EV that a player loses with one, two or three bet sizes instead of a whole list of sizes.

    python -m benchmarks.studies.bet_sizes rivers [--number 200] [--seed 0] [--target 0.05%] [--player ip]
    python -m benchmarks.studies.bet_sizes turns [--number 20] [--seed 0] [--target 0.1%]

Players begin with 100 big blinds, the button against the big blind. The river is reached by checks, or after one or
two bets.
Each spot is solved with the whole list of sizes for one player, and with each choice of one or two of them, and on
rivers with the choices of three that extend the ten best pairs; everything else stays the same. *best of each spot*
chooses the sizes for each spot by itself, *same for all* once for all spots. Losses are EVs of the player, in % of the
pot.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

from benchmarks.command import as_command
from buckets.cards import Deck, cards_name, hands
from solvers.game import compatible_sums
from spewy.batch.sizes import choose_sizes
from spewy.batch.solve_rivers import solve_rivers
from spewy.game.ranges import parse_range
from spewy.job.job import Job
from spewy.job.shipped import preset

PRESET = "srp-btn-bb"
SIZES = {
    "rivers": ("25%", "33%", "50%", "75%", "100%", "150%", "200%", "a"),
    "turns": ("33%", "66%", "100%", "150%", "a"),
}
POTS = ((5.5, 97.5), (9.1, 95.7), (22.9, 88.8))
"""Pots and stacks in big blinds: no bet before, a bet of 33 % on the flop, and one of 75 % on the turn."""
CHIPS = 100
"""Chips of a big blind."""
PLAYERS = ("oop", "ip")
BEST_TWOS = 10
Parts = dict[tuple[str, ...], np.ndarray]
"""Losses ``[spot]`` in % of the pot, for each choice of sizes."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=SIZES)
    parser.add_argument("--number", type=int, help="number of spots (default 200 rivers or 20 turns)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the spots")
    parser.add_argument("--target", help="exploitability of each solve (default 0.05%% or 0.1%%)")
    parser.add_argument(
        "--player", choices=PLAYERS, help="the player who has the sizes (default: each in turn)"
    )
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    rivers = options.what == "rivers"
    number = options.number or (200 if rivers else 20)
    boards = [rng.choice(52, 5 if rivers else 4, replace=False) for _ in range(number)]
    pots = rng.integers(0, len(POTS), number)
    print(
        "| spots | player | sizes | best of each spot, % | same for all, % | these |\n|---|---|---|---|---|---|"
    )
    for player in [options.player] if options.player else PLAYERS:
        if rivers:
            losses = of_rivers(boards, pots, player, options.target or "0.05%")
        else:
            losses = of_turns(boards, pots, player, options.target or "0.1%")
        for count in sorted({len(part) for part in losses}):
            parts = {part: loss for part, loss in losses.items() if len(part) == count}
            each = np.min(list(parts.values()), axis=0)
            same = min(parts, key=lambda part: parts[part].mean())
            print(
                f"| {number} {options.what} | {player} | {count} | {each.mean():.3f} | {parts[same].mean():.3f} | "
                f"{', '.join(same)} |",
                flush=True,
            )


def job(player: str, sizes: tuple[str, ...], board: np.ndarray, pot: int, target: str) -> Job:
    chips, stack = (round(CHIPS * amount) for amount in POTS[pot])
    menu = {"bet": "33%, 75%, 150%, a", "raise": "3x, a"}
    rounds = {3: "river"} if len(board) == 5 else {2: "turn", 3: "river"}
    bets = {name: dict(menu) for name in rounds.values()}
    if len(board) == 4:
        bets["river"] = {"bet": "75%", "raise": "a"}
    bets[next(iter(bets))][player] = {"bet": ", ".join(sizes)}
    oop, ip = (given.text for given in preset(PRESET).ranges)
    return Job.of(
        {
            "name": "sizes",
            "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
            "spot": {
                "board": cards_name(sorted(board.tolist())),
                "pot": chips,
                "stack": stack,
                "oop": oop,
                "ip": ip,
            },
            "bets": bets,
            "solve": {"target": target, "max_sweeps": 5000},
        }
    )


def of_rivers(boards: list[np.ndarray], pots: np.ndarray, player: str, target: str) -> Parts:
    """Solve all rivers; return the losses ``[river]`` in % of the pot for each choice of bet sizes."""
    sizes, seat = SIZES["rivers"], PLAYERS.index(player)
    chips = np.array([[round(CHIPS * amount) for amount in POTS[pot]] for pot in pots])
    weights = [parse_range(text).weights for text in ranges(job(player, sizes, boards[0], 0, target))]
    shares = [pairs(board, weights[seat], weights[1 - seat]) for board in boards]

    def evs(part: tuple[str, ...]) -> np.ndarray:
        found = solve_rivers(
            job(player, part, boards[0], 0, target),
            np.array(boards),
            *weights,
            pots=chips[:, 0],
            stacks=chips[:, 1],
            workers=2,
        ).ev[:, seat]
        return np.array([np.nansum(share * ev) for share, ev in zip(shares, found, strict=True)])

    whole, losses = evs(sizes), Parts()
    parts = [(size,) for size in sizes] + list(combinations(sizes, 2))
    for part in parts:
        losses[part] = 100 * (whole - evs(part)) / chips[:, 0]
    twos = sorted((part for part in parts if len(part) == 2), key=lambda part: losses[part].mean())
    threes = {tuple(s for s in sizes if s in (*two, size)) for two in twos[:BEST_TWOS] for size in sizes}
    for part in sorted(three for three in threes if len(three) == 3):
        losses[part] = 100 * (whole - evs(part)) / chips[:, 0]
    return losses


def of_turns(boards: list[np.ndarray], pots: np.ndarray, player: str, target: str) -> Parts:
    """Solve each turn as ``spewy sizes`` does; return the losses ``[turn]`` in % of the pot by choice of sizes."""
    sizes, losses = SIZES["turns"], dict[tuple[str, ...], list[float]]()
    for board, pot in zip(boards, pots, strict=True):
        spot = job(player, sizes, board, int(pot), target)
        for row in choose_sizes(spot, player, sizes=", ".join(sizes), most=2, target=target).losses:
            losses.setdefault(tuple(row.sizes.split(", ")), []).append(row.loss_pct)
    return {part: np.array(rows) for part, rows in losses.items()}


def ranges(spot: Job) -> tuple[str, str]:
    assert spot.spot is not None
    return spot.spot.oop, spot.spot.ip


def pairs(board: np.ndarray, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Probability of each hand of the range ``own`` if a pair of hands is dealt from both ranges: ``[hand]``."""
    cards = hands(Deck(), 2)
    left = ~np.isin(cards, board).any(axis=1)
    own, other = own * left, other * left
    weight = own * compatible_sums(cards, cards, other, other, 52)
    return weight / weight.sum()


if __name__ == "__main__":
    as_command(main)
