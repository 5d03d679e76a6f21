"""Compares features by which boards and hands are grouped in a whole game, and shares of CFR-BR, by exploitability.

    python -m benchmarks.studies.features [--ranks 5] [--deals 10000] [--seeds 3] [--data FILE] [--quick]
    python -m benchmarks.studies.features table

The game is limit hold'em with a small deck, whose exploitability can be measured on all flops within half a minute.
Each case is solved with the same number of deals and the same numbers of board buckets. All cases but those with 20
rows have 40 rows in a board bucket, so they need the same memory; the case without CFR-BR needs less, since it has no
rivals (best-responding opponents). The table has the processor time of the deals. A seed decides the deals and the
clusterings. Results are added to the data file at once, and results that the file has are not computed again.

A hand's *equity* against some opponents is how often it wins, with ties as half, if the board is completed at random.
*Ranges* are the opponent's ranges at the end of each betting line before the flop, in a short solve of the same game.
"""

import argparse
import json
import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from benchmarks.sampled_games import abstraction_spec, real_game, sampled_cfr, small_limit
from buckets.abstraction import Abstraction, AbstractionSpec, OutcomeClustering
from buckets.abstraction.abstraction import overlaps
from buckets.abstraction.build import N_POINTS, clustered_rows, feature_names
from buckets.abstraction.percentiles import Percentiles, start_kinds
from buckets.abstraction.spec import BY_BOARD, NO_ROW
from buckets.cards.boards import BoardMap, board_map
from buckets.cards.hands import hands
from buckets.kernels.strength import fill_strengths
from solvers.sampled.engine import SampledCfr
from solvers.sampled.numbers import inherit
from spewy import Job, open_policy, solve
from spewy.job.settings import Dealing
from spewy.run.sampled_plan import spec_of
from spewy.system.textfile import replace_text

DATA = ROOT / "docs/data/features.json"
Floats = NDArray[np.float32]
IN_ORDER = "outcomes in order"
CLUSTERS = 8
"""Number of clusters of the opponent's starting hands, as in Johanson et al. 2013."""
COARSE_DEALS = 2_000
"""Number of deals of the short solve whose ranges are features."""


class Case(NamedTuple):
    """Features of the hands and of the boards of a solve.

    Attributes:
        hands: features by which hands of flops and turns are grouped.
        river_hands: features by which hands of rivers are grouped; ``strength``: rows are intervals of strength.
        boards: features by which the boards of all rounds are grouped; ``outcomes in order``: turns and rivers are
            also grouped by the outcomes before their last card, as with the job key ``boards.remember = "order"``.
        coarse: share of the deals that are solved with a quarter of the board buckets, from which the rest starts;
            ``stages``: the solve begins with fewer board buckets as with the job key ``solve.coarse_to_fine``.
        rows: number of rows of each board bucket.
        cfr_br: share of the opponent's play that best-responds (CFR-BR).
    """

    hands: str = "outcomes"
    river_hands: str = "strength"
    boards: str = "outcomes"
    coarse: float | Literal["stages"] = 0.0
    rows: int = 40
    cfr_br: float = 0.5


CASES = (
    Case(),
    Case(hands="mean"),
    Case(hands="opponents"),
    Case(hands="ranges"),
    Case(hands="outcomes and ranges"),
    Case(river_hands="opponents"),
    Case(boards="opponents"),
    Case(boards="ranges"),
    Case(boards=IN_ORDER),
    Case(boards=IN_ORDER, coarse="stages"),
    Case(coarse=0.1),
    Case(coarse="stages"),
    Case(coarse="stages", cfr_br=0.25),
    Case(rows=20),
    Case(coarse="stages", rows=20),
    Case(river_hands="opponents", coarse="stages", rows=20),
    *(Case(cfr_br=share) for share in (0.0, 0.25, 0.75, 1.0)),
)
QUICK_CASES = (Case(hands="opponents"), Case(coarse="stages", rows=20))
BOARD_BUCKETS = (15, 30, 60)


