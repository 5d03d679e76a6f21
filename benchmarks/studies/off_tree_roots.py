"""Compares answers to a bet that the tree of a subgame lacks: subgames that begin at different roots.

    python -m benchmarks.studies.off_tree_roots FOLDER [--turns 8] [--bet 40] [--iterations 300]
                                              [--threads 1] [--seed 1]

The stored strategy of the no-limit game in FOLDER plays hands against itself. Each turn that it reaches is solved with
all hands and few bet sizes (the menu ``lean``): the *first solve*. The first player then makes a bet that the tree of
the first solve lacks (--bet, in % of the pot), either by a raise after its check and the second player's bet
("raise"), or, with the seats exchanged, by a bet after the first player's check ("bet"). The other player, the bot,
answers the bet in one of these ways:

- translated: the bot solves nothing, and takes the bet for the likelier of its two neighbours in the tree;
- at the bet: the bot solves a subgame that begins at the decision at which the bet is made, with the ranges that both
  players have there if they play the first solve;
- free: the bot solves the round again from its beginning, with the bet added;
- kept: the bot solves the round as in "free", but its decisions before the bet are locked to the first solve.

The figure is what the opponent gains by the surprise, in % of the pot: what a best response from the beginning of the
turn on wins from the bot in the tree with the bet, minus what it wins from a bot whose first solve had the bet (which
plays all decisions of the free solve).
"""

import argparse
from dataclasses import replace

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.resolved_rounds import Judge
from spewy import open_policy
from spewy.bot.agent import LockerBot
from spewy.bot.options import Options
from spewy.bot.resolving.builder import PlayerStrategy, Root, SubgameBuilder, live_game
from spewy.bot.resolving.resolve import Limits, Resolved, best_responses, resolve
from spewy.bot.resolving.translation import translate_subgame
from spewy.game.hand import Hand
from spewy.records.policy import Stacked

WAYS = ("translated", "at the bet", "free", "kept")


