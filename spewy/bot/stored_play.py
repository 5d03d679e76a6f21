"""The public states of a hand, and what the blueprint's stored strategy plays at them.

The stored strategy is played at any betting, also after bets that the blueprint's tree lacks. If the tree lacks a bet,
the bet is translated into two bets of the tree, each with a probability (`spewy.bot.bet_translation`). A bot that draws
one of the two must not let the opponent know which. So the strategy is the mixture over both draws: at each decision, a
player's hand follows each line of the tree with the probability of its draws, given the actions that the hand has taken
since (H. W. Kuhn's equivalence of mixed and behaviour strategies). In other words, each hand draws for itself, in
secret.

The mixture has one flaw: weak hands call a large bet if they draw the smaller of both bets, and better hands fold if
they draw the larger one. So `best_hands_call` lets the best hands call, as often as the mixture calls on the whole.

Where no strategy is stored, pot odds decide: check, or call a bet if the hand's equity pays for the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from buckets.cards import blocked, equities, hands
from solvers.tree import Floats, Ints
from spewy.bot.bet_translation import legal_actions, translations
from spewy.bot.bot import Answer
from spewy.bot.options import Translation
from spewy.bot.resolving.subgame import Subgame
from spewy.bot.resolving.translation import Blueprint
from spewy.bot.tally import Source
from spewy.game.betting import Betting
from spewy.game.hand import Hand
from spewy.game.nodes import Node

DIGITS = 6
"""Decimal digits by which `best_hands_call` compares hands."""
BOARDS = 300
"""Number of final boards sampled to estimate an equity; with at most one card to come, all final boards are used."""


@dataclass(frozen=True)
class Step:
    """A step in the blueprint's tree: from a line before an action at the table to a line after the action.

    Attributes:
        above: index of the line before the action, in the `PublicState.lines` of the state before the action.
        action: index of the translated action at the decision of that line; None: the line has no decision.
        made: whether the line's decision has exactly the action that was made.
    """

    above: int
    action: int | None
    probability: float
    made: bool = False


@dataclass(frozen=True)
class StoredLine:
    """A line of the blueprint's tree that stands for the betting of a hand.

    Attributes:
        node: the decision at the line; None if the blueprint's tree has no decision here.
        exact: whether the line is the actual betting, without translated bets.
        probability: probability that all translations of the hand lead to this line.
        calls: whether the last bet was translated into a check or call that ends the round. Then the player to act
            calls, and ``node`` begins the next round.
        steps: for each line that stood for the betting before the last action, the step by which this action, perhaps
            translated, leads from it to this line.
    """

    node: Node | None
    exact: bool = True
    probability: float = 1.0
    calls: bool = False
    steps: tuple[Step, ...] = ()

    @property
    def decision(self) -> Node | None:
        """The decision of the blueprint's tree at the line; None if there is none, or if ``calls`` is true."""
        return None if self.calls else self.node


@dataclass(eq=False)
class PublicState:
    """A public state of the hand.

    Attributes:
        lines: the lines of this state in the betting tree of the blueprint (the stored strategy), the most probable
            first; several if a bet was translated into two bets.
        put_in_before: chips that each player had put in before the round.
        donk: whether the player who starts the round called the last bet of the previous round, so that a bet would be
            a donk bet.
        above: the previous public state; None at the start of the hand.
        action: the action that led to this state; None after cards, and at the start of the hand.
        subgame: the subgame that contains this state; None if no subgame does.
        ranges: cached range of each player, by player; a range is computed when it is needed.
        stored: cached stored strategy of the player to act at each of the lines; None: not read yet.
        weights: cached weights of the lines, by player (`StoredPlay.weights`).
    """

    hand: Hand
    lines: tuple[StoredLine, ...]
    put_in_before: int
    donk: bool = False
    above: PublicState | None = None
    action: str | None = None
    subgame: Subgame | None = None
    ranges: dict[int, Floats] = field(default_factory=dict)
    answer: Answer | None = None
    stored: tuple[Floats | None, ...] | None = None
    weights: dict[int, Floats] = field(default_factory=dict)

    @property
    def blueprint_line(self) -> str | None:
        """The most probable line of this state in the blueprint's tree; None if that line has no decision here."""
        decision = self.lines[0].decision
        return None if decision is None else decision.line

    @property
    def betting(self) -> Betting:
        return self.hand.betting

    @property
    def to_act(self) -> int:
        """The player to act, at a decision."""
        player = self.hand.to_act
        assert player is not None
        return player

    @property
    def is_solved_again(self) -> bool:
        """Whether the action that led here makes the bot solve the round again, from the beginning of the round."""
        is_new = self.above is not None and self.subgame not in (None, self.above.subgame)
        return is_new and self.action is not None and not self.begins_subgame

    @property
    def before(self) -> PublicState | None:
        """The earlier state from which the ranges at this state are computed; None at the start of the hand."""
        return self.round_start if self.is_solved_again else self.above

    @property
    def round_start(self) -> PublicState:
        """The state at which this state's betting round begins."""
        state = self
        while state.betting.rounds[-1]:
            assert state.above is not None
            state = state.above
        return state

    def path(self, root: PublicState) -> list[PublicState]:
        """List the states after an earlier state ``root``, up to and including this state."""
        out: list[PublicState] = []
        state = self
        while state is not root:
            out.append(state)
            assert state.above is not None
            state = state.above
        return out[::-1]

    @property
    def begins_subgame(self) -> bool:
        """Whether the subgame that contains this state also begins at this state."""
        return self.subgame is not None and self.subgame.betting is self.betting


