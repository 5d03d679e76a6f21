"""Measures rules of regret matching that the engines do not have, in NumPy, on rivers.

    python -m benchmarks.studies.regret_rules [--spots deep-rivers] [--most 1500]

A line of the table has the geometric means, over all spots of a set (see `benchmarks.studies.schedules`), of the
iterations to 0.5, 0.1 and 0.02 % of the pot, measured every ten iterations and interpolated. Each rule is DCFR(a, b, g)
with one change:

- *predicted, w*: strategies follow the regrets plus w times the instantaneous regrets of the last iteration.
- *power*: frequencies are proportional to this power of the positive regrets.
- *gains*: positive instantaneous regrets are multiplied by this factor.
- *last*: exploitability is measured for the strategies of the last iteration, not for the averages.

Updates alternate between the players, as in the engines.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.schedules import TARGETS, crossing, jobs
from solvers.discount import retained
from solvers.game import LiveGame
from solvers.tree import DECISION, FOLD
from spewy.chunks.layout import Layout


@dataclass(frozen=True)
class Rule:
    """A rule of updates; the module's docstring explains the numbers."""

    a: float = 1.4
    b: float = 0.25
    g: float = 3.0
    predicted: float = 0.0
    power: float = 1.0
    gains: float = 1.0
    last: bool = False
    clip: bool = False
    ahead: float = 0.0

    @property
    def name(self) -> str:
        text = f"CFR+, averages by t^{self.g:g}" if self.clip else f"DCFR({self.a:g}, {self.b:g}, {self.g:g})"
        changes = [f"predicted, {self.predicted:.2g}"] if self.predicted else []
        changes += [f"power {self.power:g}"] if self.power != 1 else []
        changes += [f"gains × {self.gains:g}"] if self.gains != 1 else []
        changes += [f"ahead {self.ahead:g}"] if self.ahead else []
        return ", ".join([text, *changes, *(["last iterate"] if self.last else [])])


CFR_PLUS = Rule(a=inf, b=inf, g=2, clip=True)
PREDICTED = Rule(a=1.2, b=0.6, g=4, predicted=1 / 4)
RULES = [
    Rule(),
    replace(PREDICTED, predicted=0),
    PREDICTED,
    *(replace(CFR_PLUS, predicted=w) for w in (0, 1 / 3, 1)),
    *(Rule(power=power) for power in (0.8, 1.5)),
    Rule(gains=1.1),
    Rule(gains=1.1, power=1.5),
    Rule(last=True),
    replace(CFR_PLUS, predicted=1, last=True),
]
SPOTS = "deep-rivers", "random-rivers", "shallow", "polarised"


