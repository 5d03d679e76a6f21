"""Measures how many iterations the exact engine needs with different discounts of earlier iterations.

    python -m benchmarks.studies.schedules [--spots shallow] [--random 0] [--most 400]

A schedule has seven numbers a, b, c, d, g, n and w: after t iterations positive regrets are multiplied by
t^a / (t^a + c), negative regrets by t^b / (t^b + d), and sums by ((t - 1) / t)^g. The strategy after the update of
iteration t has the weight n / (2 (n + t)) in the values that go up the tree. Strategies follow the regrets plus w times
the instantaneous regrets of the last iteration. DCFR has c = d = 1 and n = w = 0. A line of the table has the geometric
means, over all spots of a set, of the iterations to 0.5, 0.1 and 0.02 % of the pot, and the iterations to 0.1 % for
each spot. Exploitability is measured every ten iterations and interpolated. ``--random`` also measures random
schedules and prints the fifteen best.

The deep spots are single-raised pots of the button and the big blind, with stacks of 10 to 36 pots (60, 100 and 200 big
blinds); ``random-rivers`` are sixteen of them on random boards. The polarised rivers have ranges of the nuts and of
bluffs against bluff-catchers. ``turns`` are nine turns that had no part in the choice of the discounts of
`pdcfr`: the ranges of T1, T2 and T3 on other boards.
"""

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES, SPOTS
from buckets.cards import cards_name
from solvers.discount import Variant
from solvers.exact import ExactCfr
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.job.shipped import preset

FILES = {
    "R1": (EXAMPLES / "R1.toml", None),
    "R1 on Ah 7d 7c 3s 2s": (EXAMPLES / "R1.toml", "Ah 7d 7c 3s 2s"),
    "R1 on Kd Qd Td 5c 2h": (EXAMPLES / "R1.toml", "Kd Qd Td 5c 2h"),
    "R1 on 9h 8h 6s 5d 2c": (EXAMPLES / "R1.toml", "9h 8h 6s 5d 2c"),
    "T1": (EXAMPLES / "T1.toml", None),
    "T2": (SPOTS / "T2.toml", None),
    "T3": (SPOTS / "T3.toml", None),
}
TURNS = "Kd 9s 4h 2c", "8c 7c 5d Th", "As Jd Td 3s"
DEEP = {
    "deep-rivers": (
        ("Ks 7h 2d 5c 9s", 97.5),
        ("Qs Jh 2h 8d 3c", 97.5),
        ("6s 5s 4d Jh As", 97.5),
        ("9c 8c 5d Tc 2s", 197.5),
        ("Kd Qd Td 5c 2h", 197.5),
        ("Ah 7d 7c 3s 2s", 57.5),
    ),
    "deep-turns": (
        ("Ks 7h 2d 5c", 97.5),
        ("Ah Td 4c 4s", 97.5),
        ("Qs Jh 2h 8d", 197.5),
        ("9c 8c 5d Tc", 57.5),
    ),
    "deep-flops": (
        ("Ks 7h 2d", 97.5),
        ("Qs Jh 2h", 197.5),
    ),
}
"""Boards, and stacks in big blinds behind a pot of 5.5."""
LEAN = {"bet": "75%", "raise": "a"}
"""Bets of the flops, with which their trees have some 50 million information sets."""
POLARISED = {
    "AA, QQ": ("Ts 3h 2h 5c 9s", 100, "AA,QQ", "KK"),
    "AA, many": ("Ts 3h 2h 5c 9s", 200, "AA,QJo", "KK,JJ"),
    "boats": ("Kd Kc 7h 7s 2d", 300, "AKs,AKo,QJs", "AA,QQ"),
}
"""Boards, stacks behind a pot of 100, and both ranges; the second player cannot raise profitably."""
NAMED = [
    (1.5, 1, 0, 1, 2, 0, 0),
    (1.4, 1, 0.25, 1, 3, 0, 0),
    (1.4, 1, 0.25, 1, 3, 400, 0),
    (1.25, 1, 0.5, 1, 4, 0, 0),
    (1.25, 1, 0.5, 1, 4, 400, 0),
    (1.1, 1, 0.5, 1, 4, 0, 0),
    (1.4, 1, 0.25, 1, 3, 0, 1 / 3),
    (1.25, 1, 0.5, 1, 4, 0, 1 / 5),
    (1.25, 1, 0.5, 1, 4, 0, 1 / 3),
    (1.25, 1, 0.5, 1, 4, 0, 1 / 2),
    (1.25, 1, 0.5, 1, 4, 400, 1 / 3),
    (1.1, 1, 0.5, 1, 4, 0, 1 / 3),
    (1.1, 1, 0.5, 1, 4, 400, 1 / 3),
]
TARGETS = (0.5, 0.1, 0.02)


