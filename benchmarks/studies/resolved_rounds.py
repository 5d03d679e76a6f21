"""The effect of re-solving on a whole game's strategy: the win of a best response from a round on.

    python -m benchmarks.studies.resolved_rounds FOLDER [--from river|turn] [--hands 400] [--seed 0]
                                                 [--iterations 100] [--safe HOW] [--json]
    python -m benchmarks.studies.resolved_rounds FOLDER --few 1,3,6,12,30 [--from river|turn] [--bet 150]
                                                 [--hands 40] [--seed 0] [--json]

Hands are dealt and played by the locker against itself until the round begins. There the public state is judged in the
real game: each hand of either player responds as well as it can, from there on, to what the other plays, on all
boards that can follow and with exact card removal; both ranges are those that the locker plays down to. Half of the
sum of both gains, 0 for hands that end before, is the figure of one hand; its mean over hands is what exploitability
loses from that round on, in mbb per hand, to somebody who plays like the locker until then. That is a part of the
exploitability, not a bound on it; but it is exact for the sampled states and unbiased over them, and the same states
are judged for every way to play, so that differences are known better than each figure. Unsafe re-solving is made for
just these ranges, and looks its best here; against others it may lose, which safe re-solving does not.

Ways: the locker alone; each river re-solved as at the table; with ``--from turn`` also each turn, to the end of the
hand. To judge rivers below one turn of limit hold'em, 432 of them are re-solved.

With ``--few`` ways are the subgame that begins with the round, solved in so many iterations that begin with nothing or
with what the locker plays, and whatever that is worth: at the table the locker is played where it is better. With
``--bet`` the subgame has one more bet at its root, of so many per cent of the pot or all-in, which the locker's tree
lacks, and "locker" is what it plays with such bets taken for others.
"""

import argparse
import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import get_args

import numpy as np

from solvers.resolve import Gadget
from spewy import open_policy
from spewy.bot.agent import LockerBot
from spewy.bot.blueprint import Blueprint
from spewy.bot.options import Options
from spewy.bot.resolving.builder import PlayerStrategy, Root, SubgameBuilder, add_chips, live_game
from spewy.bot.resolving.resolve import Limits, best_responses, resolve
from spewy.bot.resolving.translation import translate_subgame
from spewy.game.hand import Hand
from spewy.records.policy import Stacked

