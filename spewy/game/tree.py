"""Betting trees: every public line of actions from a spot or from the deal, with explicit amounts.

Conventions: ``put_in`` counts chips since the tree's root; in whole games it includes the blinds. Each round but the
last ends in a chance node with one child, which starts the next round. After an all-in call chance nodes follow one
another down to the showdown. `Betting` decides which actions are legal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.count import TreeCount, count_tree, require_buildable, require_sizes_used
from spewy.game.nodes import Action, ActionKind, Node, NodeKind, entry_line, find_node
from spewy.game.raises import may_donk, raise_totals
from spewy.game.treeconfig import TreeConfig
from spewy.system.collection import collection_put_off

__all__ = ["BettingTree", "build_tree", "terminal_rake", "terminal_stakes", "tree_after"]


@dataclass(frozen=True, eq=False)
class BettingTree:
    """A betting tree; its size and its nodes are computed at first use."""

    config: TreeConfig

    @cached_property
    def size(self) -> TreeCount:
        """Numbers of nodes, counted without building the tree."""
        return count_tree(self.config)

    @cached_property
    def root(self) -> Node:
        """The root of the whole tree.

        Raises:
            InputError: the tree has more than `MAX_NODES` nodes, or its bet sizes make no legal bet.
        """
        require_buildable(self.size)
        require_sizes_used(self.config, self.size)
        with collection_put_off():
            return _Builder(self.config).root()

    def entered(self, line: str) -> Node:
        """Build the round that a line enters, and return the root of the tree that leads there.

        The tree has the nodes on the line, and the whole round after it. Other branches and later rounds are nodes
        without children. Building takes the time of one round, however large the whole tree is.

        Args:
            line: ``""``, or a line that ends in ``/``.
        """
        return _OneRound(self.config, line).root()

    def below(self, node: Node) -> "BettingTree":
        """Return the tree whose root is one of this tree's nodes."""
        tree = BettingTree(self.config)
        tree.__dict__["root"] = node  # a cached property reads its value here
        return tree

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes, each before its children, children in order."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def count(self) -> int:
        """Count decisions, folds and showdowns: ``betting_nodes`` of the JSON form."""
        return sum(node.kind != "chance" for node in self.nodes())

    def find(self, line: str) -> Node:
        """Find the node at a line: ``cr120c`` is a chance node, ``cr120c/`` starts the round that follows."""
        return find_node(self.root, line)

    def alone(self, line: str) -> Node:
        """Find the node at a line without building the whole tree; later rounds are nodes without children."""
        return find_node(self.entered(entry_line(line)), line)

    @cached_property
    def rounds(self) -> Mapping[int, Mapping[str, Node]]:
        """The roots of the chunks of each round of the game, by line."""
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


def build_tree(config: TreeConfig) -> BettingTree:
    """Build the tree of a configuration at once.

    Raises:
        InputError: as `BettingTree.root`.
    """
    tree = BettingTree(config)
    tree.root  # noqa: B018 - the property builds the tree
    return tree


def tree_after(
    config: TreeConfig, actions: Sequence[str], extra_bets: Sequence[str] = (), *, donk: bool = False
) -> BettingTree:
    """Build the tree below a state of a spot's first round; the actions before it may have any legal amounts.

    Args:
        config: the configuration of the spot.
        actions: the actions of the first round so far, in the ACPC's text with totals since the spot's root.
        extra_bets: bets or raises at the root beside those of the config's sizes.
        donk: whether the player who starts the round called the last bet of the round before.

    Raises:
        InputError: an action is not legal, or the round is over after them.
    """
    state = config.start()
    for action in actions:
        state = state.apply(action)
    if state.to_act is None or state.round:
        raise InputError(f"line {state.line!r}: expected a decision of the spot's first round, found its end")
    for action in extra_bets:
        state.apply(action)  # raises an error unless the action is legal
    with collection_put_off():
        root = _Widened(config, state, extra_bets).decision(state, config.antes, donk and not actions)
    return BettingTree(config).below(root)


def terminal_stakes(node: Node, config: TreeConfig) -> float:
    """Return the chips that the folder, or the loser of a showdown, loses at an end of the tree.

    Half of a spot's pot belongs to each player. A tie is worth 0.
    """
    if node.kind == "fold" and node.player is not None:
        return config.pot / 2 + node.put_in[node.player]
    if node.kind == "showdown":
        return config.pot / 2 + min(node.put_in)
    raise InputError(f"line {node.line!r}: expected a fold or a showdown, found a {node.kind}")


def terminal_rake(node: Node, config: TreeConfig) -> float:
    """Return the chips that the house takes at an end of the tree; an uncalled bet goes back and is not raked."""
    if node.kind not in ("fold", "showdown"):
        raise InputError(f"line {node.line!r}: expected a fold or a showdown, found a {node.kind}")
    return config.rake.of(config.pot + 2 * min(node.put_in))


class _Builder:
    """Builds nodes depth first. Recursion is safe: a round has at most 64 actions."""

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
        """Build a decision and all nodes below it; each player had put in `put_in_before` before this round."""
        actions = self.known_actions(state, put_in_before, donk)
        line = state.line
        children = tuple([self.child(state, action, put_in_before, line) for action in actions])
        return self.make("decision", state.to_act, state.round, state.spent, line, actions, children)

    def child(self, state: Betting, action: Action, put_in_before: int, line: str) -> Node:
        """Build the node after an action of the decision at `line`."""
        if action.kind == "fold":
            return self.make("fold", state.to_act, state.round, state.spent, line + "f")
        if action.amount:  # a legal one; `Betting.apply` would check again, which takes half of the time
            return self.decision(state.raised(put_in_before + action.amount), put_in_before)
        following = state.called()
        if following.is_over:
            return self.after_round(following, state.round, line + "c")
        if following.round == state.round:
            return self.decision(following, put_in_before)
        below = self.decision(following, following.spent[0], may_donk(state, following))
        return self.make("chance", None, state.round, following.spent, line + "c", (), (below,))

    def after_round(self, state: Betting, ended: int, line: str) -> Node:
        """Build the chance nodes from the end of a round to the showdown."""
        last = self.rules.num_rounds - 1
        node = self.make("showdown", None, last, state.spent, line + "/" * (last - ended))
        for r in range(last - 1, ended - 1, -1):
            node = self.make("chance", None, r, state.spent, line + "/" * (r - ended), (), (node,))
        return node

    def known_actions(self, state: Betting, put_in_before: int, donk: bool) -> tuple[Action, ...]:
        """Return the actions at a decision, computed once for all lines that lead to the same amounts."""
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
    """Builds a tree with additional bets or raises at its root."""

    def __init__(self, config: TreeConfig, state: Betting, extra_bets: Sequence[str]) -> None:
        super().__init__(config)
        self.state, self.extra_bets = state, extra_bets

    def actions(self, state: Betting, put_in_before: int, donk: bool) -> Iterator[Action]:
        actions = list(super().actions(state, put_in_before, donk))
        if state is self.state:
            kind: ActionKind = "raise" if max(state.spent) > put_in_before else "bet"
            known = {action.acpc for action in actions}
            totals = [int(text[1:]) for text in self.extra_bets if text not in known]
            actions += [
                Action(kind, total - put_in_before, f"r{total}", self.config.unit) for total in totals
            ]
            actions.sort(key=lambda action: action.amount)  # fold and call have amount 0 and stay in front
        yield from actions


class _OneRound(_Builder):
    """Builds the round that a line enters and the nodes on that line; other branches are nodes without children."""

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
