"""Play the blueprint's stored strategy at any betting, also after bets that the blueprint's tree lacks.

If the tree lacks a bet, the bet is translated into two bets of the tree, each with a probability
(`spewy.bot.bet_translation`). A bot that draws one of the two must not let the opponent know which. So the strategy is
the mixture over both draws: at each decision, a player's hand follows each line of the tree with the probability of its
draws, given the actions that the hand has taken since (H. W. Kuhn's equivalence of mixed and behaviour strategies). In
other words, each hand draws for itself, in secret.

The mixture has one flaw: weak hands call a large bet if they draw the smaller of both bets, and better hands fold if
they draw the larger one. So `best_hands_call` lets the best hands call, as often as the mixture calls on the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from solvers.tree import Floats
from spewy.bot.bet_translation import legal_actions, translations
from spewy.bot.blueprint import Blueprint
from spewy.bot.fallback import equities_of_all, passive_actions, pot_odds
from spewy.bot.options import Translation
from spewy.bot.public_state import Answer, PublicState, Step, StoredLine, merged_answer, mixed_answer
from spewy.bot.tally import Source
from spewy.game.betting import Betting
from spewy.game.nodes import Node

DIGITS = 6
"""Decimal digits by which `best_hands_call` compares hands."""


class StoredPlay:
    """Follows the lines of the blueprint's tree that stand for the betting of a hand, and plays the strategy there.

    Args:
        blueprint: the stored strategy.
        translation: how to translate bets that the tree lacks.
        seed: seed of the boards that pot odds sample.
    """

    def __init__(self, blueprint: Blueprint, translation: Translation, seed: int) -> None:
        self._blueprint, self._translation, self._seed = blueprint, translation, seed

    def node(self, state: PublicState) -> Node | None:
        """Return the decision of the tree at a state's most probable line; None if it has no decision."""
        return self._node(state, state.lines[0])

    def is_readable(self, state: PublicState) -> bool:
        """Whether the stored strategy at a state's most probable line can be read."""
        return self._stored(state)[0] is not None

    def actions(self, state: PublicState) -> tuple[str, ...]:
        """Return the legal ACPC actions that the stored strategy can take at a state."""
        actions = (action for line in state.lines for action in self._actions(state, line))
        return tuple(dict.fromkeys(actions))

    def answer(self, state: PublicState, range_of: Callable[[int], Floats]) -> Answer:
        """Return the stored strategy of the player to act; by pot odds on lines where nothing is stored.

        Args:
            state: the state.
            range_of: computes a player's range at the state, ``[hand of the deck]``.
        """
        player = state.hand.to_act
        assert player is not None
        stored, opponent = self._stored(state), 1 - player
        if all(strategy is None for strategy in stored):
            return Answer(passive_actions(state.hand), self._pot_odds(state, range_of(opponent)), "fallback")
        source: Source = "stored" if len(state.lines) == 1 and state.lines[0].exact else "translated"
        if stored[0] is None:
            source = "fallback"  # most probably
        weights = self.weights(state, player)
        answers, shares = [], []
        for line, strategy, weight in zip(state.lines, stored, weights, strict=True):
            if strategy is None and not weight.any():
                continue
            frequencies = self._pot_odds(state, range_of(opponent)) if strategy is None else strategy
            actions = passive_actions(state.hand) if strategy is None else self._actions(state, line)
            answers.append(merged_answer(actions, frequencies, source))
            shares.append(weight)
        mixed = answers[0] if len(answers) == 1 else mixed_answer(answers, shares, source)
        if len(answers) == 1 or "f" not in mixed.actions:
            return mixed
        equity = equities_of_all(state.hand, range_of(opponent), 0)  # the same for all hands: no draw to see
        return best_hands_call(mixed, range_of(player), equity)

    def weights(self, state: PublicState, player: int) -> Floats:
        """Return the probability that a player's hand follows each line of a state, ``[line, hand of the deck]``."""
        if player not in state.weights:
            state.weights[player] = self._weights(state, player)
        return state.weights[player]

    def after(self, above: PublicState, betting: Betting, action: str) -> tuple[StoredLine, ...]:
        """Follow an action in the blueprint's tree.

        Args:
            above: the state before the action.
            betting: the actual betting after the action.
            action: the action.

        Returns:
            The lines after the action, the most probable first.
        """
        found: dict[tuple[str | None, bool, bool], list[tuple[Step, float]]] = {}
        for number, line in enumerate(above.lines):
            for step, after in self._steps(above, number, line, betting, action):
                key = after.line, line.exact and after.exact, after.calls
                found.setdefault(key, []).append((step, line.probability * step.probability))
        lines = (
            StoredLine(line, exact, sum(often for _, often in steps), calls, tuple(step for step, _ in steps))
            for (line, exact, calls), steps in found.items()
        )
        return tuple(sorted(lines, key=lambda line: -line.probability))

    def _steps(
        self, above: PublicState, number: int, line: StoredLine, betting: Betting, action: str
    ) -> Iterator[tuple[Step, StoredLine]]:
        """Yield the steps from one line, and the line after each of them, without its probability."""
        node = self._node(above, line)
        if betting.to_act is None or node is None:
            following = self._blueprint.node(line.line) if line.calls and line.line is not None else None
            stays = following is not None and action == "c" and _is_at(following, betting)
            yield (
                Step(number, None, 1.0, made=action[0] != "r"),
                StoredLine(line.line if stays else None, exact=False),
            )
            return
        actions = legal_actions(node, above.betting)
        found = translations(action, actions, above.betting, self._translation)
        if not found:
            yield Step(number, None, 1.0), StoredLine(None, exact=False)
        for taken, probability in found:
            child = node.children[taken]
            following = child.children[0] if child.kind == "chance" else child
            made, decides = actions[taken] == action, following.kind == "decision"
            calls = (
                action[0] == "r" and actions[taken] == "c" and not (decides and _is_at(following, betting))
            )
            at = decides and (calls or _is_at(following, betting))
            yield (
                Step(number, taken, probability, made),
                StoredLine(following.line if at else None, made, calls=calls),
            )

    def _weights(self, state: PublicState, player: int) -> Floats:
        n_hands, above = len(self._blueprint.hands), state.above
        if len(state.lines) == 1 or above is None:
            return np.ones((1, n_hands))
        before = self.weights(above, player)
        if state.action is None:
            return before
        acts = above.hand.to_act == player
        made = acts and any(step.made for line in state.lines for step in line.steps)
        likely, out = np.zeros((2, len(state.lines), n_hands))
        for i, line in enumerate(state.lines):
            for step in line.steps:
                weight = before[step.above] * step.probability
                likely[i] += weight
                if acts and step.action is not None:
                    strategy = self._stored(above)[step.above]
                    weight = weight if strategy is None else weight * strategy[step.action]
                out[i] += weight * (step.made or not made)
        never = ~(out.sum(axis=0) > 0)  # the stored strategy never takes the action with these hands
        out[:, never] = likely[:, never]
        shares: Floats = out / out.sum(axis=0)
        return shares

    def _actions(self, state: PublicState, line: StoredLine) -> list[str]:
        """Return the legal action for each action of the strategy at a line."""
        if line.calls:
            return ["c"]
        node = self._node(state, line)
        return list(passive_actions(state.hand)) if node is None else legal_actions(node, state.betting)

    def _stored(self, state: PublicState) -> tuple[Floats | None, ...]:
        """Return the strategy at each line of a state, ``[action, hand of the deck]``; None where nothing is stored."""
        if state.stored is None:
            state.stored = tuple(
                np.ones((1, len(self._blueprint.hands)))
                if line.calls
                else self._blueprint.strategy_if_readable(line.line, state.hand.board)
                for line in state.lines
            )
        return state.stored

    def _node(self, state: PublicState, line: StoredLine) -> Node | None:
        if line.line is None or line.calls or state.hand.to_act is None:
            return None
        return self._blueprint.node(line.line)

    def _pot_odds(self, state: PublicState, opponent_range: Floats) -> Floats:
        return pot_odds(state.hand, opponent_range, self._seed)