@dataclass
class Game:
    """The small game, with what its features need.

    Attributes:
        ranks: number of ranks in the deck.
        job: the job of the game.
        spec: specification of the game's abstraction.
        percentiles: outcomes of all hands on all final boards.
        against: weights ``[set of opponents, hand]`` of the opponent's hands, for each name of features.
        known: cache: features of boards by name, and results of `equities` by boards and name of the opponents.
    """

    ranks: int
    job: Job
    spec: AbstractionSpec
    percentiles: Percentiles
    against: dict[str, Floats]
    known: dict[Any, Any]

    @classmethod
    def of(cls, ranks: int, deals: int) -> "Game":
        """Make the game with a number of ranks; ``deals`` are the deals of the short solve."""
        job = _job(ranks, deals)
        spec = abstraction_spec(job)
        finals = board_map(spec.deck, (spec.n_board,))
        percentiles = Percentiles.of(spec.deck, spec.hole, finals)
        game = cls(ranks, job, spec, percentiles, {}, {})
        kinds = start_kinds(spec.deck, spec.hole)
        game.against = {"all": np.ones((1, len(kinds)), dtype=np.float32)}
        game.against["opponents"] = game.clusters(kinds)
        game.against["ranges"] = entering(_job(ranks, min(deals, COARSE_DEALS)))
        return game

    def clusters(self, kinds: NDArray[np.int64]) -> Floats:
        """Cluster the starting hands ``kinds[hand]`` by outcomes into 8 sets: weights ``[set, hand]``."""
        tree_curves = self.percentiles.curves(np.empty((1, 0), dtype=np.int64), 50)[0]
        first = np.unique(kinds, return_index=True)[1]
        model = OutcomeClustering(CLUSTERS)
        labels = model.fit(tree_curves[first], sample_weight=np.bincount(kinds)).labels_
        return (labels[kinds] == np.arange(CLUSTERS)[:, None]).astype(np.float32)

    def equities(self, boards: NDArray[np.int64], opponents: str) -> Floats:
        """Compute the mean equities of all hands: ``[board, hand, set of opponents]``; nan: the board blocks the hand.

        Args:
            boards: ``[board, card]``.
            opponents: name of the sets of opponents.
        """
        key = (boards.tobytes(), opponents)
        if key not in self.known:
            self.known[key] = np.stack([self._equity(board, self.against[opponents]) for board in boards])
        return self.known[key]

    def _equity(self, board: NDArray[np.int64], against: Floats) -> Floats:
        """Compute equities ``[hand, set of opponents]`` on a board."""
        deck, all_hands = self.spec.deck, hands(self.spec.deck, self.spec.hole).astype(np.int64)
        left = [card for card in deck.cards if card not in board]
        more = list(combinations(left, self.spec.n_board - len(board)))
        finals = np.array([[*board, *cards] for cards in more], dtype=np.int64)
        strength = np.empty((len(finals), len(all_hands)), dtype=np.int32)
        fill_strengths(finals, all_hands, strength)
        apart = ~(all_hands[:, None, :, None] == all_hands[None, :, None, :]).any(axis=(2, 3))
        won = np.zeros((len(all_hands), len(against)))
        met = np.zeros_like(won)
        for row in strength:
            live = row >= 0
            pairs = apart & live[:, None] & live[None, :]
            score = (row[:, None] > row[None, :]) + np.float32(0.5) * (row[:, None] == row[None, :])
            won += (score * pairs).astype(np.float32) @ against.T
            met += pairs.astype(np.float32) @ against.T
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = won / met
        shares[met == 0] = 0.5  # no such opponent is possible
        shares[~(strength >= 0).any(axis=0)] = np.nan
        return shares.round(5).astype(np.float32)  # equal for hands that are equal up to suits

    def curves(self, boards: NDArray[np.int64], features: str, n_points: int) -> Floats:
        """Compute the features of all hands, of which at most ``n_points`` are outcomes: ``[board, hand, feature]``."""
        found = []
        if "outcomes" in features:
            n = min(n_points, self.percentiles.n_outcomes(boards.shape[1]))
            found.append(self.percentiles.curves(boards, n))
        if "mean" in features:
            found.append(self.percentiles.curves(boards, 1))
        found += [self.equities(boards, name) for name in ("opponents", "ranges") if name in features]
        # each kind of features has the same weight, whatever its number of points
        return np.concatenate([one / np.float32(np.sqrt(one.shape[2])) for one in found], axis=2)

    def board_features(self, table: BoardMap, features: str) -> Floats:
        """Compute features of boards, such as equities; ``features`` is their name: ``[board, feature]``.

        All features but outcomes are means over the possible hands of a starting hand, such as AKs; from each the mean
        over all boards is subtracted.
        """
        if features == "outcomes":
            (name,) = feature_names((table.boards.shape[1],))
            return np.asarray(self.known[name])
        kinds = start_kinds(self.spec.deck, self.spec.hole)
        by_hand = self.curves(table.boards, features.replace("outcomes", "mean"), 1)
        out = np.full((len(by_hand), kinds.max() + 1, by_hand.shape[2]), np.nan, dtype=np.float32)
        for kind in range(kinds.max() + 1):
            own = by_hand[:, kinds == kind]
            possible = ~np.isnan(own[:, :, 0]).all(axis=1)
            out[possible, kind] = np.nanmean(own[possible], axis=1)
        means = np.nanmean(out, axis=0)
        out = np.where(np.isnan(out), means, out) - means
        flat = (out * np.sqrt(np.bincount(kinds) / len(kinds))[None, :, None]).reshape(len(out), -1)
        if features.startswith("outcomes"):
            flat = np.concatenate([flat, self.board_features(table, "outcomes")], axis=1)
        return flat.astype(np.float32)

    def abstraction(self, case: Case, seed: int, dealing: Dealing) -> Abstraction:
        """Group boards and hands by a case's features into the numbers of board buckets and rows of ``dealing``."""
        in_order, outcomes = case.boards == IN_ORDER, case.boards in ("outcomes", IN_ORDER)
        spec = replace(spec_of(self.job.rules, dealing), seed=seed, remember="order" if in_order else False)
        cache = {name: self.known[name] for name in self.known if isinstance(name, str)}
        tables = {t: board_map(spec.deck, spec.groups(t)) for t in range(1, len(spec.board_sizes))}
        if not outcomes:
            for table in tables.values():
                (name,) = feature_names((table.boards.shape[1],))
                cache[name] = self.board_features(table, case.boards)
        built = Abstraction.build(spec, cache=cache)
        if outcomes:
            self.known |= cache
        arrays = dict(built.arrays)
        for t, table in tables.items():
            last = t == len(spec.board_sizes) - 1
            features = case.river_hands if last else case.hands
            if features in ("outcomes", "strength"):
                continue
            first, size = built.arrays["starts"][t][1:], len(table.boards)
            buckets = arrays["classes"][first[0] : first[0] + size]
            members = [np.flatnonzero(buckets == k) for k in range(buckets.max() + 1)]
            curves, n_rows = _Curves(self, features), dealing.rows[t]
            assert n_rows is not None  # the job has rows on all rounds
            with warnings.catch_warnings():  # only outcomes are sorted
                warnings.filterwarnings("ignore", "outcomes: expected each row sorted")
                rows = clustered_rows(curves, table.boards, table.counts, members, n_rows, N_POINTS, seed)
            end = len(arrays["rows"]) if last else first[1] + rows.size
            arrays["rows"] = np.concatenate([arrays["rows"][: first[1]], rows.ravel(), arrays["rows"][end:]])
            arrays["n_rows"] = arrays["n_rows"].copy()
            arrays["n_rows"][t] = rows[rows != NO_ROW].max() + 1
            if last:
                arrays["kinds"] = np.append(arrays["kinds"][:-1], BY_BOARD)
        return replace(built, arrays=arrays)


