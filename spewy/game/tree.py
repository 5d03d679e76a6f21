"""Betting trees: every public line of actions from a spot or from the deal, with explicit amounts.

Conventions: ``put_in`` counts chips since the tree's root, in whole games blinds included. Each round that
ends before the last leads to a chance node with one child, what follows the deal; after an all-in call chance
nodes follow one another down to the showdown. The legality of every action is `Betting`'s.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.count import TreeCount, count_tree, require_buildable, require_sizes_used
from spewy.game.moves import is_donk, raise_totals
from spewy.game.nodes import Action, ActionKind, Node, NodeKind, refusal, told_line
from spewy.game.treeconfig import (
    PlayerSizes,
    RoundSizes,
    Sizes,
    TreeConfig,
    game_config,
    player_sizes,
    spot_config,
)
from spewy.system.collection import collection_put_off

__all__ = [
    "Action",
    "ActionKind",
    "BettingTree",
    "Node",
    "NodeKind",
    "PlayerSizes",
    "RoundSizes",
    "Sizes",
    "TreeConfig",
    "build_tree",
    "decision_at",
    "entry",
    "find_node",
    "game_config",
    "player_sizes",
    "spot_config",
    "terminal_rake",
    "terminal_stakes",
    "tree_after",
    "way",
]


@dataclass(frozen=True, eq=False)
class BettingTree:
    """A betting tree, which is counted and built when that is asked for first."""

    config: TreeConfig

    @cached_property
    def size(self) -> TreeCount:
        """Its nodes, counted without building it."""
        return count_tree(self.config)

    @cached_property
    def root(self) -> Node:
        """The root, below which the whole tree is.

        Raises:
            InputError: the tree has more than `MAX_NODES` nodes, or sizes that give nobody anything to bet.
        """
        require_buildable(self.size)
        require_sizes_used(self.config, self.size)
        with collection_put_off():
            return _Builder(self.config).root()

    def entered(self, line: str) -> Node:
        """Build one round: the root of a tree that has the round that ``line`` (``""``, or ending in ``/``) enters.

        Of the rounds before it has the way there. What branches off, and the decisions of later rounds, are nodes with
        a line and nothing below. It takes the time of one round, however large the whole tree is.
        """
        return _OneRound(self.config, line).root()

    def below(self, node: Node) -> "BettingTree":
        """The tree whose root is one of this tree's nodes."""
        part = BettingTree(self.config)
        part.__dict__["root"] = node  # in place of the property
        return part

    def nodes(self) -> Iterator[Node]:
        """All nodes, each before its children, children in order."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def count(self) -> int:
        """Count decisions and ends (folds and showdowns): ``betting_nodes`` of the JSON form."""
        return sum(node.kind != "chance" for node in self.nodes())

    def find(self, line: str) -> Node:
        """Give the node at a line: ``cr120c`` is a chance node, ``cr120c/`` the round that follows it."""
        return find_node(self.root, line)

    def alone(self, line: str) -> Node:
        """Give what `find` gives, but for rounds after the node's, without building the whole tree."""
        return find_node(self.entered(entry(line)), line)

    @cached_property
    def rounds(self) -> Mapping[int, Mapping[str, Node]]:
        """For each round of the game the decisions that start it, by line: the roots of its chunks."""
        found: dict[int, dict[str, Node]] = {
            r: {} for r in range(self.config.start_round, self.config.game.num_rounds)
        }
        if self.root.kind == "decision":
            found[self.root.round][self.root.line] = self.root
        for node in self.nodes():
            if node.kind == "chance" and node.children[0].kind == "decision":
                child = node.children[0]
                found[child.round][child.line] = child
        return found


def build_tree(config: TreeConfig) -> BettingTree:
    """Build the tree of a configuration now.

    Raises:
        InputError: as `BettingTree.root`.
    """
    tree = BettingTree(config)
    tree.root  # noqa: B018 - which is built here
    return tree


