"""Betting trees: all lines of a spot or of a whole game, with the amount of each bet.

``put_in`` counts chips since the tree's root; in whole games it includes the blinds. Each round but the last ends in a
chance node with one child, which starts the next round. After an all-in call, the remaining rounds are chance nodes
only, and the last one leads to the showdown. `Betting` decides which actions are legal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

from spewy.errors import InputError
from spewy.game.amounts import CHIPS, Unit
from spewy.game.betting import Betting
from spewy.game.count import TreeCount, count_tree, require_buildable, require_sizes_used
from spewy.game.nodes import Action, ActionKind, Node, NodeKind, entry_line, find_node
from spewy.game.treeconfig import TreeConfig, may_donk, raise_totals
from spewy.system.tools import collection_put_off

__all__ = [
    "BettingTree",
    "build_tree",
    "terminal_rake",
    "terminal_stakes",
    "tree_after",
    "tree_json",
    "tree_text",
]

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
        """The root of the whole tree."""
        require_buildable(self.size)
        require_sizes_used(self.config, self.size)
        with collection_put_off():
            return _Builder(self.config).root()

    def entered(self, line: str) -> Node:
        """Build only the nodes along a line and the whole round that the line enters, and return the root.

        The line is ``""``, or ends in ``/``. Actions that leave this part of the tree lead to nodes without children.
        Building the part is fast even if the whole tree is large. The parts of the last few calls are cached as long as
        the tree lives.
        """
        return self._part(line)

    @cached_property
    def _part(self) -> Callable[[str], Node]:
        """The cached function behind `entered`; it does not refer to the tree, so an unused tree is freed at once."""
        return lru_cache(PARTS)(partial(_entered, self.config))

    def __getstate__(self) -> dict[str, object]:
        """Leave out the cache, which cannot be pickled."""
        return {name: value for name, value in self.__dict__.items() if name != "_part"}

    def below(self, node: Node) -> BettingTree:
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
        return sum(node.kind != "chance" for node in self.nodes())

    def find(self, line: str) -> Node:
        """Find the node to which a line leads.

        For example, ``cr120c`` leads to the chance node at the end of a round, and ``cr120c/`` to the first decision of
        the next round.
        """
        return find_node(self.root, line)

    def alone(self, line: str) -> Node:
        """Find the node to which a line leads, but build only the nodes along the line and the node's round."""
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
    return _OneRound(config, line).root()


def build_tree(config: TreeConfig) -> BettingTree:
    """Build the tree of a configuration with all nodes."""
    tree = BettingTree(config)
    tree.root  # noqa: B018 - the property builds the tree
    return tree


def tree_after(
    config: TreeConfig, actions: Sequence[str], extra_bets: Sequence[str] = (), *, donk: bool = False
) -> BettingTree:
    """Build the tree below some actions in the first round of a spot.

    Args:
        actions: the actions, such as ``["c", "r120"]`` with totals since the spot's root; amounts need not be among the
            bet sizes.
        extra_bets: additional bets or raises in the round, each as a line from the root of the new tree whose last
            action is the bet: ``["r250", "cr400"]`` adds a bet of 250 at the root and one of 400 after a check. The
            actions before the bet must be actions or additional bets of the tree.
        donk: whether the player who starts the round called the last bet of the round before.
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
    """Return the chips that the loser loses; half of a spot's pot counts as put in by each player."""
    if node.kind == "fold" and node.player is not None:
        return config.pot / 2 + node.put_in[node.player]
    if node.kind == "showdown":
        return config.pot / 2 + min(node.put_in)
    raise InputError(f"line {node.line!r}: expected a fold or a showdown, found a {node.kind}")


def terminal_rake(node: Node, config: TreeConfig) -> float:
    """Return the chips that the house takes at a fold or a showdown; an uncalled bet is not raked."""
    if node.kind not in ("fold", "showdown"):
        raise InputError(f"line {node.line!r}: expected a fold or a showdown, found a {node.kind}")
    return config.rake.of(config.pot + 2 * min(node.put_in))


def tree_json(tree: BettingTree) -> dict[str, Any]:
    """Return a tree as nested dictionaries for JSON, in a form that other solvers read.

    The entry ``"root"`` is the root; ``"betting_nodes"`` is the number of all nodes except chance nodes; a tree in big
    blinds also has ``"unit": "bb"``. A decision is ``{"actions": {label: node}, "put_in": [a, b]}``, where a and b are
    the chips that players 0 and 1 have put in since the root. A decision that starts a round below the root also has
    ``"new_street": true``. A fold, a showdown or an all-in call is the text ``"terminal"``.
    """
    unit = tree.config.unit
    return {**unit.key, "betting_nodes": tree.count(), "root": _node_json(tree.root, unit)}