class Schedule(Variant):
    """A variant of CFR whose name has the numbers a, c, b, d, g and n of a schedule; w is `Variant.predicted`."""

    def table(self, first: int, count: int) -> np.ndarray:
        """Return the discount factors of iterations from ``first`` on, in the form that `Variant.table` documents."""
        a, c, b, d, g, n = map(float, self.name.split())
        t = np.arange(first - 1, first - 1 + count, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            columns = [t**a / (t**a + c), t**b / (t**b + d), (t / (t + 1)) ** g, n / (2 * (n + t + 1)), 0 * t]
        return np.nan_to_num(np.stack(columns, axis=1))  # before the first iteration all numbers are 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--spots",
        choices=("shallow", "turns", *DEEP, "random-rivers", "polarised"),
        default="shallow",
        help="set of spots",
    )
    parser.add_argument(
        "--schedule",
        nargs=7,
        type=float,
        action="append",
        help="a schedule to measure instead of the usual ones",
    )
    parser.add_argument(
        "--random", type=int, default=0, help="number of random discount schedules that are measured too"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the random schedules")
    parser.add_argument("--most", type=int, default=400, help="largest number of iterations of each solve")
    parser.add_argument("--threads", type=int, default=2, help="number of threads of each solve")
    options = parser.parse_args()
    spots = dict(jobs(options.spots))
    games = [(Layout.of(job.problem).live, job.spot.pot) for job in spots.values()]
    rng = np.random.default_rng(options.seed)
    drawn = [
        (
            rng.uniform(1, 2),
            np.exp(rng.uniform(-0.5, 1.4)),
            rng.uniform(-0.5, 0.6),
            np.exp(rng.uniform(-0.9, 0.9)),
            rng.uniform(2.5, 6),
            rng.choice((0, 20, 40, 400)),
            rng.choice((0, 0.2, 0.33, 0.5)),
        )
        for _ in range(options.random)
    ]
    print("| a | c | b | d | g | n | w | 0.5 % | 0.1 % | 0.02 % | " + " | ".join(spots) + " |")
    print("|" + "---|" * (10 + len(spots)))
    for numbers in options.schedule or NAMED:
        print(row(numbers, needed(numbers, games, options)), flush=True)
    found = sorted(
        ((needed(numbers, games, options), numbers) for numbers in drawn), key=lambda x: score(x[0])
    )
    for iterations, numbers in found[:15]:
        print(row(numbers, iterations))


def jobs(name: str) -> Iterator[tuple[str, Job]]:
    """Names and jobs of a set of spots."""
    if name == "shallow":
        for spot, (file, board) in FILES.items():
            yield spot, Job.load(file, [f"spot.board={board}"] if board else [])
    elif name == "turns":
        for spot, board in product(("T1", "T2", "T3"), TURNS):
            yield f"{spot} on {board}", Job.load(FILES[spot][0], [f"spot.board={board}"])
    elif name == "polarised":
        for spot, (board, stack, oop, ip) in POLARISED.items():
            yield spot, _job(board, 100, stack, oop, ip, {"bet": "a"})
    else:
        oop, ip = (given.text for given in preset("srp-btn-bb").ranges)
        for board, stack in DEEP[name] if name in DEEP else _random_rivers():
            flop = name == "deep-flops"
            menu = LEAN if flop else {"bet": "33%, 75%, a", "raise": "60%, a"}
            yield f"{board}, {stack / 5.5:.0f} pots", _job(board, 550, round(100 * stack), oop, ip, menu)


def _random_rivers() -> Iterator[tuple[str, float]]:
    """Yield boards of sixteen random rivers, and stacks in big blinds behind a pot of 5.5: 12 to 36 times the pot."""
    rng = np.random.default_rng(7)
    for _ in range(16):
        cards = cards_name(rng.choice(52, 5, replace=False))
        yield " ".join(cards[i : i + 2] for i in range(0, 10, 2)), 5.5 * float(rng.uniform(12, 36))


def _job(board: str, pot: int, stack: int, oop: str, ip: str, menu: dict[str, str]) -> Job:
    rounds = ("flop", "turn", "river")[len(board.split()) - 3 :]
    return Job.of(
        {
            "name": board,
            "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
            "spot": {"board": board, "pot": pot, "stack": stack, "oop": oop, "ip": ip},
            "bets": dict.fromkeys(rounds, menu),
        }
    )


def needed(numbers: tuple[float, ...], games: list, options: argparse.Namespace) -> list[list[float]]:
    """Solve each spot with the schedule of six ``numbers``; return for each spot the iterations to each target."""
    out = []
    for game, pot in games:
        schedule = Schedule(" ".join(map(str, numbers[:6])), predicted=numbers[6])
        engine = ExactCfr(game, schedule, threads=options.threads, short=len(game.rounds) == 3)
        iterations, pct = course(engine, pot, options.most, TARGETS[-1])
        out.append([crossing(iterations, pct, target, options.most) for target in TARGETS])
    return out


def course(engine: ExactCfr, pot: float, most: int, target: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Run an engine to a target in % of the pot, with a check every ten iterations.

    Returns:
        Two arrays ``[check]``: the number of iterations of this run, and the exploitability in % of the pot.
    """
    before = engine.iteration
    checks = engine.run_to(0.99 * target / 100 * pot, most, 10)
    engine.close()
    iterations = np.array([check.iteration - before for check in checks])
    return iterations, np.array([100 * check.exploitability.value / pot for check in checks])


def crossing(iterations: np.ndarray, pct: np.ndarray, target: float, most: int) -> float:
    """Interpolate geometrically at how many iterations exploitability fell to a target; ``most`` if it never did."""
    below = np.flatnonzero(pct <= target)
    if not len(below):
        return float(most)
    k = int(below[0])
    if k == 0:
        return float(iterations[0])
    part = np.log(pct[k - 1] / target) / np.log(pct[k - 1] / pct[k])
    return float(iterations[k - 1] + part * (iterations[k] - iterations[k - 1]))


def score(iterations: list[list[float]]) -> float:
    return float(np.log(iterations)[:, :2].mean())


def row(numbers: tuple[float, ...], iterations: list[list[float]]) -> str:
    means = np.exp(np.log(iterations).mean(axis=0))
    cells = [f"{n:.2f}" for n in numbers] + [f"{m:.0f}" for m in means] + [f"{i[1]:.0f}" for i in iterations]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    as_command(main)
