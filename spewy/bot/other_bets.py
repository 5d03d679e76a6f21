"""What is played in one betting tree, played in another whose bets are others.

Both trees are gone down together. A decision of the one is taken for the one of the other that the same actions lead
to, each bet as the likelier of the two beside it (`spewy.bot.translate`); what is done there is done here, each bet
again as the likelier one. Where the other tree has nothing any more, because its players are all in for less, is
checked and called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from solvers.tree import Ints
from spewy.bot.resolve import Plays
from spewy.bot.subgames import Root, SubGames
from spewy.bot.translate import taken_for
from spewy.game.nodes import Node
from spewy.records.policy import Stacked


class Taken(NamedTuple):
    """What a decision is taken for.

    Attributes:
        line: of the other tree's decision; None: it has none.
        places: per action there, the number of the action here that is done for it.
        call: the number of the action here that checks or calls.
        n_actions: here.
    """

    line: str | None
    places: tuple[int, ...]
    call: int
    n_actions: int


def taken_over(games: SubGames, root: Root, other: Root, plays: Plays) -> Plays:
    """What a player does in a sub-game who does in another one of the same round as given.

    Args:
        games: makes both.
        root: the betting at the root of the one.
        other: at the root of the other.
        plays: what is done in the other.

    Raises:
        InputError: one of them cannot be.
    """
    trees = games.tree(root).root, games.tree(other).root
    found = dict(decisions_taken(*trees, root.base, other.base))

    @lru_cache(None)
    def moved(lines: tuple[str, ...]) -> _Moved:
        return _moved([found[line] for line in lines])

    def played(lines: list[str], board: tuple[int, ...]) -> Stacked:
        asked, from_, begins, to, calls, n_actions = moved(tuple(lines))
        theirs = plays(asked, board) if asked else Stacked.by_hand(np.zeros((0, games.n_hands)))
        out = np.zeros((n_actions, theirs.frequencies.shape[1]))
        out[to] = np.add.reduceat(theirs.frequencies[from_], begins, axis=0)
        out[calls] = 1.0
        return theirs._replace(frequencies=out)

    return played


class _Moved(NamedTuple):
    """How actions of some decisions there, one after another, become actions here.

    Attributes:
        asked: the lines of the decisions there.
        from_: the actions there, ordered by what is done for them.
        begins: where in that order another action here begins.
        to: which it is.
        calls: the actions here that are always done.
        n_actions: here.
    """

    asked: list[str]
    from_: Ints
    begins: Ints
    to: Ints
    calls: list[int]
    n_actions: int


def _moved(here: Sequence[Taken]) -> _Moved:
    first_there: dict[str, int] = {}
    there = first = 0
    pairs: list[tuple[int, int]] = []
    calls = []
    for taken in here:
        if taken.line is None:
            calls.append(first + taken.call)
        else:
            if taken.line not in first_there:
                first_there[taken.line], there = there, there + len(taken.places)
            begin = first_there[taken.line]
            pairs += [(first + place, begin + number) for number, place in enumerate(taken.places)]
        first += taken.n_actions
    ordered = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    to, begins = np.unique(ordered[:, 0], return_index=True)
    return _Moved([*first_there], ordered[:, 1], begins, to, calls, first)


def decisions_taken(root: Node, other: Node, base: int, other_base: int) -> Iterator[tuple[str, Taken]]:
    """The line of each decision of a tree, with what it is taken for in another one that begins in the same round.

    Args:
        root: a decision.
        other: the one that it is taken for.
        base: what each player had put in before the trees' lines begin, which pots are told with.
        other_base: the same of the other tree.
    """
    left: list[tuple[Node, Node | None]] = [(root, other)]
    while left:
        node, there = left.pop()
        if not node.actions:
            continue  # an early end
        if there is not None and (there.round, there.player) != (node.round, node.player):
            there = None
        call = [action.acpc for action in node.actions].index("c")
        if there is None:
            yield node.line, Taken(None, (), call, len(node.actions))
            left += [(child, None) for child in map(_decided, node.children) if child is not None]
            continue
        here, beyond = _shares(node, base), _shares(there, other_base)
        places = [call if place is None else place for place in _places(there, beyond, node, here)]
        yield node.line, Taken(there.line, tuple(places), call, len(node.actions))
        below = _places(node, here, there, beyond)
        for number, place in reversed([*enumerate(places)]):
            below[place] = number  # of actions there that are the same one here, the first
        for child, taken in zip(node.children, below, strict=True):
            following = _decided(child)
            if following is not None:
                left.append((following, None if taken is None else _decided(there.children[taken])))


def _decided(node: Node) -> Node | None:
    """The decision that a node is, or that follows when cards were dealt; None: the hand is over."""
    while node.kind == "chance":
        (node,) = node.children
    return node if node.kind == "decision" else None


def _shares(node: Node, base: int) -> list[float]:
    """Of each action the bet or raise as a share of the pot after a call; not above 0: it is none."""
    assert node.player is not None
    highest = max(node.put_in)
    pot = max(2 * (base + highest), 1)
    return [
        (child.put_in[node.player] - highest) / pot if action.acpc[0] == "r" else 0.0
        for action, child in zip(node.actions, node.children, strict=True)
    ]


def _places(node: Node, shares: Sequence[float], there: Node, theirs: Sequence[float]) -> list[int | None]:
    """Per action of a decision, the number of the action of another that it is taken for; None: it has none."""
    raises = sorted((share, number) for number, share in enumerate(theirs) if share > 0)
    names = [action.acpc for action in there.actions]
    out: list[int | None] = []
    for action, share in zip(node.actions, shares, strict=True):
        if not share > 0:
            out.append(names.index(action.acpc) if action.acpc in names else None)
        elif not raises:
            out.append(None)
        elif action.kind == "allin":
            out.append(raises[-1][1])
        else:
            out.append(raises[taken_for(share, [size for size, _ in raises])][1])
    return out