def tree_text(tree: BettingTree) -> str:
    """Write a tree as text, with an indented line for each decision, fold and showdown.

    At the first decision of a round the line names the round.
    """
    unit, round_names = tree.config.unit, tree.config.game.round_names
    lines = [] if unit == CHIPS else [f"amounts in {unit.name}"]
    pending = [("", tree.root, 0, True)]
    while pending:
        label, node, depth, starts_round = pending.pop()
        if node.kind == "chance" and node.children[0].kind == "decision":
            node, starts_round = node.children[0], True
        where = f"{round_names[node.round]}, " if starts_round else ""
        lines.append(f"{'  ' * depth}{label}{where}{_describe(node, unit)}")
        pending.extend(
            (f"{action.label}: ", child, depth + 1, False)
            for action, child in zip(reversed(node.actions), reversed(node.children), strict=False)
        )
    return "\n".join(lines) + "\n"


def _node_json(node: Node, unit: Unit, new_street: bool = False) -> dict[str, Any] | str:
    """Return a node as nested dictionaries for JSON; `new_street`: whether it starts a round below the root."""
    if node.kind == "chance":
        return _node_json(node.children[0], unit, True)
    if node.kind != "decision":
        return "terminal"
    actions = {
        action.label: _node_json(child, unit)
        for action, child in zip(node.actions, node.children, strict=True)
    }
    form: dict[str, Any] = {"actions": actions, "put_in": [unit.number(chips) for chips in node.put_in]}
    if new_street:
        form["new_street"] = True
    return form


def _describe(node: Node, unit: Unit) -> str:
    chips = f"put in {unit.text(node.put_in[0])} and {unit.text(node.put_in[1])}"
    match node.kind:
        case "decision":
            return f"player {node.player} to act, {chips}"
        case "fold":
            return f"player {node.player} folded, {chips}"
        case "showdown":
            return f"showdown, {chips}"
        case "chance":
            return f"all-in, the board is run out, {chips}"


class _Builder:
    """Builds the nodes of a tree, depth first and recursively; a round has at most 64 actions.

    In the methods, ``put_in_before`` is the chips that each player had put in before the round. ``donk`` says whether
    the player to act starts the round after calling the last bet of the round before.
    """

    def __init__(self, config: TreeConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.known: dict[tuple[object, ...], tuple[Action, ...]] = {}

    def root(self) -> Node:
        state = self.config.start()
        if state.is_over:
            return self.after_round(state, 0, "")
        return self.decision(state, self.config.antes)

    def decision(self, state: Betting, put_in_before: int, donk: bool = False) -> Node:
        actions = self.known_actions(state, put_in_before, donk)
        line = state.line
        children = tuple([self.child(state, action, put_in_before, line) for action in actions])
        return self.make("decision", state.to_act, state.round, state.spent, line, actions, children)

    def child(self, state: Betting, action: Action, put_in_before: int, line: str) -> Node:
        if action.kind == "fold":
            return self.make("fold", state.to_act, state.round, state.spent, line + "f")
        if action.amount:  # `Betting.apply` would check that the bet is legal, and take twice the time
            return self.decision(state.raised(put_in_before + action.amount), put_in_before)
        following = state.called()
        if following.is_over:
            return self.after_round(following, state.round, line + "c")
        if following.round == state.round:
            return self.decision(following, put_in_before)
        if self.config.is_checked_down(following.round):
            return self.after_round(following, state.round, line + "c")
        below = self.decision(following, following.spent[0], may_donk(state, following))
        return self.make("chance", None, state.round, following.spent, line + "c", (), (below,))

    def after_round(self, state: Betting, ended: int, line: str) -> Node:
        """Build the chance nodes and the showdown after the last action, which was in round ``ended``."""
        last = self.rules.num_rounds - 1
        node = self.make("showdown", None, last, state.spent, line + "/" * (last - ended))
        for r in range(last - 1, ended - 1, -1):
            node = self.make("chance", None, r, state.spent, line + "/" * (r - ended), (), (node,))
        return node

    def known_actions(self, state: Betting, put_in_before: int, donk: bool) -> tuple[Action, ...]:
        """Return the actions at a decision, cached unless the bets are listed line by line (`TreeConfig.lines`)."""
        if self.config.lines:  # the bets depend on all actions before
            return tuple(self.actions(state, put_in_before, donk))
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
            yield self.raised(state, kind, total, put_in_before)

    def raised(self, state: Betting, kind: ActionKind, total: int, put_in_before: int) -> Action:
        unit, called = self.config.unit, max(state.spent)
        if self.rules.limit:
            return Action(kind, total - put_in_before, "r", unit)
        pot = self.config.pot + 2 * called
        share = (total - called) / pot if pot else None
        return Action(kind, total - put_in_before, f"r{total}", unit, share)

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
    """Builds a tree with additional bets or raises; ``extra_bets`` lists these bets by the line to their decision."""

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
            actions.append(self.raised(state, kind, total, put_in_before))
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
