"""Compares stored, sampled, quick and exactly re-solved flops of a bot that re-solves turns, by exact best responses.

    python -m benchmarks.studies.sampled_flops [--games limit,no-limit] [--stored 300,3000] [--deals 100,300,1000,3000]
    python -m benchmarks.studies.sampled_flops --folder FOLDER --flops "Ks 9s 4d" --lines r250c/ [--menu lean]

The first command solves two small hold'em games with 15 cards, whose whole flops can be judged exactly; the second
judges a flop of a solved game of any size after some betting lines. The bot answers every decision of the flop from its
stored strategy, or re-solves the flop by sampling with a number of deals, with few bets on later rounds in a number of
iterations (quick), or exactly. With this strategy fixed on the flop, all turns are then solved with both ranges as
played, as the bot would re-solve them. A figure is half the sum of what both players' best responses from the flop on
win against this strategy of flop, turn and river, in % of the pot at the flop. It is a mean over the betting lines that
lead to the flop, weighted by how often the bot's strategy takes each line.
"""

import argparse
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.gadgets import GAME, JOB
from buckets.cards import cards_name, parse_cards
from solvers.tree import Floats
from spewy import Job, solve
from spewy.bot.agent import LockerBot, bot_of
from spewy.bot.options import Options
from spewy.bot.resolving.builder import Root, SubgameBuilder, add_chips, live_game, new_solver
from spewy.bot.resolving.resolve import Limits, resolve_round
from spewy.bot.resolving.sampled import sample
from spewy.bot.resolving.translation import translate_subgame
from spewy.chunks.rounds import line_forests
from spewy.game.betting import parse_line
from spewy.game.hand import Hand
from spewy.game.tree import BettingTree
from spewy.records.policy import Stacked