def tree_after(
    config: TreeConfig, actions: Sequence[str], more: Sequence[str] = (), *, donk: bool = False
) -> BettingTree:
    """Build the tree below a state of a spot's first round, which may have been reached by any legal amounts.

    Args:
        config: of the spot.
        actions: what was done in its first round, in the ACPC's text with totals since the spot's root.
        more: bets or raises at the root beside those of the config's sizes.
        donk: whether who starts the round called the last bet of the one before.

    Raises:
        InputError: an action is not legal, or the round is over after them.
    """
    state = config.start()
    for action in actions:
        state = state.apply(action)
    if state.to_act is None or state.round:
        raise InputError(f"line {state.line!r}: expected a decision of the spot's first round, found its end")
    for action in more:
        state.apply(action)  # which refuses what is not legal
    with collection_put_off():
        root = _Widened(config, state, more).decision(state, config.start_base, donk and not actions)
    return BettingTree(config).below(root)


def terminal_stakes(node: Node, config: TreeConfig) -> float:
    """Chips that change hands at an end of the tree; half of a spot's pot is each player's.

    Fold: what the folder loses. Showdown: what the loser loses; a tie is worth 0.
    """
    if node.kind == "fold" and node.player is not None:
        return config.pot / 2 + node.put_in[node.player]
    if node.kind == "showdown":
        return config.pot / 2 + min(node.put_in)
    raise InputError(f"line {node.line!r}: expected a fold or a showdown, found a {node.kind}")


def terminal_rake(node: Node, config: TreeConfig) -> float:
    """Chips that the house takes at an end of the tree, of all that was matched: an uncalled bet goes back."""
    if node.kind not in ("fold", "showdown"):
        raise InputError(f"line {node.line!r}: expected a fold or a showdown, found a {node.kind}")
    return config.rake.of(config.pot + 2 * min(node.put_in))


