"""The stored strategy of a whole game, and the translation of a strategy to a tree of the same round with other bets.

`Blueprint` reads the stored strategy one decision at a time, for all hands of the deck.

The *known tree* is the betting tree for which the strategy is known, and the *new tree* is the other one. The
translation follows both trees in parallel, from root to leaves. A decision of the new tree corresponds to the decision
of the known tree after the corresponding actions. A bet corresponds to the likelier of its two neighbouring bets in the
other tree (`spewy.bot.bet_translation`). The new strategy takes each action as often as the known strategy takes the
corresponding actions. In the known tree, players can be all in earlier than in the new tree. A decision of the new tree
then has no corresponding decision, and the new strategy checks or calls.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from buckets.abstraction import Abstraction
from buckets.cards import hands
from lockers import LockerError
from solvers.tree import Floats, Ints
from spewy.bot.bet_translation import nearest_size
from spewy.bot.resolving.builder import PlayerStrategy, Root, SubgameBuilder, add_chips, split_actions
from spewy.chunks.locate import Place
from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.game.nodes import Line, Node, entry_line
from spewy.game.tree import BettingTree
from spewy.records.policy import BucketPolicy, Policy, Stacked

LOG = logging.getLogger(__name__)
Read = dict[tuple[tuple[str, ...], tuple[int, ...]], Stacked]
"""Strategies that were read, by lines and board."""


class Blueprint:
    """Reads the average strategies of a whole game from its store, which a running solve may still update.

    Args:
        policy: the stored strategy of a whole game; that of a spot is refused.
    """

    def __init__(self, policy: Policy) -> None:
        self.config = policy.problem.tree.config
        if self.config.is_spot:
            raise InputError("a bot needs the strategy of a whole game, and found that of a spot")
        self._policy = policy
        self.game: Game = self.config.game
        self.smallest_stack = None if self.game.stacks is None else min(self.game.stacks)
        """The smaller of both players' stacks at the deal; None if stacks are unlimited."""
        self.hands = hands(self.game.deck, self.game.num_hole_cards)

    @property
    def abstraction(self) -> Abstraction | None:
        """Board buckets and rows of the stored strategy; None if it has no board buckets."""
        policy = self._policy
        abstraction = policy.abstraction if isinstance(policy, BucketPolicy) else None
        return abstraction if isinstance(abstraction, Abstraction) else None

    def node(self, line: str) -> Node:
        return self._policy.node(Line(line))

    def initial_range(self, player: int) -> Floats:
        """Return a player's range at the deal, ``[hand of the deck]``."""
        problem = self._policy.problem
        weights = problem.ranges[player]
        return weights if problem.units is None else weights * problem.units[player]

    def strategy(self, node: Node, board: tuple[int, ...]) -> Floats:
        """Return the strategy at a decision, ``[action, hand of the deck]``.

        Hands that the board blocks get equal frequencies.
        """
        decision = self._policy.decision(Place(node, self.game.board_order(board)))
        out = np.full((len(decision.actions), len(self.hands)), 1.0 / len(decision.actions))
        out[:, decision.hands] = decision.frequencies
        return out

    def strategies(self, lines: Sequence[str], board: tuple[int, ...]) -> Stacked:
        """Return the strategies at several decisions of one player and round, one below the other.

        This is faster than calls of `strategy`.
        """
        return self._policy.stacked([*map(Line, lines)], board)

    def strategy_if_readable(self, node: Node | None, board: tuple[int, ...]) -> Floats | None:
        """Return the strategy at a decision; None without a decision, or if it cannot be read (the log says why)."""
        if node is None:
            return None
        try:
            return self.strategy(node, board)
        except (InputError, LockerError) as error:
            LOG.warning("line %r: the stored strategy cannot be read: %s", node.line, error)
            return None

    @property
    def saved(self) -> int:
        """Number of deals that the strategies average."""
        return self._policy.saved

    @property
    def tree(self) -> BettingTree:
        return self._policy.problem.tree

    def in_bucket(self, t: int, bucket: int, lines: Sequence[str]) -> Floats:
        """Read the strategies ``[action, row]`` in a board bucket at a player's decisions, one below the other."""
        assert isinstance(self._policy, BucketPolicy)
        stacked: Floats = np.concatenate(self._policy.bucket_frequencies(t, bucket, lines))
        return stacked

    def close(self) -> None:
        self._policy.close()


