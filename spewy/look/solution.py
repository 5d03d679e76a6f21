"""`Solution`: decisions, children, reports, comparisons and exploitability of a solve of any kind.

>>> from spewy import Solution
>>> solution = Solution.open("results/T1")  # doctest: +SKIP
>>> solution.node("x b120 c", "Qs Jh 2h 8c 3d").frame()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lockers import Store, holds_store, open_store
from spewy.errors import InputError
from spewy.game.nodes import Line, Node
from spewy.look.chunk import Cards, ChunkView
from spewy.look.compare import Comparison, compare
from spewy.look.dropped import StoreReads
from spewy.look.exploit import ExploitResult, JudgingReporter
from spewy.look.node import NodeView, Step
from spewy.look.openspiel import spiel_policy
from spewy.look.report import Report, report
from spewy.look.view import SolveView
from spewy.look.walk import children
from spewy.records.chunks import Chunks
from spewy.records.progress import read_result, read_trace, require_whole

if TYPE_CHECKING:
    import pandas as pd

    from spewy.look.chunk_game import OneChunk
    from spewy.run.result import SolveResult


class Solution(SolveView):
    """A solve of any kind, with all that can be computed from it; extends `spewy.look.view.SolveView`.

    Arguments are those of `SolveView`; `open` opens the folder of a solve.
    """

    @cached_property
    def result(self) -> SolveResult | None:
        """Result of the last run; None if it is unknown or a later run has changed the strategies."""
        stored = self._of_main_store(read_result)
        if stored is None or stored["sweeps"] != self.sweeps:
            return None
        from spewy.run.result import SolveResult  # which loads kernels

        return SolveResult.of_json(stored).in_unit(self.job.amounts)

    def trace(self) -> pd.DataFrame:
        """The checks of the solve, earlier runs included.

        Returns:
            Columns ``sweeps`` (or deals), ``seconds``, ``exploitability`` in the job's unit, and where they apply
            ``exploitability_pct`` (of the pot) and ``exploitability_mbb`` (per hand).
        """
        import pandas as pd

        chips = self.job.amounts.chips
        if self.result is None:
            checks = self._of_main_store(read_trace) or []
        else:
            checks = [(sweeps, seconds, gap * chips) for sweeps, seconds, gap in self.result.trace]
        frame = pd.DataFrame(checks, columns=["sweeps", "seconds", "exploitability"])
        for name, values in zip(
            ("exploitability_pct", "exploitability_mbb"),
            zip(*map(self.problem.in_units, frame["exploitability"]), strict=True),
            strict=False,
        ):
            if None not in values:
                frame[name] = np.array(values, dtype=np.float64)
        frame["exploitability"] /= chips
        return frame

    def children(self, line: str = "", board: str | Sequence[int] | None = None) -> tuple[Step, ...]:
        """The actions or cards that can follow a line, each with its frequency; none after the end of a hand.

        Raises:
            InputError: there is no such line, or a board that cannot follow.
        """
        return children(self, line, board)

    def report(
        self,
        line: str,
        board: str | Sequence[int] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Report both ranges at a line, on every card that can be dealt before it: see `spewy.look.report.report`.

        Raises:
            InputError: there is no such line, no deal on it, or a board that cannot be there before the deal.
        """
        return report(self, line, board, progress)

    def compare(self, other: SolveView, line: str = "", board: str | None = None) -> Comparison:
        """Compare this solve with another at a decision of both: see `spewy.look.compare.compare`.

        Raises:
            InputError: the games differ, one lacks the line, another player acts there, or no hand is in both.
        """
        return compare(self, other, line, board)

    def exploitability(
        self,
        flops: int | None = None,
        seed: int | None = None,
        workers: int | None = None,
        reporter: JudgingReporter | None = None,
    ) -> ExploitResult:
        """Exploitability of the average strategies, from exact best responses in the game without any buckets.

        Args:
            flops: in a whole game with board buckets, number of flops drawn at random; None for all.
            seed: seed of the draw; None for 0.
            workers: number of processes that judge flops; None for a core each.
            reporter: called for each flop.

        Raises:
            InputError: rounds were dropped, or ``flops`` or ``seed`` is given for a solve without board buckets.
        """
        if self.job.sampled:
            from spewy.look.judging import judge_folder, judge_in_memory

            if self.folder is None:
                return judge_in_memory(self.job, self.store, flops=flops, seed=seed or 0)
            return judge_folder(self.folder, reporter, flops=flops, seed=seed or 0, workers=workers)
        for name, value in (("flops", flops), ("seed", seed)):
            if value is not None:
                raise InputError(
                    f"job {self.job.name}: {name} has no effect without [boards], where all boards are judged"
                )
        require_whole(self.store, self.job.rules.num_rounds, self.job.name)
        from solvers.measure import exploitability as measure  # which loads kernels
        from solvers.reference.walk import Walker

        layout = self.layout
        gap = measure(Walker(layout.live, self.job.solve.threads), Chunks(layout, self.store).whole())
        pct, mbb = layout.problem.in_units(gap.value)
        result = ExploitResult(
            self.job.name, self.sweeps, gap.value, pct, mbb, gap.best_response, gap.bracket
        )
        return result.in_unit(self.job.amounts)

    def chunk(
        self,
        line: str = "",
        board: str | Sequence[int] | None = None,
        payoffs: Literal["average", "stored"] = "average",
    ) -> OneChunk:
        """The chunk that a line enters, as a matrix game with named rows.

        Args:
            line: betting since the solve's root, ``""`` or ending in ``/``.
            board: all public cards; None for the root's.
            payoffs: payoffs of leaves before later rounds. "average": under the stored average strategies, computed
                chunk by chunk; "stored": as the last visits left them, or estimates.

        Raises:
            InputError: no betting round starts there, or the board cannot follow; the job has rake, locks or board
                buckets; or too many chunks follow to compute their payoffs, or they were dropped.
        """
        from spewy.look.chunk_game import stored_chunk  # which loads kernels

        self._require_walked("chunk")
        assert isinstance(self.reads, StoreReads)
        return stored_chunk(self.job, self.problem, self.reads, line, board, payoffs)

    def to_openspiel(self) -> Any:
        """The average strategies of a whole small game, as an ``open_spiel.python.policy.TabularPolicy``.

        Raises:
            MissingError: OpenSpiel is not installed.
            InputError: the job is a spot, OpenSpiel lacks the game or has it with other stacks, the game is too large
                for a table, or the betting tree lacks actions of the game.
        """
        if self.job.spot is not None:
            raise InputError(f"job {self.job.name}: expected a whole game for OpenSpiel, found a spot")
        return spiel_policy(self.job.betting_tree, partial(self.node, ev=False))

    def _node_view(self, view: ChunkView, node: Node, player: int, cards: Cards) -> NodeView:
        """The hands of a player, with steps to the node's children."""
        shown = super()._node_view(view, node, player, cards)
        return replace(shown, follow=partial(children, self, Line(node.line), cards))

    def _of_main_store(self, read: Callable[[Store], Any]) -> Any:
        """Call a function with the solve's main store; return None if there is only a strategy locker."""
        if not self.job.sampled:
            return read(self.store)
        if self.folder is None or not holds_store(self.folder):
            return None
        with open_store(self.folder, read_only=True) as store:
            return read(store)