def range_after_action(reach: Floats, frequencies: Floats, deck: Ints, board: Sequence[int]) -> Floats:
    """Multiply a range by the frequencies of an action, each ``[hand of the deck]``.

    The range stays as it is if no hand of the range takes the action.
    """
    out: Floats = reach * frequencies
    live = ~blocked(deck, board)
    return out if out[live].max(initial=0.0) > 0 else reach


def mixed_answer(answers: Sequence[Answer], weights: Sequence[Floats], source: Source) -> Answer:
    """Mix strategies of one decision, each with its own actions, by weights ``[hand of the deck]`` that add up to 1."""
    actions = [action for answer in answers for action in answer.actions]
    parts = [answer.frequencies * weight for answer, weight in zip(answers, weights, strict=True)]
    return merged_answer(actions, np.concatenate(parts), source)


def merged_answer(actions: Sequence[str], frequencies: Floats, source: Source) -> Answer:
    """Make an answer of actions that may occur twice, by adding ``frequencies`` ``[action, hand of the deck]``."""
    unique = tuple(dict.fromkeys(actions))
    out = np.zeros((len(unique), frequencies.shape[1]))
    for action, taken in zip(actions, frequencies, strict=True):
        out[unique.index(action)] += taken
    return Answer(unique, out, source)


class StoredPlay:
    """Follows the lines of the blueprint's tree that stand for the betting of a hand, and plays the strategy there.

    Args:
        seed: seed of the boards that pot odds sample.
    """

    def __init__(self, blueprint: Blueprint, translation: Translation, seed: int) -> None:
        self._blueprint, self._translation, self._seed = blueprint, translation, seed

    def node(self, state: PublicState) -> Node | None:
        """Return the decision of the tree at a state's most probable line; None if it has no decision."""
        return _decision(state, state.lines[0])

    def is_readable(self, state: PublicState) -> bool:
        """Whether the stored strategy at a state's most probable line can be read."""
        return self._stored(state)[0] is not None

    def actions(self, state: PublicState) -> tuple[str, ...]:
        """Return the legal ACPC actions that the stored strategy can take at a state."""
        actions = dict[str, None]()
        for line in state.lines:
            actions |= dict.fromkeys(self._actions(state, line))
        return tuple(actions)

    def answer(self, state: PublicState, range_of: Callable[[int], Floats]) -> Answer:
        """Return the stored strategy of the player to act; by pot odds on lines where nothing is stored.

        Args:
            range_of: computes a player's range at the state, ``[hand of the deck]``.
        """
        player, stored = state.to_act, self._stored(state)
        opponent = 1 - player
        if all(strategy is None for strategy in stored):
            return Answer(
                passive_actions(state.hand), pot_odds(state.hand, range_of(opponent), self._seed), "fallback"
            )
        source: Source = "stored" if len(state.lines) == 1 and state.lines[0].exact else "translated"
        if stored[0] is None:
            source = "fallback"  # most probably
        weights = self.weights(state, player)
        answers, shares = [], []
        for line, strategy, weight in zip(state.lines, stored, weights, strict=True):
            if strategy is None and not weight.any():
                continue
            actions, frequencies = self._actions(state, line), strategy
            if frequencies is None:
                actions = list(passive_actions(state.hand))
                frequencies = pot_odds(state.hand, range_of(opponent), self._seed)
            answers.append(merged_answer(actions, frequencies, source))
            shares.append(weight)
        mixed = answers[0] if len(answers) == 1 else mixed_answer(answers, shares, source)
        if len(answers) == 1 or "f" not in mixed.actions:
            return mixed
        equity = equities_of_all(state.hand, range_of(opponent), 0)  # the same for all hands: no draw to see
        return best_hands_call(mixed, range_of(player), equity)

    def weights(self, state: PublicState, player: int) -> Floats:
        """Return the probability that a player's hand follows each line of a state, ``[line, hand of the deck]``."""
        path: list[PublicState] = []
        each: PublicState | None = state
        while each is not None and player not in each.weights:
            path.append(each)
            each = each.above
        for each in reversed(path):
            each.weights[player] = self._weights(each, player)
        return state.weights[player]

    def after(self, above: PublicState, betting: Betting, action: str) -> tuple[StoredLine, ...]:
        """Follow an action in the blueprint's tree from the state before it to the lines after it.

        The most probable line comes first. ``betting`` is the actual betting after the action.
        """
        found: dict[tuple[Node | None, bool, bool], list[tuple[Step, float]]] = {}
        for number, line in enumerate(above.lines):
            for step, after in self._steps(above, number, line, betting, action):
                key = after.node, line.exact and after.exact, after.calls
                found.setdefault(key, []).append((step, line.probability * step.probability))
        lines = (
            StoredLine(node, exact, sum(often for _, often in steps), calls, tuple(step for step, _ in steps))
            for (node, exact, calls), steps in found.items()
        )
        return tuple(sorted(lines, key=lambda line: -line.probability))

    def _steps(
        self, above: PublicState, number: int, line: StoredLine, betting: Betting, action: str
    ) -> Iterator[tuple[Step, StoredLine]]:
        """Yield the steps of an action from one line, each with the line after it, whose probability is not set yet."""
        node = _decision(above, line)
        if betting.to_act is None or node is None:
            stays = line.calls and action == "c" and line.node is not None and _is_at(line.node, betting)
            yield (
                Step(number, None, 1.0, made=action[0] != "r"),
                StoredLine(line.node if stays else None, exact=False),
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
                StoredLine(self._blueprint.node(following.line) if at else None, made, calls=calls),
            )

    def _weights(self, state: PublicState, player: int) -> Floats:
        n_hands, above = len(self._blueprint.hands), state.above
        if len(state.lines) == 1 or above is None:
            return np.ones((1, n_hands))
        before = above.weights[player]
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
        if line.calls:
            return ["c"]
        node = _decision(state, line)
        return list(passive_actions(state.hand)) if node is None else legal_actions(node, state.betting)

    def _stored(self, state: PublicState) -> tuple[Floats | None, ...]:
        """Return the strategy at each line of a state, ``[action, hand of the deck]``; None where nothing is stored."""
        if state.stored is None:
            stored = list[Floats | None]()
            for line in state.lines:
                if line.calls:
                    stored.append(np.ones((1, len(self._blueprint.hands))))
                else:
                    stored.append(self._blueprint.strategy_if_readable(line.node, state.hand.board))
            state.stored = tuple(stored)
        return state.stored


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


