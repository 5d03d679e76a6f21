"""Measures how good estimates of payoff matrices are where none are stored, which the paper left open.

    python -m benchmarks.studies.leaf_estimates make FOLDER      # solve the small game; store its matrices (minutes)
    python -m benchmarks.studies.leaf_estimates errors FOLDER    # compare estimates with the stored matrices
    python -m benchmarks.studies.leaf_estimates costs FOLDER     # measure what flops lose if solved with estimates
    python -m benchmarks.studies.leaf_estimates tables           # write the tables of docs/research/leaf-estimates.md

The game is limit hold'em with 24 cards that ends on the turn, so small that costs can be computed exactly. A random
share of its turn matrices counts as stored, and the others are estimated. The cost of a flop's strategy is half the sum
of what both players lose by it: a player is locked to the strategy on the flop and plays the turn as well as possible,
against an opponent who knows this.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import joblib
import numpy as np

from benchmarks.bucket_games import BucketBoard, BucketGame, Drawn, drawn_boards, trembling
from benchmarks.command import as_command
from benchmarks.paths import ROOT
from benchmarks.payoff_estimates import ClosestLine, Lines, Matrices, Regression
from benchmarks.studies.bucket_payoffs import Work, make_payoffs, stored_matrices
from solvers.discount import variant
from solvers.game import LiveGame, Lock
from solvers.matrix.chunk import iterate, normalise
from solvers.matrix.leaves import row_matrices
from solvers.reference.kernels import match
from solvers.tree import Floats
from spewy.bot.resolving.builder import new_solver
from spewy.chunks.boards import BoardHands
from spewy.chunks.layout import Layout, Subgames
from spewy.chunks.live_game import with_ranges
from spewy.learn.payoffs import NoMoreBetting, build_chunk, per_pair
from spewy.learn.playdown import PlayDown

DATA, PAGE = ROOT / "docs/data/leaf-estimates.json", ROOT / "docs/research/leaf-estimates.md"
GAME = """GAMEDEF
limit
numPlayers = 2
numRounds = 3
blind = 10 5
raiseSize = 10 10 20
firstPlayer = 2 1 1
maxRaises = 3 4 4
numSuits = 4
numRanks = 6
numHoleCards = 2
numBoardCards = 0 3 1
END GAMEDEF
"""
JOB = """name = "small-deck"
[game]
file = "{folder}/small.game"
[boards]
flop = 40
turn = 100
[rows]
flop = 20
turn = 20
[solve]
target = "0 mbb"
max_sweeps = 12000
check_every = "30 min"
workers = 1
"""
BOARDS, SEED = 4, 0
FLOP, TURN = 1, 2
SHARES = 0.05, 0.3
"""Shares of the turn's payoff matrices that the study treats as stored; the others are estimated."""
ITERATIONS = 300
SHARES_KEPT = 4096


class Game:
    """The solved game, its payoff matrices on the turn, and sample boards of each board bucket on the turn."""

    def __init__(self, folder: Path) -> None:
        self.work = Work(folder / "solved")
        self.game = self.work.game
        self._drawn: list[Drawn] = drawn_boards(self.work.abstraction, TURN, SEED, BOARDS)
        self._read = {
            c: stored_matrices(folder / "solved", TURN, c).astype(np.float64)
            for c in range(self.work.n_board_buckets[TURN])
        }
        self.lines = Lines(self.game.betting, 0.0)
        self.share = bucket_shares(self.game, lambda t, c: self._drawn[c])

    @property
    def chunks(self) -> list[tuple[int, int]]:
        """All chunks of the turn, each as (board bucket, number of the betting line that leads to the turn)."""
        return [(c, r) for c in self._read for r in range(self.work.shape(TURN)[0])]

    def plain(self, t: int, board_bucket: int, r: int) -> Floats:
        """Return the payoff matrix in chips of the chunk of a board bucket and line r if nobody bets any more."""
        return self.lines.stake(t, r) * self.share(t, board_bucket)

    def stored(self, t: int, board_bucket: int, r: int) -> Floats:
        """Return the payoff matrix of the chunk of a board bucket and line r that the solve has stored, in chips."""
        return self._read[board_bucket][r]

    def estimates(self, share: float) -> tuple[dict[str, Matrices], set[tuple[int, int]]]:
        """Make estimated payoff matrices for the case that only a random share of the matrices is stored.

        Returns:
            Functions that return payoff matrices, by the name of the estimate, and the chunks that count as stored.
        """
        rng = np.random.default_rng(SEED)
        known = {chunk for chunk in self.chunks if rng.random() < share}

        def some(t: int, board_bucket: int, r: int) -> Floats | None:
            return self.stored(t, board_bucket, r) if (board_bucket, r) in known else None

        closest = ClosestLine(self.lines, some, self.plain)
        regressed = Regression(self.lines, TURN, self.share).fit(sorted(known), some)
        found: dict[str, Matrices] = {
            "no more betting": self.plain,
            "closest line": closest,
            "regression": regressed,
        }
        return {name: _or_stored(some, one) for name, one in found.items()}, known