class _Curves:
    """Stands in for `Percentiles`, so that hands are clustered by the features with a given name."""

    def __init__(self, game: Game, features: str) -> None:
        self.game, self.features, self.grades = game, features, game.percentiles.grades

    def curves(self, boards: NDArray[np.int64], n_points: int) -> Floats:
        """Compute the features of all hands: ``[board, hand, feature]``."""
        return self.game.curves(boards, self.features, n_points)


def _job(ranks: int, deals: int, rows: int = Case().rows, *, coarse_to_fine: bool = False) -> Job:
    return small_limit(ranks, BOARD_BUCKETS, rows, deals, workers=1, coarse_to_fine=coarse_to_fine)


def entering(job: Job) -> Floats:
    """Return both players' ranges at the end of each betting line before the flop: weights ``[range, hand]``.

    The ranges come from a solve of the job.
    """
    out: list[NDArray[Any]] = []
    with tempfile.TemporaryDirectory(prefix="spewy-") as folder:
        solve(job, folder)
        with open_policy(folder) as policy:
            n = len(policy.problem.hands)

            def walk(line: str, reach: tuple[NDArray[Any], NDArray[Any]]) -> None:
                decision = policy.decision(line)
                for action, shares in zip(decision.actions, decision.frequencies, strict=True):
                    new = list(reach)
                    new[decision.player] = new[decision.player].copy()
                    new[decision.player][decision.hands] *= shares
                    child = policy.node(line).children[list(decision.actions).index(action)]
                    if child.kind == "chance":
                        out.extend(new)
                    elif child.kind == "decision":
                        walk(child.line, (new[0], new[1]))

            walk("", (np.ones(n), np.ones(n)))
    return np.array([one / one.max() for one in out if one.max() > 0], dtype=np.float32)