def _decision(state: PublicState, line: StoredLine) -> Node | None:
    return None if state.hand.to_act is None else line.decision


def _is_at(node: Node, betting: Betting) -> bool:
    """Whether a decision of the tree has the round and the player of an actual decision."""
    return (node.round, node.player) == (betting.round, betting.to_act)


def passive_actions(hand: Hand) -> tuple[str, ...]:
    """Return the actions that `pot_odds` chooses from: fold and call after a bet, else only the check.

    >>> from spewy.game.gamefile import load_game
    >>> start = Hand.start(load_game("kuhn"))
    >>> passive_actions(start), passive_actions(start.apply("r"))
    (('c',), ('f', 'c'))
    """
    return ("f", "c") if hand.betting.can_fold else ("c",)


def pot_odds(hand: Hand, opponent_range: Floats, seed: int) -> Floats:
    """Compute a pot-odds strategy for the player to act: call a bet if the hand's equity pays for it, else fold.

    If there is no bet to call, every hand checks.

    Args:
        opponent_range: ``[hand of the deck]``.
        seed: seed of the sampled final boards.

    Returns:
        Frequencies ``[action, hand of the deck]`` of the actions that `passive_actions` returns.
    """
    if not hand.betting.can_fold:
        return np.ones((1, len(opponent_range)))
    player = hand.to_act
    assert player is not None
    spent = hand.betting.spent
    highest = min(max(spent), hand.betting.stack(player))
    needed = (highest - spent[player]) / (2 * highest)
    calls = equities_of_all(hand, opponent_range, seed) >= needed
    return np.stack([~calls, calls]).astype(np.float64)


def equities_of_all(hand: Hand, opponent_range: Floats, seed: int) -> Floats:
    """Return the equity of every hand of the deck against a range, on the board of the hand that is being played.

    The result is ``[hand of the deck]``, with 0.5 for a hand that meets no hand of the range. With two or more cards to
    come, ``seed`` draws a sample of final boards.
    """
    game = hand.game
    deck, n_board = hands(game.deck, game.num_hole_cards), game.board_sizes[-1]
    samples = BOARDS if n_board - len(hand.board) > 1 else None
    found = equities(hand.board, deck, opponent_range, game.deck, n_board, samples=samples, seed=abs(seed))
    out: Floats = np.nan_to_num(found, nan=0.5)
    return out