def bucket_shares(game: BucketGame, boards: Callable[[int, int], Drawn]) -> Callable[[int, int], Floats]:
    """Return a function that computes what player 0 wins, as a share of half the pot, if nobody bets any more.

    The function takes one of the last two rounds and a board bucket. It returns means over boards of the bucket,
    ``[row of player 0, row of player 1]``, between -1 and 1.
    """

    @lru_cache(SHARES_KEPT)
    def share(t: int, board_bucket: int) -> Floats:
        if t < game.n_rounds - 2:
            raise ValueError(f"round {t}: expected one of the last two rounds")
        total = joint = np.zeros(())
        for cards, times in boards(t, board_bucket):
            layout = game.board(t, cards).layout
            own, other = layout.hands(t, 0, 0), layout.hands(t, 0, 1)
            first, second = layout.board(t, 0).hands
            weight = row_matrices(own, other, first.weight, second.weight, layout.live.n_ids)[0]
            total, joint = total + times * weight * NoMoreBetting(layout).share(t, 0), joint + times * weight
        return per_pair(total, joint)

    return share


def _or_stored(some: Callable[[int, int, int], Floats | None], estimate: Matrices) -> Matrices:
    def of(t: int, board_bucket: int, r: int) -> Floats:
        found = some(t, board_bucket, r)
        return estimate(t, board_bucket, r) if found is None else found

    return of


def make(folder: Path) -> None:
    """Solve the small game into a folder, and store its payoff matrices."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small.game").write_text(GAME)
    (folder / "job.toml").write_text(JOB.format(folder=folder.resolve()))
    solved = folder / "solved"
    subprocess.run([sys.executable, "-m", "spewy", "solve", folder / "job.toml", "--out", solved], check=True)
    make_payoffs(solved, "flop", BOARDS, SEED, joblib.cpu_count())


def errors(folder: Path) -> None:
    """Print and save each estimate's root mean square error over the chunks that are not stored, in % of the pot."""
    game = Game(folder)
    out = []
    for share in SHARES:
        estimates, known = game.estimates(share)
        left_out = [chunk for chunk in game.chunks if chunk not in known]
        for name, estimate in estimates.items():
            begun = time.perf_counter()
            squares = []
            for board_bucket, r in left_out:
                pot = 2 * float(min(game.game.betting[TURN].chunks[r].nodes[0].put_in))
                gap = estimate(TURN, board_bucket, r) - game.stored(TURN, board_bucket, r)
                squares.append((np.mean((gap / pot) ** 2), np.mean(gap / pot)))
            mean, bias = np.mean(squares, axis=0)
            row = {
                "stored": share,
                "estimate": name,
                "error": 100 * float(np.sqrt(mean)),
                "bias": 100 * float(bias),
                "chunks": len(left_out),
                "ms": 1000 * (time.perf_counter() - begun) / len(left_out),
            }
            print(row, flush=True)
            out.append(row)
    _keep("errors", out)


