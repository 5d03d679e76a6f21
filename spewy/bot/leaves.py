"""What a folder's payoff matrices say of the ends of a round: leaves of a sub-game that does not go on from there.

`spewy payoffs` keeps, for each class of boards and each line that enters a round, what player 0 wins if both play on as
the locker has it. The next cards lead to boards of some classes, and hands to rows there; the line of a leaf is the
locker's own where it has that, else the one most like it, rescaled to the pot (the paper's "closest situation").
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import log
from pathlib import Path

import numpy as np

from lockers import open_store
from solvers.below import DealtPayoffs
from solvers.forest import Ints
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.game.nodes import Node
from spewy.game.tree import entry
from spewy.look.play import payoffs_home
from spewy.records.class_payoffs import FOLDER, ClassPayoffs
from spewy.records.class_policy import ClassPolicy
from spewy.records.policy import Decides
from spewy.system.closing import Closing

ODD = log(2)
"""How far a line is whose round, or what came before, was bet otherwise: as far as one of twice the pot."""


class Leaves(Closing):
    """Payoff matrices of a whole game, as values of a round's chance leaves.

    Args:
        policy: whose boards have the classes; it is not closed with this.
        payoffs: the matrices; `close` closes them.

    Attributes:
        rounds: whose ends have values: all classes of the next round have matrices.
    """

    def __init__(self, policy: ClassPolicy, payoffs: ClassPayoffs) -> None:
        self._policy, self._payoffs = policy, payoffs
        self._game = policy.problem.game
        self._entered = lru_cache(None)(policy.entered)
        classes = policy.averages.saved.classes
        later = range(2, self._game.num_rounds)
        self.rounds = frozenset(t - 1 for t in later if len(payoffs.done(t)) == classes[t])

    @classmethod
    def within(cls, folder: str | Path, policy: Decides) -> Leaves:
        """Those of a folder.

        Args:
            folder: a solve's, or its play locker.
            policy: that was opened there.

        Raises:
            InputError: it has none, or not those of all classes of a round; or the game ends with the flop.
            lockers.LockerError: they are another job's, or damaged.
        """
        home = payoffs_home(folder) / FOLDER
        if not isinstance(policy, ClassPolicy) or not home.exists():
            raise InputError(f"folder {folder}: expected payoff matrices (spewy payoffs), found none")
        n_rounds = policy.problem.game.num_rounds
        if n_rounds < 3:
            raise InputError(f"leaves: expected a game with a round after the flop, found {n_rounds} rounds")
        payoffs = ClassPayoffs(open_store(home, policy.averages.manifest, read_only=True))
        try:
            found = cls(policy, payoffs)
            if not found.rounds:
                raise InputError(
                    f"folder {home}: expected payoff matrices of all classes of a round after the flop, found fewer "
                    "(spewy payoffs goes on)"
                )
            return found
        except BaseException:
            payoffs.close()
            raise

    def of(self, layout: Layout, base: int, begun: str | None) -> DealtPayoffs:
        """The values of a sub-game's chance leaves.

        Args:
            layout: the round alone, on one board.
            base: what each player had put in before it.
            begun: the line of the locker's tree that enters the round; None: it has none.

        Raises:
            InputError: there are no matrices.
            lockers.LockerError: they are damaged.
        """
        board = layout.board(0, 0)
        t, nodes = layout.boards[0].round, layout.betting[0].nodes
        ends = [nodes[n] for n in layout.betting[0].forest.chance_leaves]
        lines = [self._closest(t + 1, leaf, base, begun) for leaf in ends]
        classes, rows = self._dealt(t, board.cards)
        shape = (len(self._entered(t + 1)), *2 * (self._policy.averages.saved.rows[t + 1],))
        found = {class_: self._payoffs.get(t + 1, class_, shape) for class_ in set(classes.tolist())}
        scale = np.array(
            [
                (base + min(leaf.put_in)) / min(self._entered(t + 1)[r].put_in)
                for leaf, r in zip(ends, lines, strict=True)
            ],
            dtype=np.float32,
        )
        payoffs = np.array([found[class_][lines] * scale[:, None, None] for class_ in classes.tolist()])
        live = layout.live.rounds[0].rows
        first, second = ((mine.blockers[0], mine.twin[0]) for mine in live)
        held = [rows[:, mine.hands] for mine in board.rows]
        return DealtPayoffs(
            payoffs,
            (first[0], second[0]),
            (held[0], held[1]),
            (first[1], second[1]),
            layout.live.n_ids,
            layout.boards[0].probability,
        )

    def _dealt(self, t: int, board: tuple[int, ...]) -> tuple[Ints, Ints]:
        """``[deal]`` classes and ``[deal, hand of the deck]`` rows, -1 where a hand cannot be held."""
        left = [card for card in self._game.deck.cards if card not in board]
        n = self._game.num_board_cards[t + 1]
        if n != 1:
            raise InputError(f"round {t}: expected one card to be dealt after it, found {n}")
        return self._policy.classes.boards(t + 1, np.array([[*board, card] for card in left]))

    def _closest(self, t: int, leaf: Node, base: int, begun: str | None) -> int:
        """The number of the locker's line that is most like a leaf's."""
        ended = leaf.children[0].kind != "decision"
        stake, shape = base + min(leaf.put_in), _shape(leaf.line)

        def far(r: int) -> float:
            node = self._entered(t)[r]
            before, here = _cut(node.line)
            odd = 4 * ((node.kind != "decision") != ended) + (before != begun) + (_shape(here) != shape)
            return abs(log(min(node.put_in) / stake)) + ODD * odd

        return min(range(len(self._entered(t))), key=far)

    def close(self) -> None:
        """Close the matrices."""
        self._payoffs.close()


def _cut(line: str) -> tuple[str, str]:
    """What enters the round before the one that a line enters, and what is done in it.

    >>> _cut("r20c/cr30c/")
    ('r20c/', 'cr30c')
    """
    before = entry(line[:-1])
    return before, line[len(before) : -1]


def _shape(line: str) -> str:
    """A round's line without amounts.

    >>> _shape("cr30r90c")
    'crrc'
    """
    return re.sub(r"\d|/", "", line)