class Measured(NamedTuple):
    """A solve's result.

    Attributes:
        exploitability_mbb: exploitability on all flops, in mbb per hand.
        core_seconds: processor time of the deals, in seconds.
    """

    exploitability_mbb: float
    core_seconds: float


def measured(game: Game, case: Case, seed: int, deals: int) -> Measured:
    """Solve the game with a case's features, and measure the solve."""
    dealing = _job(game.ranks, deals, case.rows, coarse_to_fine=True).dealing
    assert dealing is not None  # a whole game
    stages = [dealing]
    if case.coarse == "stages":
        stages = [*dealing.stages(), dealing]
    elif case.coarse:
        quarter = tuple(None if k is None else k // 4 for k in dealing.board_buckets)
        stages = [replace(dealing, board_buckets=quarter, last_deal=int(case.coarse * deals)), dealing]
    last: tuple[Abstraction, SampledCfr] | None = None
    core_seconds = 0.0
    for stage in stages:
        made = game.abstraction(case, seed, stage)
        cfr = sampled_cfr(game.job, made, 1, cfr_br=case.cfr_br, seed=seed)
        if last is not None:
            inherit(cfr.batches, last[1].numbers, cfr.numbers, overlaps(last[0], made))
            cfr.iteration = last[1].iteration
        assert stage.last_deal is not None  # the job has a number of deals
        begun = time.process_time()
        cfr.run(stage.last_deal - cfr.iteration)
        core_seconds += time.process_time() - begun
        last = made, cfr
    finding = real_game(game.job, made, cfr).judge(None)
    assert finding is not None  # nobody stops it
    return Measured(finding.exploitability * 1000 / game.job.rules.big_blind, core_seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "command",
        nargs="?",
        choices=["measure", "table"],
        default="measure",
        help="measure the cases that the data file lacks, or only print its table",
    )
    parser.add_argument("--ranks", type=int, default=5, help="number of ranks in the deck")
    parser.add_argument("--deals", type=int, default=10_000, help="number of deals of each solve")
    parser.add_argument("--seeds", type=int, default=3, help="number of solves of each case")
    parser.add_argument("--data", type=Path, default=DATA, help="JSON file to which results are added")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run a short test: few deals of two cases; results are not saved",
    )
    args = parser.parse_args()
    found: list[dict[str, Any]] = json.loads(args.data.read_text()) if args.data.exists() else []
    cases, seeds = CASES, args.seeds
    if args.quick:
        found, cases, seeds, args.deals, args.ranks = [], QUICK_CASES, 1, 32, 4
    if args.command == "measure":
        game = Game.of(args.ranks, args.deals)
        for seed in range(seeds):
            for case in cases:
                key = {"ranks": args.ranks, "deals": args.deals, "seed": seed, **case._asdict()}
                if any(key.items() <= one.items() for one in found):
                    continue
                found.append(key | measured(game, case, seed, args.deals)._asdict())
                print(found[-1], flush=True)
                if not args.quick:
                    replace_text(args.data, json.dumps(found, indent=1) + "\n")
    print(table([one for one in found if (one["ranks"], one["deals"]) == (args.ranks, args.deals)]))


def table(found: list[dict[str, Any]]) -> str:
    """Format the results as a Markdown table: a line for each case, the seeds side by side."""
    out = [
        "| rows | hands of flop and turn | hands of the river | boards | coarse start | `cfr_br` "
        "| core-seconds | exploitability, mbb (mean; by seed) |",
        "|---" * 8 + "|",
    ]
    for case in CASES:
        own = [one for one in found if all(one[name] == value for name, value in case._asdict().items())]
        if own:
            values = [one["exploitability_mbb"] for one in own]
            by_seed = ", ".join(f"{value:.0f}" for value in values)
            coarse = (
                case.coarse if isinstance(case.coarse, str) else f"{case.coarse:.0%}" if case.coarse else "no"
            )
            seconds = np.mean([one["core_seconds"] for one in own])
            out.append(
                f"| {case.rows} | {case.hands} | {case.river_hands} | {case.boards} | {coarse} "
                f"| {case.cfr_br:g} | {seconds:.0f} | **{np.mean(values):.1f}** ({by_seed}) |"
            )
    return "\n".join(out)


if __name__ == "__main__":
    as_command(main)