def costs(folder: Path, flops: int) -> None:
    """Print and save the cost of solving flops with estimated payoffs at chance leaves, in % of the pot."""
    game = Game(folder)
    boards = [boards[0][0] for boards in drawn_boards(game.work.abstraction, FLOP, SEED + 1, 1)[:flops]]
    leaves: dict[str, tuple[float, Matrices]] = {"all stored": (1.0, game.stored)}
    for share in SHARES:
        for name, estimate in game.estimates(share)[0].items():
            if share == SHARES[0] or name != "no more betting":
                leaves[f"{name}, {share:.0%} stored"] = share, estimate
    leaves["no more betting, nothing stored"] = 0.0, game.plain
    found: dict[str, list[float]] = {name: [] for name in (*leaves, "the averages of the solve")}
    for cards in boards:
        for r in _lines(game):
            flop = Flop(game, cards, r)
            for name, (_, estimate) in leaves.items():
                found[name].append(flop.cost(flop.solved(estimate)))
            found["the averages of the solve"].append(flop.cost(flop.averages()))
            print(cards, r, {name: round(values[-1], 3) for name, values in found.items()}, flush=True)
            _keep("costs", _rows(found))


def _rows(found: dict[str, list[float]]) -> list[dict]:
    return [
        {"leaves": name, "cost": float(np.mean(values)), "stderr": _stderr(values), "chunks": len(values)}
        for name, values in found.items()
    ]


