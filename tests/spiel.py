"""Kuhn and Leduc in OpenSpiel: policies of whatever shows its decisions, and CFR+ over OpenSpiel's tree."""

import numpy as np
import pyspiel
from open_spiel.python.policy import TabularPolicy

from spewy.job.job import Job
from spewy.look.openspiel import spiel_policy


def tabular_policy(solution, name):
    """The game, and the stored average strategies as a policy of it, read node by node through the public view."""
    policy = spiel_policy(Job.of({"name": name, "game": {"file": name}}).betting_tree, solution.node)
    return policy.game, policy


class UnchunkedLeduc:
    """CFR+ over the whole tree of histories, one player and one betting round updated at a time.

    ``schedule`` lists (round, player) of one sweep: alternating CFR+ is [(both, 0), (both, 1)] with round None;
    the chunked solver's bottom-up sweep is [(1, 0), (1, 1), (0, 0), (0, 1)].
    """

    def __init__(self, schedule):
        self.schedule = schedule
        self.infosets, self.sets = {}, []  # name -> number; per number (player, round, actions)
        game = pyspiel.load_game("leduc_poker")
        self.root = self._grow(game.new_initial_state(), 0)
        self.regrets = [np.zeros(n) for _, _, n in self.sets]
        self.sums = [np.zeros(n) for _, _, n in self.sets]
        self.sweep_number = 0

    def _grow(self, state, round_number):
        if state.is_terminal():
            return ("end", state.returns()[0])
        if state.is_chance_node():
            deals = len(state.history()) >= 2
            children = [
                (p, self._grow(state.child(a), 1 if deals else 0)) for a, p in state.chance_outcomes()
            ]
            return ("chance", children)
        name, actions = state.information_state_string(), state.legal_actions()
        if name not in self.infosets:
            self.infosets[name] = len(self.sets)
            self.sets.append((state.current_player(), round_number, len(actions)))
        children = [self._grow(state.child(a), round_number) for a in actions]
        return ("play", self.infosets[name], state.current_player(), round_number, children)

    def sweep(self):
        self.sweep_number += 1
        t = self.sweep_number
        for round_number, player in self.schedule:
            strategy = [self._match(r) for r in self.regrets]
            instant = [np.zeros(n) for _, _, n in self.sets]
            reach = [None] * len(self.sets)
            self._walk(self.root, player, strategy, 1.0, 1.0, 1.0, instant, reach)
            for i, (p, r, _) in enumerate(self.sets):
                if round_number not in (None, r):
                    continue
                if p == player:
                    self.regrets[i] = np.maximum(self.regrets[i] + instant[i], 0)
                elif reach[i] is not None:
                    self.sums[i] = self.sums[i] * (t - 1) / t + reach[i] * strategy[i]

    def _match(self, regrets):
        positive = np.maximum(regrets, 0)
        total = positive.sum()
        return positive / total if total > 0 else np.full(len(regrets), 1 / len(regrets))

    def _walk(self, node, player, strategy, own, other, chance, instant, reach):
        """Value for ``player`` below a node; ``reach`` collects the opponent's own reach of its information sets."""
        if node[0] == "end":
            return node[1] if player == 0 else -node[1]
        if node[0] == "chance":
            return sum(
                p * self._walk(child, player, strategy, own, other, chance * p, instant, reach)
                for p, child in node[1]
            )
        _, i, mover, _, children = node
        sigma = strategy[i]
        if mover != player:
            reach[i] = other
            return sum(
                s * self._walk(child, player, strategy, own, other * s, chance, instant, reach)
                for s, child in zip(sigma, children, strict=True)
            )
        values = np.array(
            [
                self._walk(child, player, strategy, own * s, other, chance, instant, reach)
                for s, child in zip(sigma, children, strict=True)
            ]
        )
        value = sigma @ values
        instant[i] += other * chance * (values - value)
        return value

    def policy(self):
        game = pyspiel.load_game("leduc_poker")
        policy = TabularPolicy(game)
        for name, i in self.infosets.items():
            row = policy.action_probability_array[policy.state_lookup[name]]
            total = self.sums[i].sum()
            average = self.sums[i] / total if total > 0 else np.full(len(self.sums[i]), 1 / len(self.sums[i]))
            row[row > 0] = average
        return game, policy
