"""Betting trees: all lines of a spot or of a whole game, with the amount of each bet.

``put_in`` counts chips since the tree's root; in whole games it includes the blinds. Each round but the last ends in a
chance node with one child, which starts the next round. After an all-in call, the remaining rounds are chance nodes
only, and the last one leads to the showdown. `Betting` decides which actions are legal.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.count import TreeCount, count_tree, require_buildable, require_sizes_used
from spewy.game.nodes import Action, ActionKind, Node, NodeKind, entry_line, find_node
from spewy.game.raises import may_donk, raise_totals
from spewy.game.treeconfig import TreeConfig
from spewy.system.collection import collection_put_off

__all__ = ["BettingTree", "build_tree", "terminal_rake", "terminal_stakes", "tree_after"]

PARTS = 8
"""Number of parts that a tree caches (`BettingTree.entered`)."""


@dataclass(frozen=True, eq=False)
class BettingTree:
    """A betting tree; its nodes are counted and built at first use."""

    config: TreeConfig

    @cached_property
    def size(self) -> TreeCount:
        """Numbers of nodes, counted without building the tree."""
        return count_tree(self.config)

    @cached_property
    def root(self) -> Node:
        """The root of the whole tree.

        Raises:
            InputError: the tree has more than `MAX_NODES` nodes, or its bet sizes lead to no legal bet.
        """
        require_buildable(self.size)
        require_sizes_used(self.config, self.size)
        with collection_put_off():
            return _Builder(self.config).root()

    def entered(self, line: str) -> Node:
        """Build only the nodes along a line and the whole round that the line enters, and return the root.

        Actions that leave this part of the tree lead to nodes without children. Building the part is fast even if the
        whole tree is large. The parts of the last few calls are cached as long as the tree lives.

        Args:
            line: the line that enters the round: ``""``, or a line that ends in ``/``.
        """
        return self._part(line)

    @cached_property
    def _part(self) -> Callable[[str], Node]:
        """Builds the part of `entered`, and caches a few; the cache does not refer to the tree, so both die at once."""
        return lru_cache(PARTS)(partial(_entered, self.config))

    def __getstate__(self) -> dict[str, object]:
        """Leave out the cache, which cannot be pickled."""
        return {name: value for name, value in self.__dict__.items() if name != "_part"}

    def below(self, node: Node) -> "BettingTree":
        """Return the part of this tree that begins at one of its nodes, as a tree of its own."""
        tree = BettingTree(self.config)
        tree.__dict__["root"] = node  # a cached property reads its value here
        return tree

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes depth first, each before its children."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def count(self) -> int:
        """Count the decisions, folds and showdowns of the tree."""
        return sum(node.kind != "chance" for node in self.nodes())

    def find(self, line: str) -> Node:
        """Find the node to which a line leads.

        For example, ``cr120c`` leads to the chance node at the end of a round, and ``cr120c/`` to the first decision of
        the next round.

        Raises:
            InputError: the tree does not have the line.
        """
        return find_node(self.root, line)

    def alone(self, line: str) -> Node:
        """Find the node to which a line leads, but build only the round of that node (`entered`).

        Raises:
            InputError: the tree does not have the line.
        """
        return find_node(self.entered(entry_line(line)), line)

    @cached_property
    def rounds(self) -> Mapping[int, Mapping[str, Node]]:
        """The first decisions of each round of the game, by the line that enters the round."""
        roots: dict[int, dict[str, Node]] = {
            r: {} for r in range(self.config.start_round, self.config.game.num_rounds)
        }
        if self.root.kind == "decision":
            roots[self.root.round][self.root.line] = self.root
        for node in self.nodes():
            if node.kind == "chance" and node.children[0].kind == "decision":
                child = node.children[0]
                roots[child.round][child.line] = child
        return roots


def _entered(config: TreeConfig, line: str) -> Node:
    """Build the nodes along a line and the round that the line enters, and return the root."""
    return _OneRound(config, line).root()


def build_tree(config: TreeConfig) -> BettingTree:
    """Build the tree of a configuration with all nodes.

    Raises:
        InputError: the tree has more than `MAX_NODES` nodes, or its bet sizes lead to no legal bet.
    """
    tree = BettingTree(config)
    tree.root  # noqa: B018 - the property builds the tree
    return tree


def tree_after(
    config: TreeConfig, actions: Sequence[str], extra_bets: Sequence[str] = (), *, donk: bool = False
) -> BettingTree:
    """Build the tree below some actions in the first round of a spot.

    Args:
        config: the configuration of the spot.
        actions: the actions, such as ``["c", "r120"]`` with totals since the spot's root; amounts need not be among the
            bet sizes.
        extra_bets: additional bets or raises in the round, each as a line from the root of the new tree whose last
            action is the bet: ``["r250", "cr400"]`` adds a bet of 250 at the root and one of 400 after a check. The
            actions before the bet must be actions or additional bets of the tree.
        donk: whether the player who starts the round called the last bet of the round before.

    Raises:
        InputError: an action or an additional bet is not legal, or the first round is over after the actions.
    """
    state = config.start()
    for action in actions:
        state = state.apply(action)
    if state.to_act is None or state.round:
        raise InputError(f"line {state.line!r}: expected a decision of the spot's first round, found its end")
    more: dict[str, list[str]] = {}
    for line in extra_bets:
        decision = state
        *before, bet = re.findall(r"[fc]|r\d*", line)
        for action in before:
            decision = decision.apply(action)
        decision.apply(bet)  # raises an error unless the bet is legal
        more.setdefault(decision.line, []).append(bet)
    with collection_put_off():
        root = _Widened(config, more).decision(state, config.antes, donk and not actions)
    return BettingTree(config).below(root)


def terminal_stakes(node: Node, config: TreeConfig) -> float:
    """Return the chips that the loser loses at a fold or a showdown.

    Half of a spot's pot counts as put in by each player.

    Raises:
        InputError: the node is neither a fold nor a showdown.
    """
    if node.kind == "fold" and node.player is not None:
        return config.pot / 2 + node.put_in[node.player]
    if node.kind == "showdown":
        return config.pot / 2 + min(node.put_in)
    raise InputError(f"line {node.line!r}: expected a fold or a showdown, found a {node.kind}")


def terminal_rake(node: Node, config: TreeConfig) -> float:
    """Return the chips that the house takes at a fold or a showdown; an uncalled bet is not raked.

    Raises:
        InputError: the node is neither a fold nor a showdown.
    """
    if node.kind not in ("fold", "showdown"):
        raise InputError(f"line {node.line!r}: expected a fold or a showdown, found a {node.kind}")
    return config.rake.of(config.pot + 2 * min(node.put_in))


class _Builder:
    """Builds the nodes of a tree, depth first and recursively; a round has at most 64 actions."""

    def __init__(self, config: TreeConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.known: dict[tuple[object, ...], tuple[Action, ...]] = {}

    def root(self) -> Node:
        """Build the whole tree."""
        state = self.config.start()
        if state.is_over:
            return self.after_round(state, 0, "")
        return self.decision(state, self.config.antes)

    def decision(self, state: Betting, put_in_before: int, donk: bool = False) -> Node:
        """Build the node of a decision, and all nodes that follow.

        Args:
            state: the betting so far.
            put_in_before: chips that each player had put in before this round.
            donk: whether the player starts the round after calling the last bet of the round before.
        """
        actions = self.known_actions(state, put_in_before, donk)
        line = state.line
        children = tuple([self.child(state, action, put_in_before, line) for action in actions])
        return self.make("decision", state.to_act, state.round, state.spent, line, actions, children)

    def child(self, state: Betting, action: Action, put_in_before: int, line: str) -> Node:
        """Build the node after an action of a decision.

        Args:
            state: the betting before the action.
            action: the action.
            put_in_before: chips that each player had put in before this round.
            line: the line of the decision.
        """
        if action.kind == "fold":
            return self.make("fold", state.to_act, state.round, state.spent, line + "f")
        if action.amount:  # `Betting.apply` would check that the bet is legal, and take twice the time
            return self.decision(state.raised(put_in_before + action.amount), put_in_before)
        following = state.called()
        if following.is_over:
            return self.after_round(following, state.round, line + "c")
        if following.round == state.round:
            return self.decision(following, put_in_before)
        below = self.decision(following, following.spent[0], may_donk(state, following))
        return self.make("chance", None, state.round, following.spent, line + "c", (), (below,))

    def after_round(self, state: Betting, ended: int, line: str) -> Node:
        """Build the chance nodes and the showdown that follow the last action of a hand.

        Args:
            state: the betting after the last action.
            ended: the round of the last action, where 0 is the round of the root.
            line: the line after the last action.
        """
        last = self.rules.num_rounds - 1
        node = self.make("showdown", None, last, state.spent, line + "/" * (last - ended))
        for r in range(last - 1, ended - 1, -1):
            node = self.make("chance", None, r, state.spent, line + "/" * (r - ended), (), (node,))
        return node

    def known_actions(self, state: Betting, put_in_before: int, donk: bool) -> tuple[Action, ...]:
        """Return the actions at a decision; decisions with equal amounts share the result."""
        acted = len(state.rounds[-1])
        key = (
            state.round,
            acted,
            state.num_raises,
            state.to_act,
            state.spent,
            state.raise_by,
            put_in_before,
            donk,
        )
        actions = self.known.get(key)
        if actions is None:
            actions = self.known[key] = tuple(self.actions(state, put_in_before, donk))
        return actions

    def actions(self, state: Betting, put_in_before: int, donk: bool) -> Iterator[Action]:
        player = state.to_act
        if player is None:
            return
        unit = self.config.unit
        if state.can_fold:
            yield Action("fold", 0, "f", unit)
        yield Action("call" if state.spent[player] < max(state.spent) else "check", 0, "c", unit)
        faces_bet = max(state.spent) > put_in_before
        for total in raise_totals(self.config, state, put_in_before, donk):
            allin = total >= min(state.stack(0), state.stack(1))
            kind: ActionKind = "allin" if allin else "raise" if faces_bet else "bet"
            yield Action(kind, total - put_in_before, "r" if self.rules.limit else f"r{total}", unit)

    def make(
        self,
        kind: NodeKind,
        player: int | None,
        round_: int,
        put_in: tuple[int, int],
        line: str,
        actions: tuple[Action, ...] = (),
        children: tuple[Node, ...] = (),
    ) -> Node:
        return Node(kind, player, round_ + self.config.start_round, put_in, actions, children, line)


class _Widened(_Builder):
    """Builds a tree with additional bets or raises at some decisions.

    Args:
        config: the configuration of the tree.
        extra_bets: the additional bets by the line of their decision.
    """

    def __init__(self, config: TreeConfig, extra_bets: Mapping[str, Sequence[str]]) -> None:
        super().__init__(config)
        self.extra_bets = extra_bets

    def known_actions(self, state: Betting, put_in_before: int, donk: bool) -> tuple[Action, ...]:
        extra = self.extra_bets.get(state.line)
        if extra is None:
            return super().known_actions(state, put_in_before, donk)
        actions = list(self.actions(state, put_in_before, donk))
        known = {action.acpc for action in actions}
        allin = min(state.stack(0), state.stack(1))
        for total in [int(text[1:]) for text in extra if text not in known]:
            kind: ActionKind = "raise" if max(state.spent) > put_in_before else "bet"
            kind = "allin" if total >= allin else kind
            actions.append(Action(kind, total - put_in_before, f"r{total}", self.config.unit))
        actions.sort(key=lambda action: action.amount)  # fold and call have amount 0 and stay in front
        return tuple(actions)


class _OneRound(_Builder):
    """Builds the nodes along a line and the round that the line enters; all other nodes get no children."""

    def __init__(self, config: TreeConfig, entered: str) -> None:
        super().__init__(config)
        self.entered = entered

    def decision(self, state: Betting, put_in_before: int, donk: bool = False) -> Node:
        line = state.line
        if entry_line(line) == self.entered or self.entered.startswith(line):
            return super().decision(state, put_in_before, donk)
        return self.make("decision", state.to_act, state.round, state.spent, line)

    def child(self, state: Betting, action: Action, put_in_before: int, line: str) -> Node:
        following = line + action.acpc
        if entry_line(line) == self.entered or self.entered.startswith(following):
            return super().child(state, action, put_in_before, line)
        return self.make("decision", None, state.round, state.spent, following)