def _stderr(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _lines(game: Game) -> list[int]:
    """Return the numbers of three lines before the flop: limped, raised once, and raised twice."""
    lines = [chunk.line for chunk in game.game.betting[FLOP].chunks]
    return [lines.index(line) for line in ("cc/", "rc/", "rrc/")]


class Flop:
    """A flop after a betting line, with the ranges of the average strategies and a row for each hand."""

    def __init__(self, game: Game, cards: Sequence[int], r: int) -> None:
        self._game, self._r = game, r
        self._board: BucketBoard = game.game.board(FLOP, cards)
        layout, board_buckets = self._board.layout, self._board.buckets
        play_down = PlayDown(layout, lambda i, b, r: game.work.strategies(i, int(board_buckets[i][b]), r))
        both = play_down.ranges(FLOP, 0)
        first, second = both[0][r], both[1][r]
        self._ranges = first / first.max(), second / second.max()
        self.pot = 2.0 * min(layout.tree(FLOP, r).nodes[0].put_in)
        self._by_hand = _by_hand(layout, (FLOP,))
        whole = _by_hand(layout, (FLOP, TURN))
        whole = replace(whole, problem=replace(whole.problem, rows=(None,) * whole.problem.game.num_rounds))
        part = Subgames(whole).of(FLOP, 0, r)
        self._live: LiveGame = with_ranges(part.live, (self._ranges[0][None], self._ranges[1][None]))

    def solved(self, leaves: Matrices) -> tuple[Floats, Floats]:
        """Solve the flop with the payoff matrices that ``leaves`` returns for its chance leaves.

        Returns:
            Both players' strategies ``[slot, hand]``; a slot is one action of a decision.
        """
        layout, board_buckets = self._by_hand, self._board.buckets
        weighing = trembling(layout, FLOP, self._ranges)
        chunk = build_chunk(
            layout, FLOP, 0, self._r, weighing, lambda i, b, r: leaves(i, int(board_buckets[i][b]), r)[None]
        )
        regrets, sums = chunk.zeros(), chunk.zeros()
        iterate(chunk, variant("dcfr"), 0, ITERATIONS, regrets, sums)
        return normalise(chunk, sums)

    def averages(self) -> tuple[Floats, Floats]:
        """Return both players' average strategies ``[slot, hand]`` on this flop from the solve of the whole game.

        A slot is one action of a decision.
        """
        layout = self._board.layout
        found = self._game.work.strategies(FLOP, int(self._board.buckets[FLOP][0]), self._r)
        rows = layout.board(FLOP, 0).hands
        out = []
        for p in (0, 1):
            mine = np.empty_like(found[p])
            match(layout.tree(FLOP, self._r).forest.arrays, p, found[p], mine)
            out.append(mine[:, rows[p].row])
        return out[0], out[1]

    def cost(self, strategy: tuple[Floats, Floats]) -> float:
        """Return half the sum of what both players lose if they are locked to a flop strategy, in % of the pot."""
        first, second = (self._solve(self._locked(p, strategy)) for p in (0, 1))
        return 100 * (second - first) / 2 / self.pot

    def _locked(self, p: int, strategy: tuple[Floats, Floats]) -> LiveGame:
        a, locks = self._live.rounds[0].forest.arrays, []
        width = self._live.rounds[0].hands[p].row.shape[1]
        for n in np.flatnonzero(a.player == p).tolist():
            first, actions = int(a.slot[n]), int(a.n_actions[n])
            given = np.full((1, actions, width), 1 / actions)
            mine = strategy[p][first : first + actions]
            given[0, :, : mine.shape[1]] = mine / mine.sum(axis=0)
            locks.append(Lock(0, p, n, given))
        return replace(self._live, locks=tuple(locks))

    def _solve(self, game: LiveGame) -> float:
        """Solve a game, and return its value for player 0 in chips: the mean of the bounds from best responses."""
        solver = new_solver(game)
        try:
            solver.run(ITERATIONS)
            low, high = solver.exploitability().bracket or (0.0, 0.0)
        finally:
            solver.close()
        return (low + high) / 2


def _by_hand(layout: Layout, rounds: Sequence[int]) -> Layout:
    """Copy a game's `Layout`, with a row for each hand, not for each bucket, on the boards of the given rounds."""
    tables = []
    for t, table in enumerate(layout.boards):
        boards = table.boards
        if t in rounds:
            boards = tuple(
                replace(board, hands=(_each(board.hands[0]), _each(board.hands[1]))) for board in boards
            )
        tables.append(replace(table, boards=boards))
    return Layout(layout.problem, layout.betting, tables)


def _each(rows: BoardHands) -> BoardHands:
    n = len(rows.numbers)
    return replace(rows, row=np.arange(n, dtype=np.int16), n_rows=n)


def _keep(name: str, rows: list[dict]) -> None:
    found = json.loads(DATA.read_text()) if DATA.exists() else {}
    found[name] = rows
    DATA.write_text(json.dumps(found, indent=1) + "\n")


def tables(page: Path = PAGE) -> None:
    """Write the tables of the saved errors and costs into the page."""
    found, text = json.loads(DATA.read_text()), page.read_text()
    errors_rows = [
        f"| {row['stored']:.0%} | {row['estimate']} | {row['error']:.1f} | {row['bias']:+.1f} | {row['ms']:.1f} |"
        for row in found["errors"]
    ]
    cost_rows = [
        f"| {row['leaves']} | {row['cost']:.2f} ± {row['stderr']:.2f} |"
        for row in sorted(found["costs"], key=lambda row: row["cost"])
    ]
    heads = {
        "errors": "| stored | estimate | error, % of the pot | bias | ms for a matrix |\n|---|---|---|---|---|",
        "costs": "| leaves of the flop | cost, % of the pot |\n|---|---|",
    }
    for name, rows in (("errors", errors_rows), ("costs", cost_rows)):
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, rest = text.split(begin)
        text = before + begin + "\n\n" + "\n".join([heads[name], *rows]) + "\n\n" + end + rest.split(end)[1]
    page.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "step",
        choices=["make", "errors", "costs", "tables"],
        help="step of the study to run; the steps run in the listed order",
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("results/leaf-estimates"),
        help="folder of the solved game",
    )
    parser.add_argument(
        "--flops", type=int, default=6, help="number of flops to solve in the step costs (default 6)"
    )
    options = parser.parse_args()
    if options.step == "make":
        make(options.folder)
    elif options.step == "errors":
        errors(options.folder)
    elif options.step == "costs":
        costs(options.folder, options.flops)
    else:
        tables()


if __name__ == "__main__":
    as_command(main)