class _Builder:
    """Builds nodes depth first; a path is at most 64 actions a round, so recursion is safe."""

    def __init__(self, config: TreeConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.known: dict[tuple[object, ...], tuple[Action, ...]] = {}

    def root(self) -> Node:
        """Build the whole tree."""
        state = self.config.start()
        if state.is_over:
            return self.after_round(state, 0, "")
        return self.decision(state, self.config.start_base)

    def decision(self, state: Betting, base: int, donk: bool = False) -> Node:
        """Build a decision and all below it; `base`: what both had put in before this round."""
        actions = self.known_actions(state, base, donk)
        line = state.line
        children = tuple([self.child(state, action, base, line) for action in actions])
        return self.make("decision", state.to_act, state.round, state.spent, line, actions, children)

    def child(self, state: Betting, action: Action, base: int, line: str) -> Node:
        """Build what follows an action of the decision at `line`."""
        if action.kind == "fold":
            return self.make("fold", state.to_act, state.round, state.spent, line + "f")
        if action.amount:  # it is legal: what `Betting.apply` asks again takes half of the time
            return self.decision(state.raised(base + action.amount), base)
        following = state.called()
        if following.is_over:
            return self.after_round(following, state.round, line + "c")
        if following.round == state.round:
            return self.decision(following, base)
        below = self.decision(following, following.spent[0], is_donk(state, following))
        return self.make("chance", None, state.round, following.spent, line + "c", (), (below,))

    def after_round(self, state: Betting, ended: int, line: str) -> Node:
        """Run the board out from the round that ended to the showdown."""
        last = self.rules.num_rounds - 1
        node = self.make("showdown", None, last, state.spent, line + "/" * (last - ended))
        for r in range(last - 1, ended - 1, -1):
            node = self.make("chance", None, r, state.spent, line + "/" * (r - ended), (), (node,))
        return node

    def known_actions(self, state: Betting, base: int, donk: bool) -> tuple[Action, ...]:
        """The actions at a decision, made once for all lines that meet there."""
        acted = len(state.rounds[-1])
        key = (state.round, acted, state.num_raises, state.to_act, state.spent, state.raise_by, base, donk)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = tuple(self.actions(state, base, donk))
        return found

    def actions(self, state: Betting, base: int, donk: bool) -> Iterator[Action]:
        player = state.to_act
        if player is None:
            return
        unit = self.config.unit
        if state.can_fold:
            yield Action("fold", 0, "f", unit)
        yield Action("call" if state.spent[player] < max(state.spent) else "check", 0, "c", unit)
        faces_bet = max(state.spent) > base
        for total in raise_totals(self.config, state, base, donk):
            allin = total >= min(state.stack(0), state.stack(1))
            kind: ActionKind = "allin" if allin else "raise" if faces_bet else "bet"
            yield Action(kind, total - base, "r" if self.rules.limit else f"r{total}", unit)

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
    """Builds a tree with more bets or raises at its root."""

    def __init__(self, config: TreeConfig, state: Betting, more: Sequence[str]) -> None:
        super().__init__(config)
        self.state, self.more = state, more

    def actions(self, state: Betting, base: int, donk: bool) -> Iterator[Action]:
        found = list(super().actions(state, base, donk))
        if state is self.state:
            kind: ActionKind = "raise" if max(state.spent) > base else "bet"
            known = {action.acpc for action in found}
            totals = [int(text[1:]) for text in self.more if text not in known]
            found += [Action(kind, total - base, f"r{total}", self.config.unit) for total in totals]
            found.sort(key=lambda action: action.amount)  # fold and call, with none, stay in front
        yield from found


class _OneRound(_Builder):
    """Builds the round that a line enters, and the way there; what branches off the way is a node and no more."""

    def __init__(self, config: TreeConfig, entered: str) -> None:
        super().__init__(config)
        self.entered = entered

    def decision(self, state: Betting, base: int, donk: bool = False) -> Node:
        line = state.line
        if entry(line) == self.entered or self.entered.startswith(line):
            return super().decision(state, base, donk)
        return self.make("decision", state.to_act, state.round, state.spent, line)

    def child(self, state: Betting, action: Action, base: int, line: str) -> Node:
        following = line + action.acpc
        if entry(line) == self.entered or self.entered.startswith(following):
            return super().child(state, action, base, line)
        return self.make("decision", None, state.round, state.spent, following)


def entry(line: str) -> str:
    """What enters the round that a line ends in.

    >>> entry("cr120c/cr336"), entry("cr120c/"), entry("cr120")
    ('cr120c/', 'cr120c/', '')

    Raises:
        InputError: the line is no text.
    """
    if not isinstance(line, str):
        raise InputError(f"line: expected a betting string such as 'cr120c/', found {shown(line)}")
    return line[: line.rfind("/") + 1]


def decision_at(root: Node, line: str) -> Node:
    """Give the decision at a line of a tree that has the round in which the line ends.

    Raises:
        InputError: as `entry` and `find_node`, or the line ends elsewhere.
    """
    entry(line)
    node = find_node(root, line)
    if node.kind != "decision":
        found = {"fold": "a fold", "showdown": "a showdown", "chance": "a deal of cards"}[node.kind]
        raise InputError(f"line {told_line(line)!r}: expected a decision, found {found}")
    return node


_TOKEN = re.compile(r"[fc/]|r[0-9]*")


def find_node(root: Node, line: str) -> Node:
    """Give the node at a line of a tree.

    Raises:
        InputError: where the line leaves the tree, and what it might have been there.
    """
    node = root
    for above, action in way(root, line):
        node = above.children[action]
    return node


def way(root: Node, line: str) -> Iterator[tuple[Node, int]]:
    """Give the nodes on the way to a line's, without it, and the number of the child that each goes on to.

    Raises:
        InputError: as `find_node`.
    """
    node, position = root, 0
    while position < len(line):
        match = _TOKEN.match(line, position)
        token = match.group() if match else line[position]
        taken = 0
        if node.kind != "chance" or token != "/":
            choice = [i for i, action in enumerate(node.actions) if action.acpc == token]
            if not choice:
                raise refusal(f"line {shown(line)}, position {position}", node, token, _off(token))
            taken = choice[0]
        yield node, taken
        node = node.children[taken]
        position += len(token)


def _off(token: str) -> Callable[[Action], float] | None:
    """How far actions are from a bet or raise in the ACPC's text; None: it has no total."""
    total = int(token[1:]) if re.fullmatch(r"r[0-9]{1,18}", token) else None
    return None if total is None else lambda action: abs((action.total or 0) - total)