@dataclass(frozen=True)
class KnownStrategy:
    """A player's strategy that is known without re-solving a subgame; implements `PlayerStrategy`.

    Attributes:
        root: root of the betting tree that has the strategy's lines; its pot may differ from the subgame's pot.
        source: the strategy that is read.
        prefix, chips: what a line of the source has in addition: text before it, and chips in each amount.
        moves: the translation of the source to the tree of ``root``; None: the source has the same tree.
        cache: what was read from the source, by lines (without prefix and chips) and board; None: nothing is kept.
    """

    root: Root
    source: PlayerStrategy
    prefix: str = ""
    chips: int = 0
    moves: Callable[[tuple[str, ...]], _Moves] | None = None
    cache: Read | None = None

    def __call__(self, lines: list[str], board: tuple[int, ...]) -> Stacked:
        moves = None if self.moves is None else self.moves(tuple(lines))
        known = lines if moves is None else moves.lines
        key = tuple(known), board
        stacked = None if self.cache is None else self.cache.get(key)
        if stacked is None and known:
            there = add_chips(" ".join(known), self.chips).split(" ")
            stacked = self.source([self.prefix + line for line in there], board)
            if self.cache is not None:
                self.cache[key] = stacked
        if moves is not None:
            return moves.translated(stacked)
        assert stacked is not None
        return stacked


def stored_strategy(
    blueprint: Blueprint,
    root: Root,
    line: str,
    cache: Read | None = None,
) -> KnownStrategy:
    """Return the stored strategy, for both players, in a subgame whose root is at ``line`` in the blueprint's tree."""
    round_line = entry_line(line)
    put_in_before = blueprint.node(round_line).put_in[0]
    stack = blueprint.smallest_stack
    known = replace(
        root,
        put_in_before=put_in_before,
        stack=None if stack is None else stack - put_in_before,
        actions=split_actions(add_chips(line[len(round_line) :], -put_in_before)),
        extra_bets=(),
        menu="job",
    )
    return KnownStrategy(known, blueprint.strategies, round_line, put_in_before, cache=cache)


def translate_subgame(
    builder: SubgameBuilder, root: Root, known: Root, strategy: PlayerStrategy
) -> KnownStrategy:
    """Translate a player's strategy in the subgame ``known`` to the subgame ``root`` of the same round."""
    trees = builder.tree(root).root, builder.tree(known).root
    counterparts = dict(counterparts_of(*trees, root.put_in_before, known.put_in_before))

    moves = lru_cache(None)(partial(_moves, counterparts, builder.n_hands))
    if isinstance(strategy, KnownStrategy) and strategy.moves is None:
        return replace(strategy, root=root, moves=moves)
    return KnownStrategy(root, strategy, moves=moves)


class Counterpart(NamedTuple):
    """The decision of the known tree that corresponds to a decision of the new tree, when a strategy is translated.

    Attributes:
        line: line of the decision in the known tree; None if no decision corresponds.
        places: for each action of the known decision, the index of the corresponding action of the new decision.
        call: index of the new decision's check or call.
    """

    line: str | None
    places: tuple[int, ...]
    call: int
    n_actions: int


def counterparts_of(
    root: Node, known: Node, put_in_before: int, known_put_in_before: int, draw: float = 0.5
) -> Iterator[tuple[str, Counterpart]]:
    """Yield the line of each decision of a new tree, and the corresponding decision of the tree with a known strategy.

    Args:
        put_in_before: chips that each player had put in before the lines of the new tree begin.
        draw: the choice between the known tree's bets next to a new bet, as in `bet_translation.nearest_size`: 0 is the
            smaller bet, 1 the larger one, 0.5 the likelier one.
    """
    pending: list[tuple[Node, Node | None]] = [(root, known)]
    while pending:
        node, there = pending.pop()
        if not node.actions:
            continue  # the hand ends early
        if there is not None and (there.round, there.player) != (node.round, node.player):
            there = None
        call = [action.acpc for action in node.actions].index("c")
        if there is None:
            yield node.line, Counterpart(None, (), call, len(node.actions))
            pending += [(child, None) for child in map(_decided, node.children) if child is not None]
            continue
        shares, known_shares = _shares(node, put_in_before), _shares(there, known_put_in_before)
        places = _places(there, known_shares, node, shares)
        targets = tuple(call if place is None else place for place in places)
        yield node.line, Counterpart(there.line, targets, call, len(node.actions))
        below = _places(node, shares, there, known_shares, draw)
        for number, target in reversed([*enumerate(targets)]):
            below[target] = number  # if several known actions correspond to one action, the first of them
        for child, place in zip(node.children, below, strict=True):
            following = _decided(child)
            if following is not None:
                pending.append((following, None if place is None else _decided(there.children[place])))