def best_hands_call(answer: Answer, reach: Floats, equity: Floats) -> Answer:
    """Let the best hands of a range call, as often as the range calls on the whole; other hands fold.

    Hands are ordered by how often they call where they do not raise: calls / (calls + folds). Of hands that call
    equally often, the one with the larger equity is better. Raises stay as they are.

    Args:
        answer: a strategy with the actions "f" and "c".
        reach: the range, ``[hand of the deck]``; 0 for hands that the board blocks.
        equity: equity of each hand against the opponent's range, ``[hand of the deck]``.
    """
    fold, call = answer.actions.index("f"), answer.actions.index("c")
    rest = answer.frequencies[fold] + answer.frequencies[call]
    share = np.divide(answer.frequencies[call], rest, out=np.zeros_like(rest), where=rest > 0)
    _, quality = np.unique(np.stack([share, equity]).round(DIGITS), axis=1, return_inverse=True)
    weights = np.bincount(quality.ravel(), reach * rest)
    better = weights[::-1].cumsum()[::-1] - weights
    left = reach @ answer.frequencies[call] - better
    calls = np.clip(np.divide(left, weights, out=np.sign(left), where=weights > 0), 0.0, 1.0)[quality.ravel()]
    frequencies = answer.frequencies.copy()
    frequencies[call], frequencies[fold] = rest * calls, rest * (1 - calls)
    return replace(answer, frequencies=frequencies)


def _is_at(node: Node, betting: Betting) -> bool:
    """Whether a decision of the tree has the round and the player of an actual decision."""
    return (node.round, node.player) == (betting.round, betting.to_act)
