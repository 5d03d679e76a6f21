"""Measures what a flop's strategy from a quick solve loses: few iterations, and few bets on the turn and the river.

    python -m benchmarks.studies.quick_flops --save FILE [--spots all] [--ways none,none,20 ...] [--accuracy 0.3]
    python -m benchmarks.studies.quick_flops --save FILE --random 40 [--seed 1] [--largest 150]

A quick solve has all bets of the flop, and a lean menu on later rounds. Its *loss* is measured in the true game, which
has the rich menu on all rounds: one player's flop strategy is locked hand by hand, everything else is solved exactly,
and this is done for both players. Half the sum of what both lose, in % of the pot, is half the difference of the first
player's value with the second player's flop locked and with the own flop locked, so that the value of the unlocked game
is not needed. Each of these two solves stops at ``--accuracy`` % of the pot, and the loss is known to about half of
that.

A way is written as turn menu, river menu, iterations and variant of CFR, such as ``75,none,20,dcfr``; menus are those
of `MENUS`, or ``true``. ``75,75,60,pdcfr/5`` visits a fifth of the rivers in each iteration. A way such as ``3s`` is
what ``solve.quick = "3 s"`` does on an idle machine with two cores: the menus of `spewy.run.quick`, and as many sweeps
as its estimate says.

``--random`` draws flops in place of `SPOTS`: a preset, a stack of 0.5 to 20 pots (evenly by its logarithm), and three
cards. The true game of a drawn flop has the richest of the menus `THREE`, `TWO` and `ONE` on later rounds that
gives at most ``--largest`` million actions of hands; a flop for which none does is drawn again.

"seconds" are those of the whole quick solve, from the job to the flop's strategies and values, and "CPU" those of all
threads. Results are appended to a file, from which a repeated command continues.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command import as_command
from buckets.cards import Deck, cards_name
from solvers.discount import LEAN_VARIANT, variant
from solvers.exact import ExactCfr
from solvers.game import LiveGame, Lock
from solvers.state import ChunkStrategy, normalised
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.job.shipped import preset, presets
from spewy.run.quick import lean, sweeps_in
from spewy.run.walked_cost import number_of_cells

THREE = {"bet": "33%, 75%, 125%", "raise": "60%"}
TWO = {"bet": "50%, 100%", "raise": "60%"}
ONE = {"bet": "75%", "raise": "60%"}
MENUS = {
    "none": {"bet": ""},
    "all-in": {"bet": "a"},
    "75": {"bet": "75%"},
    "75-or-all-in": {"bet": "75%, a"},
    "75-and-all-in": {"bet": "75%", "raise": "a"},
    "100": {"bet": "100%"},
    "e": {"bet": "e"},
}


class Spot(NamedTuple):
    """A flop: preset of the ranges and the pot, stack in big blinds, board, and the true game's later rounds."""

    preset: str
    stack: float
    board: str
    later: dict[str, str]

    def job(self, turn: dict[str, str], river: dict[str, str]) -> Job:
        given = preset(self.preset)
        oop, ip = (one.text for one in given.ranges)
        return Job.of(
            {
                "name": "quick",
                "unit": "bb",
                "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
                "spot": {"board": self.board, "pot": given.pot, "stack": self.stack, "oop": oop, "ip": ip},
                "bets": {"flop": THREE, "turn": turn, "river": river},
                "tree": {"max_raises": 2, "allin_from": 0.67},
            }
        )

    @property
    def pots(self) -> float:
        """Stack divided by pot."""
        return self.stack / preset(self.preset).pot


SPOTS = {
    "4-bet pot, 1.7 pots": Spot("4bet-co-btn", 78, "Kd 9h 4c", THREE),
    "3-bet pot, 1.2 pots": Spot("hu-20bb-3bet", 14, "9s 8s 5d", THREE),
    "3-bet pot, 5.3 pots": Spot("3bet-co-btn", 92, "Qs Jh 2h", TWO),
    "single-raised, 8.6 pots": Spot("srp-utg-bb", 47.5, "8s 8d 4c", ONE),
    "single-raised, 18 pots": Spot("srp-utg-bb", 97.5, "Ks 7h 2d", ONE),
}


class Way(NamedTuple):
    """A quick solve: the job of its game, the number of sweeps, the variant, and the groups of rivers."""

    job: Job
    sweeps: int
    variant: str
    groups: int


class Quick(NamedTuple):
    """Result of a quick solve: both players' strategy sums ``[slot, hand]`` of the flop, and what it took."""

    sums: ChunkStrategy
    seconds: float
    cpu: float
    cells: int
    sweeps: int
    mib: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", type=Path, required=True, help="file of results, which a repeat continues")
    parser.add_argument("--spots", default="all", help="numbers of spots, such as 0,2")
    parser.add_argument("--random", type=int, help="number of drawn flops, in place of the given spots")
    parser.add_argument("--seed", type=int, default=1, help="seed of drawn flops")
    parser.add_argument(
        "--largest",
        type=float,
        default=150.0,
        help="largest true game of a drawn flop, in millions of actions of hands",
    )
    parser.add_argument("--ways", nargs="*", default=["none,none,20"], help="ways of the quick solve")
    parser.add_argument(
        "--accuracy", type=float, default=0.3, help="target of locked solves, in %% of the pot"
    )
    parser.add_argument("--threads", type=int, default=2, help="number of threads")
    parser.add_argument("--table", action="store_true", help="print the results in the file as a table")
    options = parser.parse_args()
    if options.table:
        print(table(rows(options.save)))
        return
    done = {tuple(row["key"]) for row in rows(options.save)}
    spots = list(SPOTS.items())
    if options.spots != "all":
        spots = [spots[int(i)] for i in options.spots.split(",")]
    drawn = drawn_spots(options.random or 0, options.seed, 1e6 * options.largest)
    for name, spot in drawn if options.random else spots:
        missing = [way for way in options.ways if (name, way) not in done]
        if not missing:
            continue
        truth = Truth(spot, options.threads, options.accuracy)
        for way in missing:
            found = quick(game_of(spot, way), threads=options.threads)
            loss = truth.loss(found.sums)
            row = {"key": (name, way), "pots": spot.pots, "loss": loss, **found._asdict()}
            del row["sums"]
            with options.save.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)