Pair = tuple[np.ndarray, np.ndarray]
"""A number for each hand of both players, ``[hand of the deck]``."""
LAST = {"river": 1, "turn": 2}
"""How many rounds are left where the judge begins."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="folder of a whole game that is solved with [boards]")
    parser.add_argument("--from", dest="start", choices=LAST, default="river")
    parser.add_argument("--hands", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=Options.iterations, help="iterations of a solve")
    parser.add_argument("--safe", choices=get_args(Gadget), help="re-solve with this gadget, too")
    parser.add_argument("--few", type=lambda text: [int(part) for part in text.split(",")], default=[])
    parser.add_argument("--bet", type=int, help="per cent of the pot, at the root beside the tree's bets")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.bet and not options.few:
        parser.error("--bet: expected --few beside it")
    with open_policy(options.folder) as policy:
        if options.bet and policy.problem.game.limit:
            parser.error("--bet: expected a no-limit game, found a limit game")
        judge = Judge(SubgameBuilder(policy.problem.tree.config), LAST[options.start], options.bet)
        bots = {
            name: LockerBot(policy, how)
            for name, how in ways(options.start, options.iterations, options.safe)[
                : 1 if options.few else None
            ]
        }
        gains: dict[str, Callable[[Hand, int], float]] = {
            name: partial(judge.gain, bot) for name, bot in bots.items()
        }
        if options.bet:
            gains["locker"] = partial(judge.taken_gain, bots["locker"], Blueprint(policy))
        for few, warm in product(options.few, (False, True)):
            name = f"{few} iterations, begun with {'the locker' if warm else 'nothing'}"
            gains[name] = partial(judge.solved_gain, bots["locker"], Blueprint(policy), few, warm)
        found = {name: [] for name in gains}
        seconds = dict.fromkeys(gains, 0.0)
        for n in range(options.hands):
            state = judge.reached(bots["locker"], options.seed + n)
            for name, gain in gains.items():
                started = time.perf_counter()
                found[name].append(0.0 if state is None else gain(state, options.seed + n))
                seconds[name] += time.perf_counter() - started
    tell(found, seconds, options)


def ways(start: str, iterations: int, safe: Gadget | None) -> list[tuple[str, Options]]:
    """The ways to play that are compared, by name."""
    locker = Options(resolve="never", iterations=iterations, seconds=None)
    out = [("locker", locker)]
    for rounds in range(1, LAST[start] + 1):
        name = "rivers re-solved" if rounds == 1 else "turns and rivers re-solved"
        again = replace(locker, resolve="always", rounds=rounds)
        out.append((name, again))
        if safe:
            out.append((f"{name}, {safe}", replace(again, safe=safe)))
    return out


class Judge:
    """Plays hands to the beginning of a round, and judges what is played from there on."""

    def __init__(self, games: SubgameBuilder, left: int, bet: int | None = None) -> None:
        self.games, self.game, self.bet = games, games.game, bet
        self.round = self.game.num_rounds - left

    def reached(self, bot: LockerBot, seed: int) -> Hand | None:
        """The state where the round begins in a hand that a bot plays against itself; None: it ends before."""
        rng = random.Random(seed)
        cards = rng.sample(self.game.deck.cards, 2 * self.game.num_hole_cards + self.game.board_sizes[-1])
        n = self.game.num_hole_cards
        hand = Hand.start(self.game, (tuple(cards[:n]), tuple(cards[n : 2 * n])))
        coming = cards[2 * n :]
        bot.new_hand(hand, 0, seed)
        while hand.to_deal or not (hand.is_over or hand.betting.round == self.round):
            if hand.to_deal:
                hand, coming = hand.deal(coming[: hand.to_deal]), coming[hand.to_deal :]
            else:
                hand = hand.apply(bot.act(hand))
        return None if hand.is_over else Hand(hand.betting, board=hand.board)

    def gain(self, bot: LockerBot, state: Hand, seed: int) -> float:
        """Half of what best responses of both win from a state on, in mbb per hand that comes here."""
        bot.new_hand(state, 0, seed)
        root, ranges = self.root(state), bot.ranges(state)

        def plays(lines: list[str], board: tuple[int, ...]) -> Stacked:
            hands = (going_on(state, add_chips(line, root.put_in_before), board) for line in lines)
            return Stacked.by_hand(np.concatenate([bot.answer(hand).frequencies for hand in hands]))

        def best(p: int) -> np.ndarray:
            return best_responses(self.games, root, state.board, 1 - p, ranges[1 - p], plays)

        return self.lost(state, ranges, (best(0), best(1)))

    def solved_gain(
        self, locker: LockerBot, blueprint: Blueprint, few: int, warm: bool, state: Hand, seed: int
    ) -> float:
        """Measure a subgame that is re-solved in a few iterations."""
        locker.new_hand(state, 0, seed)
        ranges, plays = locker.ranges(state), self.stored(blueprint, state)
        begin = (plays, plays) if warm else None
        solved = resolve(self.games, self.root(state), state.board, ranges, Limits(few), begin)
        return self.lost(state, ranges, (solved.best_values(0), solved.best_values(1)))

    def taken_gain(self, locker: LockerBot, blueprint: Blueprint, state: Hand, seed: int) -> float:
        """Measure the stored strategy with an extra bet, which it translates to a bet of its tree."""
        locker.new_hand(state, 0, seed)
        root, ranges, plays = self.root(state), locker.ranges(state), self.stored(blueprint, state)

        def best(p: int) -> np.ndarray:
            return best_responses(self.games, root, state.board, 1 - p, ranges[1 - p], plays)

        return self.lost(state, ranges, (best(0), best(1)))

    def stored(self, blueprint: Blueprint, state: Hand) -> PlayerStrategy:
        """Return the stored strategy of the subgame that begins at a state; an added bet is translated."""
        root, begun = self.root(state), state.betting.line

        def plays(lines: list[str], board: tuple[int, ...]) -> Stacked:
            return blueprint.strategies(
                [begun + add_chips(line, root.put_in_before) for line in lines], board
            )

        return (
            translate_subgame(self.games, root, replace(root, extra_bets=()), plays)
            if root.extra_bets
            else plays
        )

    def root(self, state: Hand) -> Root:
        """The subgame that begins at a state."""
        base, least = max(state.betting.spent), min(self.game.stacks or (0,))
        stack = least - base if least else None
        if not self.bet or stack == 0:
            return Root(self.round, base, stack)
        total = max(round(2 * base * self.bet / 100), self.game.big_blind)
        return Root(
            self.round, base, stack, extra_bets=(f"r{total if stack is None else min(total, stack)}",)
        )

    def lost(self, state: Hand, ranges: Pair, best: Pair) -> float:
        """Half of what best responses make of a state, in mbb per hand that comes here."""
        layout = self.games.layout(self.root(state), state.board)
        both, total = live_game(layout, ranges), 0.0
        for p in (0, 1):
            hands = layout.board(0, 0).hands[p].numbers
            total += float(both.reach[p][0, : len(hands)] @ best[p][hands])
        return 500 * total / both.deal_weight / self.game.big_blind


def going_on(state: Hand, line: str, board: tuple[int, ...]) -> Hand:
    """The hand after a line from a state, on a board."""
    hand = state
    for token in re.findall(r"[fc]|r\d*", line):
        if hand.to_deal:
            hand = hand.deal(board[len(hand.board) :][: hand.to_deal])
        hand = hand.apply(token)
    return hand.deal(board[len(hand.board) :][: hand.to_deal]) if hand.to_deal else hand


def tell(found: dict[str, list[float]], seconds: dict[str, float], options: argparse.Namespace) -> None:
    """Print what was found, each with its 95 % interval, and the difference to the locker alone."""
    alone = np.array(found["locker"])
    rows = []
    for name, gains in found.items():
        mine = np.array(gains)
        rows.append((name, *mean(mine), *mean(alone - mine), seconds[name] / max(1, np.count_nonzero(mine))))
    if options.json:
        names = ("way", "mbb", "mbb_interval", "saved", "saved_interval", "seconds_per_state")
        print(json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
        return
    reached = np.count_nonzero(alone)
    print(f"from the {options.start} on: {len(alone)} hands, {reached} come there")
    print("| way | mbb per hand | less than the locker | s per state |")
    print("|---|---|---|---|")
    for name, mbb, about, saved, within, each in rows:
        print(f"| {name} | {mbb:.1f} ± {about:.1f} | {saved:.1f} ± {within:.1f} | {each:.2f} |")


def mean(numbers: np.ndarray) -> tuple[float, float]:
    """The mean, and half of its 95 % interval."""
    return float(numbers.mean()), 1.96 * float(numbers.std(ddof=1)) / len(numbers) ** 0.5


if __name__ == "__main__":
    main()