class River:
    """CFR by a `Rule` on a game of one round.

    Regrets and sums are per player ``[slot, hand]``. ``meets[q]`` and ``beats[q]``, both ``[hand of q, hand of
    the other player]``, say which hands share no card, and whether the other player's hand wins (1) or loses (-1).
    """

    def __init__(self, game: LiveGame, rule: Rule) -> None:
        self.rule, self.game = rule, game
        (self.round,) = game.rounds
        self.nodes = self.round.forest.arrays
        first, second = (hands.on(0, hands.n_rows) for hands in self.round.hands)
        shared = first.cards[:, None, :, None] == second.cards[None, :, None, :]
        meets = ~shared.any(axis=(2, 3))
        beats = np.sign(first.strength[:, None].astype(int) - second.strength[None]) * meets
        self.meets = meets.astype(np.float32), meets.T.astype(np.float32)
        self.beats = (-beats).astype(np.float32), beats.T.astype(np.float32)
        self.reach = [game.reach[p][0, : len(self.meets[p])].astype(np.float32) for p in (0, 1)]
        shapes = [(self.round.forest.n_slots[p], len(self.reach[p])) for p in (0, 1)]
        self.regrets, self.sums, self.moved = ([np.zeros(s, np.float32) for s in shapes] for _ in range(3))
        self.decisions = [
            [n for n in range(len(self.nodes.kind)) if self.nodes.player[n] == p] for p in (0, 1)
        ]
        self.iteration = 0

    def strategy(self, p: int, source: np.ndarray, power: float = 1.0) -> np.ndarray:
        """Player p's frequencies ``[slot, hand]``, proportional to a power of the positive part of ``source``."""
        out = np.maximum(source, 0) ** np.float32(power)
        for n in self.decisions[p]:
            part = out[self.slots(n)]
            total = part.sum(axis=0)
            part[:] = np.where(total > 1e-12, part / np.maximum(total, 1e-12), 1 / len(part))
        return out

    def current(self, p: int) -> np.ndarray:
        """Player p's strategy of the next update."""
        return self.strategy(p, self.regrets[p] + self.rule.predicted * self.moved[p], self.rule.power)

    def slots(self, n: int) -> slice:
        """The slots of a decision's actions."""
        return slice(self.nodes.slot[n], self.nodes.slot[n] + self.nodes.n_actions[n])

    def reached(self, q: int, strategy: np.ndarray) -> np.ndarray:
        """Player q's reach ``[sequence, hand]``."""
        out = np.empty((1 + len(strategy), len(self.reach[q])), np.float32)
        out[0] = self.reach[q]
        for n in self.decisions[q]:
            s = self.slots(n)
            out[1 + s.start : 1 + s.stop] = out[self.nodes.sequence[q, n]] * strategy[s]
        return out

    def leaves(self, p: int, reach: np.ndarray) -> np.ndarray:
        """Player p's values ``[node, hand]`` at folds and showdowns; ``reach[sequence, hand]`` is the opponent's."""
        x, sign = self.nodes, 1 - 2 * p
        opposing = reach[x.sequence[1 - p]]
        out = np.zeros((len(x.kind), len(self.reach[p])), np.float32)
        folds = x.kind == FOLD
        shown = ~folds & (x.kind != DECISION)
        out[folds] = (sign * x.stake[folds, None]).astype(np.float32) * (opposing[folds] @ self.meets[1 - p])
        out[shown] = x.stake[shown, None].astype(np.float32) * (opposing[shown] @ self.beats[1 - p])
        return out

    def update(self, p: int) -> None:
        """Update player p's regrets, and the opponent's sums, against the opponent's current strategy."""
        t, rule, q = self.iteration, self.rule, 1 - p
        reach = self.reached(q, self.current(q))
        self.sums[q] *= (t / (t + 1)) ** rule.g
        self.sums[q] += reach[1:]
        values, strategy = self.leaves(p, reach), self.current(p)
        factors = retained(float(t), rule.a), retained(float(t), rule.b)
        ahead = np.float32(rule.ahead / 2 / (rule.ahead + t + 1))
        for n in reversed(range(len(values))):
            if self.nodes.kind[n] == DECISION:
                children = self.children(values, n)
                if self.nodes.player[n] == q:
                    values[n] = children.sum(axis=0)
                    continue
                s = self.slots(n)
                values[n] = (children * strategy[s]).sum(axis=0)
                moved, regrets = children - values[n], self.regrets[p][s]
                self.moved[p][s] = moved = np.where(moved > 0, rule.gains * moved, moved)
                regrets *= np.where(regrets > 0, *np.float32(factors))
                regrets += moved
                if rule.clip:
                    np.maximum(regrets, 0, out=regrets)
                if ahead:
                    weights = np.maximum(regrets + rule.predicted * moved, 1e-12)
                    after = (weights * children).sum(axis=0) / weights.sum(axis=0)
                    values[n] += ahead * (after - values[n])

    def children(self, values: np.ndarray, n: int) -> np.ndarray:
        first = self.nodes.first_child[n]
        return values[first : first + self.nodes.n_actions[n]]

    def exploitability(self) -> float:
        """Exploitability in chips of the averages, or of the current strategies (`Rule.last`)."""
        total = 0.0
        for p in (0, 1):
            q = 1 - p
            played = self.current(q) if self.rule.last else self.strategy(q, self.sums[q])
            values = self.leaves(p, self.reached(q, played))
            for n in reversed(range(len(values))):
                if self.nodes.kind[n] == DECISION:
                    children = self.children(values, n)
                    values[n] = children.sum(axis=0) if self.nodes.player[n] == q else children.max(axis=0)
            total += float(self.reach[p].astype(float) @ values[0])
        return total / 2 / self.game.deal_weight

    def course(self, pot: float, most: int) -> Iterator[tuple[int, float]]:
        """Yield numbers of iterations and the exploitability in % of the pot, up to the smallest target."""
        while self.iteration < most:
            for _ in range(10):
                for p in (0, 1):
                    self.update(p)
                self.iteration += 1
            pct = 100 * self.exploitability() / pot
            yield self.iteration, pct
            if pct <= TARGETS[-1]:
                return


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spots", choices=SPOTS, default="deep-rivers", help="set of spots")
    parser.add_argument("--most", type=int, default=1500, help="largest number of iterations of each solve")
    options = parser.parse_args()
    chosen = {name: job for name, job in jobs(options.spots) if len(job.board) == 5}
    games = [(Layout.of(job.problem).live, job.spot.pot) for job in chosen.values()]
    print("| rule | 0.5 % | 0.1 % | 0.02 % | " + " | ".join(chosen) + " |")
    print("|" + "---|" * (4 + len(chosen)))
    for rule in RULES:
        needed = []
        for game, pot in games:
            iterations, pct = map(np.array, zip(*River(game, rule).course(pot, options.most), strict=True))
            needed.append([crossing(iterations, pct, target, options.most) for target in TARGETS])
        means = np.exp(np.log(needed).mean(axis=0))
        cells = [f"{x:.0f}" for x in (*means, *(spot[1] for spot in needed))]
        print(f"| {rule.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    as_command(main)