class _Moves(NamedTuple):
    """Says which actions of the known tree correspond to which actions of the new tree, for several decisions.

    Actions are numbered through the decisions: first all actions of the first decision, then those of the second.

    Attributes:
        lines: lines of the known decisions.
        sources: numbers of the known actions, sorted by the new action that they correspond to.
        begins: index in ``sources`` of the first known action for each new action in ``targets``.
        targets: numbers of the new actions that some known action corresponds to.
        calls: numbers of the new actions with frequency 1, since the known tree has no decision there.
    """

    lines: list[str]
    sources: Ints
    begins: Ints
    targets: Ints
    calls: list[int]
    n_actions: int
    n_hands: int

    def translated(self, known: Stacked | None) -> Stacked:
        """Translate a strategy from the known tree's decisions to the new tree's; None: the known tree has none."""
        if known is None:
            known = Stacked.by_hand(np.zeros((0, self.n_hands)))
        out = np.zeros((self.n_actions, known.frequencies.shape[1]))
        out[self.targets] = np.add.reduceat(known.frequencies[self.sources], self.begins, axis=0)
        out[self.calls] = 1.0
        return known._replace(frequencies=out)


def _moves(counterparts: Mapping[str, Counterpart], n_hands: int, lines: tuple[str, ...]) -> _Moves:
    first_of: dict[str, int] = {}
    n_known = n_actions = 0
    pairs: list[tuple[int, int]] = []
    calls = []
    for line in lines:
        counterpart = counterparts[line]
        if counterpart.line is None:
            calls.append(n_actions + counterpart.call)
        else:
            if counterpart.line not in first_of:
                first_of[counterpart.line], n_known = n_known, n_known + len(counterpart.places)
            first = first_of[counterpart.line]
            pairs += [(n_actions + place, first + number) for number, place in enumerate(counterpart.places)]
        n_actions += counterpart.n_actions
    ordered = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    targets, begins = np.unique(ordered[:, 0], return_index=True)
    return _Moves([*first_of], ordered[:, 1], begins, targets, calls, n_actions, n_hands)


def _decided(node: Node) -> Node | None:
    """Return a node if it is a decision, else the decision after the next cards; None if the hand is over."""
    while node.kind == "chance":
        (node,) = node.children
    return node if node.kind == "decision" else None


def _shares(node: Node, put_in_before: int) -> list[float]:
    """Size of each bet or raise as a share of the pot after a call; at most 0 for other actions."""
    assert node.player is not None
    highest = max(node.put_in)
    pot = max(2 * (put_in_before + highest), 1)
    return [
        (child.put_in[node.player] - highest) / pot if action.acpc[0] == "r" else 0.0
        for action, child in zip(node.actions, node.children, strict=True)
    ]


def _places(
    node: Node, shares: Sequence[float], other: Node, other_shares: Sequence[float], draw: float = 0.5
) -> list[int | None]:
    """Return the index of the action of ``other`` that corresponds to each action of ``node``; None: no action does."""
    raises = sorted((share, number) for number, share in enumerate(other_shares) if share > 0)
    names = [action.acpc for action in other.actions]
    out: list[int | None] = []
    for action, share in zip(node.actions, shares, strict=True):
        if not share > 0:
            out.append(names.index(action.acpc) if action.acpc in names else None)
        elif not raises:
            out.append(None)
        elif action.kind == "allin":
            out.append(raises[-1][1])
        else:
            out.append(raises[nearest_size(share, [size for size, _ in raises], draw)][1])
    return out