class Roots:
    """Solves a turn, and measures what each answer of a bot loses to a bet that the turn's tree lacks.

    Args:
        builder: builds the trees of subgames.
        limits: iterations and threads of each solve.
        size: size of the bet as a share of the pot.
    """

    def __init__(self, builder: SubgameBuilder, limits: Limits, size: float) -> None:
        self.builder, self.limits, self.size = builder, limits, size

    def lost(self, state: Hand, ranges: tuple[np.ndarray, np.ndarray], raises: bool) -> dict[str, float]:
        """Return what the opponent gains by the surprising bet against each answer of the bot, in % of the pot.

        Args:
            state: the state at the beginning of a turn.
            ranges: both players' ranges there, ``[hand of the deck]``.
            raises: whether the bet is a raise after check and bet, instead of a bet after a check.

        Returns:
            The gain for each answer ("translated", "at the bet", "free", "kept"), compared with a bot whose tree had
            the bet from the start.
        """
        builder, board, least = self.builder, state.board, min(state.game.stacks or (0,))
        put_in = max(state.betting.spent)
        root = Root(state.betting.round, put_in, least - put_in, menu="lean")
        first = resolve(builder, root, board, ranges, self.limits)
        path, total = ("c",), round(2 * put_in * self.size)
        if raises:
            bet = 2 * put_in  # the pot, which the lean menu has
            path, total = ("c", f"r{bet}"), bet + round(2 * (put_in + bet) * self.size)
        wide = builder.fitting(root, (*path, f"r{max(total, state.game.big_blind)}"), "lean", None)
        (line,) = wide.extra_bets
        bettor, before = len(path) % 2, "".join(path)
        bot = 1 - bettor
        free = resolve(builder, wide, board, ranges, self.limits)
        own = self._own(wide, path, bot)
        locked = {each: first.frequencies(each, board) for each in own}
        kept = resolve(builder, wide, board, ranges, self.limits, kept=locked)
        entering = self._played(ranges, first, root, path, board)
        late = replace(root, actions=path, extra_bets=(line[len(before) :],))
        at = resolve(builder, late, board, entering, self.limits)
        taken = translate_subgame(builder, wide, root, _plays(first))
        answers = {"at the bet": at, "free": free, "kept": kept}
        plays = {name: self._after(line, first, answer) for name, answer in answers.items()}
        plays["translated"] = taken
        best = float(self._wins(wide, board, bot, ranges, _plays(free)))
        return {
            name: 100 * (self._wins(wide, board, bot, ranges, plays[name]) - best) / root.pot for name in WAYS
        }

    def _own(self, root: Root, path: tuple[str, ...], player: int) -> list[str]:
        lines = ["".join(path[:n]) for n in range(len(path))]
        decisions = [(line, self.builder.decision(root, line)) for line in lines]
        return [line for line, found in decisions if found is not None and found[2].player == player]

    def _played(
        self,
        ranges: tuple[np.ndarray, np.ndarray],
        solved: Resolved,
        root: Root,
        path: tuple[str, ...],
        board,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both ranges after a path of actions: each range times the frequencies of its player's actions."""
        out = [*ranges]
        for n, action in enumerate(path):
            decision = self.builder.decision(root, "".join(path[:n]))
            assert decision is not None
            node = decision[2]
            number = [each.acpc for each in node.actions].index(action)
            out[node.player] = out[node.player] * solved.frequencies("".join(path[:n]), board)[number]
        return out[0], out[1]

    def _after(self, line: str, first: Resolved, answer: Resolved) -> PlayerStrategy:
        """Combine two solves: ``answer`` plays after the bet that ends ``line``, ``first`` plays elsewhere.

        At decisions that ``first`` lacks, ``answer`` plays, too.
        """

        def plays(lines: list[str], board: tuple[int, ...]) -> Stacked:
            parts = [
                (answer if each.startswith(line) or each == line else first).frequencies(each, board)
                if each.startswith(line) or self.builder.decision(first.root, each) is not None
                else answer.frequencies(each, board)
                for each in lines
            ]
            return Stacked.by_hand(np.concatenate(parts))

        return plays

    def _wins(self, root: Root, board, bot: int, ranges, plays: PlayerStrategy) -> float:
        """Return what a best response to the strategy ``plays`` of player ``bot`` wins per deal, in chips."""
        values = best_responses(self.builder, root, board, bot, ranges[bot], plays)
        layout = self.builder.layout(root, board)
        both = live_game(layout, ranges)
        hands = layout.board(0, 0).hands[1 - bot].numbers
        return float(both.reach[1 - bot][0, : len(hands)] @ values[hands]) / both.deal_weight


def _plays(solved: Resolved) -> PlayerStrategy:
    def plays(lines: list[str], board: tuple[int, ...]) -> Stacked:
        return Stacked.by_hand(np.concatenate([solved.frequencies(line, board) for line in lines]))

    return plays


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="folder of a solved no-limit game")
    parser.add_argument("--turns", type=int, default=8, help="number of turns to solve")
    parser.add_argument(
        "--bet", type=int, default=40, help="size of the bet that the tree lacks, in %% of the pot"
    )
    parser.add_argument("--iterations", type=int, default=300, help="number of iterations of each solve")
    parser.add_argument("--threads", type=int, default=1, help="number of threads of each solve")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the first dealt hand; later hands have the next seeds"
    )
    options = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = {}
    with open_policy(options.folder) as policy:
        builder = SubgameBuilder(policy.problem.tree.config)
        judge, bot = Judge(builder, 2), LockerBot(policy, Options(resolve="never", seconds=None))
        limits = Limits(options.iterations, threads=options.threads)
        roots, seed, turns = Roots(builder, limits, options.bet / 100), options.seed, 0
        while turns < options.turns:
            state, seed = judge.reached(bot, seed), seed + 1
            if state is None:
                continue
            turns += 1
            bot.new_hand(state, 0, seed)
            for name in ("bet", "raise"):
                for way, lost in roots.lost(state, bot.ranges(state), name == "raise").items():
                    found.setdefault((name, way), []).append(lost)
    print(f"best responses with a bet of {options.bet} % of the pot win, in % of the pot, {turns} turns")
    print("| the bet | " + " | ".join(WAYS) + " |")
    print("|---" * (len(WAYS) + 1) + "|")
    for name in ("bet", "raise"):
        means = [np.array(found[name, way]) for way in WAYS]
        cells = [f"{each.mean():.2f} ± {1.96 * each.std(ddof=1) / len(each) ** 0.5:.2f}" for each in means]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    as_command(main)