BETS = {"bet": "100%, a", "raise": "a"}
NO_LIMIT = GAME.replace("\nlimit", "\nnolimit\nstack = 200 200").replace("raiseSize = 10 10 20 20\n", "")
GAMES = {
    "limit": (GAME, {}),
    "no-limit": (
        NO_LIMIT.replace("maxRaises = 2 1 2 2\n", ""),
        {"bets": {"preflop": {"raise": "100%, a"}, "flop": BETS, "turn": BETS, "river": BETS}},
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games",
        default=",".join(GAMES),
        help="names of the small games to measure, with commas between them",
    )
    parser.add_argument(
        "--stored",
        default="300,3000",
        help="numbers of deals with which the stored strategies are solved, with commas between them",
    )
    parser.add_argument(
        "--deals",
        default="100,300,1000,3000",
        help="numbers of deals with which a flop is re-solved by sampling, with commas between them",
    )
    parser.add_argument(
        "--iterations",
        type=int,
        default=100,
        help="number of iterations of each exact solve of turns and rivers",
    )
    parser.add_argument(
        "--quick",
        default="30,100",
        help="numbers of iterations with which a flop is re-solved with few bets later, with commas between them",
    )
    parser.add_argument(
        "--flops",
        default="Td Th Ts,Td Qh Qs",
        help="flops to measure, such as 'Td Th Ts,Td Qh Qs', with commas between them",
    )
    parser.add_argument("--folder", help="folder of a solved whole game, in place of the small games")
    parser.add_argument(
        "--lines", help="betting lines that lead to the flop, such as r250c/, with commas between them"
    )
    parser.add_argument(
        "--menu",
        default="job",
        help="bet sizes of re-solves and best responses: all-in, lean or job (`spewy.bot.resolving.builder`)",
    )
    parser.add_argument("--threads", type=int, default=1, help="number of threads of the exact solves")
    args = parser.parse_args()
    deals, quick = ([int(part) for part in each.split(",")] for each in (args.deals, args.quick))
    ways = (*(f"{n:,} deals" for n in deals), *(f"quick, {n}" for n in quick), "exact")
    print(f"| stored strategy | flop | stored | {' | '.join(ways)} |")
    print("|---|---|---|" + "---|" * len(ways))
    with tempfile.TemporaryDirectory(prefix="spewy-") as temporary:
        folders = {args.folder: Path(args.folder)} if args.folder else {}
        for game in [] if args.folder else args.games.split(","):
            for n in args.stored.split(","):
                folders[f"{game}, {int(n):,} deals"] = solved(Path(temporary), game, int(n))
        for name, folder in folders.items():
            for flop in args.flops.split(","):
                board = tuple(sorted(parse_cards(flop.strip())))
                print(
                    f"| {name} | {cards_name(board)} | {' | '.join(row(folder, board, deals, quick, args))} |",
                    flush=True,
                )


def solved(temporary: Path, game: str, deals: int) -> Path:
    """Solve a small game for a number of deals; return the folder."""
    file, folder = temporary / f"{game}.game", temporary / f"{game}-{deals}"
    text, bets = GAMES[game]
    file.write_text(text)
    limits = {"target": "0 mbb", "max_sweeps": deals}
    solve(Job.of({**JOB, **bets, "game": {"file": str(file)}, "solve": limits}), folder)
    return folder


def row(
    folder: Path, flop: tuple[int, ...], deals: list[int], quick: list[int], args: argparse.Namespace
) -> list[str]:
    """Return the table cells of a flop: what best responses win from each strategy, in % of the pot.

    The strategies are the stored one, one sampled with each number of ``deals``, one with few bets later for each
    number of iterations in ``quick``, and the exact one.
    """
    figures, weights = [], []
    with bot_of(folder, Options("never")) as bot:
        judge = Judge(bot, SubgameBuilder(bot._blueprint.config, 1 << 34), flop, args)
        lines = line_forests(BettingTree(bot._blueprint.config))[1].lines
        for line in args.lines.split(",") if args.lines else lines:
            if Hand(parse_line(bot.game, line)).deal(flop).to_act is not None:
                figures.append(judge.losses(line, deals, quick))
                first, second = judge.ranges(line)
                weights.append(first.sum() * second.sum())
    return [f"{figure:.2f}" for figure in np.average(figures, axis=0, weights=weights)]


class Judge:
    """Computes what best responses win against a bot's strategies on one flop."""

    def __init__(self, bot: LockerBot, builder: SubgameBuilder, flop: tuple[int, ...], args: Any) -> None:
        self.bot, self.builder, self.flop, self.args = bot, builder, flop, args

    def ranges(self, line: str) -> tuple[Floats, Floats]:
        """Return both players' ranges ``[hand of the deck]`` at the flop after a betting line."""
        hand = Hand(parse_line(self.bot.game, line)).deal(self.flop)
        self.bot.new_hand(hand, 0, 0)
        return self.bot.ranges(hand)

    def losses(self, line: str, deals: list[int], quick: list[int]) -> list[float]:
        """Return what best responses win in % of the pot: from the stored, sampled, quick and exact strategies."""
        chips, blueprint = parse_line(self.bot.game, line).spent[0], self.bot._blueprint
        stack = None if blueprint.smallest_stack is None else blueprint.smallest_stack - chips
        root, ranges = Root(1, chips, stack, menu=self.args.menu), self.ranges(line)
        assert blueprint.abstraction is not None

        def read(lines: list[str], board: tuple[int, ...]) -> Stacked:
            return blueprint.strategies([line + add_chips(each, chips) for each in lines], board)

        stored = translate_subgame(self.builder, root, replace(root, menu="job"), read)
        decisions = [each for player in (0, 1) for each in self.builder.decisions(root, 0, player)[0]]
        everyone = np.arange(self.builder.n_hands)
        flops = [{each: stored([each], self.flop).of(everyone) for each in decisions}]
        for n in deals:
            solution = sample(self.builder, blueprint.abstraction, root, self.flop, ranges, 7, Limits(n))
            flops.append({each: solution.frequencies(each, self.flop) for each in decisions})
        few = replace(root, few_bets=True)
        for n in quick:
            limits = Limits(n, threads=self.args.threads)
            known = resolve_round(self.builder, few, self.flop, ranges, limits)
            flops.append({each: known.frequencies(each, self.flop) for each in decisions})
        return [100 * self.loss(root, ranges, flop) / root.pot for flop in (*flops, {})]

    def loss(self, root: Root, ranges: tuple[Floats, Floats], flop: dict[str, Floats]) -> float:
        """Solve turns and rivers with the flop locked to a strategy, and return what best responses win.

        Args:
            root: the root of the subgame, at the beginning of the flop.
            ranges: both players' ranges.
            flop: frequencies at each decision of the flop, by betting line; empty: the flop is solved, too.

        Returns:
            Half the sum of both players' best-response values per deal, in chips.
        """
        layout = self.builder.layout(root, self.flop)
        free, sums = live_game(layout, ranges), {}
        with closing(new_solver(live_game(layout, ranges, flop), self.args.threads)) as solver:
            solver.run(self.args.iterations)
            sums = {key: solver.read("sums", *key) for key in layout.every_board()}
        for line, frequencies in flop.items():
            decision = self.builder.decision(root, line)
            assert decision is not None
            _, first, node = decision
            hands = layout.board(0, 0).hands[node.player].numbers
            sums[0, 0][node.player][first : first + len(node.actions), : len(hands)] = frequencies[:, hands]
        with closing(new_solver(free, self.args.threads)) as solver:
            for key, both in sums.items():
                solver.write("sums", *key, both)
            best = [solver.best_values(p) for p in (0, 1)]
        won = sum(float(free.reach[p][0, : len(best[p])] @ best[p]) for p in (0, 1))
        return won / 2 / free.deal_weight


if __name__ == "__main__":
    as_command(main)