def table(found: list[dict[str, Any]]) -> str:
    """Return a table of losses in % of the pot, with a line for each spot and a column for each way.

    Below the spots stand the mean loss, the 90th percentile and the largest of each way.
    """
    ways, spots = (list(dict.fromkeys(row["key"][i] for row in found)) for i in (1, 0))
    losses = {tuple(row["key"]): max(0.0, row["loss"]) for row in found}
    lines = [["spot", *ways], ["---"] * (len(ways) + 1)]
    for spot in spots:
        lines.append([spot, *(f"{losses[spot, way]:.2f}" if (spot, way) in losses else "" for way in ways)])
    of_way = [[losses[spot, way] for spot in spots if (spot, way) in losses] for way in ways]
    for name, of in (("mean", np.mean), ("90 %", lambda all: np.quantile(all, 0.9)), ("worst", np.max)):
        lines.append([name, *(f"{of(one):.2f}" for one in of_way)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def drawn_spots(count: int, seed: int, largest: float) -> Iterator[tuple[str, Spot]]:
    """Yield the names and spots of drawn flops, whose true games have at most ``largest`` actions of hands."""
    draw = random.Random(seed)
    while count:
        name, pots = draw.choice(sorted(presets())), 0.5 * 40 ** draw.random()
        board = cards_name(draw.sample(Deck().cards, 3))
        stack = round(2 * pots * preset(name).pot) / 2
        for later in (THREE, TWO, ONE):
            spot = Spot(name, stack, board, later)
            if number_of_cells(spot.job(later, later)) <= largest:
                sizes = ("", "one", "two", "three")[len(later["bet"].split(","))]
                yield f"{name}, {spot.pots:.1f} pots, {board}, {sizes}", spot
                count -= 1
                break


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def game_of(spot: Spot, way: str) -> Way:
    if "," not in way:
        job = spot.job(spot.later, spot.later).replace(quick=way.replace("s", " s"), workers=2)
        game = lean(job)
        return Way(game.job, sweeps_in(job, game), game.job.solve.variant or LEAN_VARIANT, game.groups)
    way, _, groups = way.partition("/")
    turn, river, iterations, *named = way.split(",")
    menus = [spot.later if name == "true" else MENUS[name] for name in (turn, river)]
    return Way(spot.job(*menus), int(iterations), (*named, LEAN_VARIANT)[0], int(groups or 1))


def quick(way: Way, *, threads: int) -> Quick:
    wall, cpu = time.perf_counter(), time.process_time()
    game, schedule = Layout.of(way.job.problem).live, variant(way.variant)
    with closing(ExactCfr(game, schedule, threads=threads, short=True, groups=way.groups)) as engine:
        engine.run(way.sweeps)
        engine.leaf_values()
        sums = engine.read("sums", 0, 0)
        mib = engine.state_bytes / 2**20
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    return Quick(sums, *seconds, round(number_of_cells(way.job)), way.sweeps, mib)


class Truth:
    """The true game of a spot, in which a locked flop is solved exactly."""

    def __init__(self, spot: Spot, threads: int, accuracy: float) -> None:
        self._layout = Layout.of(spot.job(spot.later, spot.later).problem)
        self._game, self._threads, self._accuracy = self._layout.live, threads, accuracy

    def loss(self, sums: ChunkStrategy) -> float:
        """Return what both players' flop strategies lose against exact play: half of the sum, in % of the pot."""
        own, other = (self._value(sums, p) for p in (1, 0))
        return (own - other) / 2

    def _value(self, sums: ChunkStrategy, p: int) -> float:
        """Return the first player's value, in % of the pot, if player p plays the flop by ``sums``."""
        pot = self._layout.problem.pot
        game = replace(self._game, locks=tuple(locks(self._game, sums, p)))
        with closing(ExactCfr(game, variant("pdcfr"), threads=self._threads, short=True)) as engine:
            engine.run_to(self._accuracy / 100 * pot, 1000, 20)
            return 100 * engine.expected_values()[0] / pot


def locks(game: LiveGame, sums: ChunkStrategy, p: int) -> Iterator[Lock]:
    """Yield a lock for each of player p's flop decisions, with the frequencies of ``sums``."""
    forest, n_hands = game.rounds[0].forest, game.rounds[0].hands[p].row.shape[1]
    a = forest.arrays
    for node in np.flatnonzero(a.player == p):
        first, count = int(a.slot[node]), int(a.n_actions[node])
        frequencies = np.full((1, count, n_hands), np.nan)
        held = normalised(sums[p][first : first + count])
        frequencies[0, :, : held.shape[1]] = held
        yield Lock(0, p, int(node), frequencies)


if __name__ == "__main__":
    as_command(main)
