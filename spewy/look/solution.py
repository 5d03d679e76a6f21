"""Solve a job, and open its `Solution`: decisions, reports, comparisons and exploitability of a solve.

>>> from spewy import Solution
>>> solution = Solution.open("results/T1")  # doctest: +SKIP
>>> solution.node("x b120 c", "Qs Jh 2h 8c 3d").frame()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lockers import Store, holds_store, open_store
from spewy.chunks.locate import Place
from spewy.errors import InputError, MissingError, path_text
from spewy.job.job import Job
from spewy.look import ABOVE
from spewy.look.compare import Comparison, Side, compare
from spewy.look.dropped import StoreReads
from spewy.look.exploit import DecisionLoss, ExploitResult, JudgingListener
from spewy.look.openspiel import spiel_policy
from spewy.look.report import Report, report
from spewy.look.view import SolveView
from spewy.records.chunks import Chunks
from spewy.records.progress import read_result, read_trace, require_whole

if TYPE_CHECKING:
    import pandas as pd

    from spewy.look.chunk_game import OneChunk
    from spewy.look.evaluate import Evaluation
    from spewy.run.events import Listener
    from spewy.run.result import SolveResult


class Solution(SolveView):
    """The strategies of a solve, and everything that can be computed from them.

    `Solution.open` opens the folder of a solve. The constructor has the arguments of `spewy.look.view.SolveView`, which
    this class extends. In all methods, ``line`` is the betting since the root of the solve, as players write it
    (``"x b120 c"``) or as an ACPC string (``"cr120c/"``); at the end of a round the ``/`` can be left out if the board
    has the next cards. ``board`` has all public cards; None stands for the root's. A line that does not exist, and a
    board that is impossible after the line, are an `InputError`. `at` reads a line and a board once, and returns a
    `spewy.chunks.locate.Place`, which all methods take instead of a line.
    """

    @cached_property
    def result(self) -> SolveResult | None:
        """Result of the last run; None if the run was interrupted, or if a later run has changed the strategies."""
        stored = self._of_main_store(read_result)
        if stored is None or stored["sweeps"] != self.sweeps:
            return None
        from spewy.run.result import SolveResult

        return SolveResult.of_json(stored).in_unit(self.job.amounts)

    def trace(self) -> pd.DataFrame:
        """Return a data frame with a row for each check of exploitability, over all runs of the solve.

        Checks after the save that this solution reads are left out.

        Returns:
            Columns ``sweeps`` (number of sweeps or deals), ``seconds``, and ``exploitability`` in the job's unit; for a
            spot also ``exploitability_pct`` (% of the pot), for a whole game ``exploitability_mbb`` (mbb per hand).
        """
        import pandas as pd

        chips = self.job.amounts.chips
        if self.result is None:
            checks = [check for check in self._of_main_store(read_trace) or [] if check[0] <= self.sweeps]
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

    def report(
        self,
        line: str | Place,
        board: str | Sequence[int] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Report both ranges after a line, for every card that can be dealt: see `spewy.look.report.report`.

        Args:
            line: a line that ends a round (``cc`` or ``cc/``), after which the cards are dealt; or a line to a decision
                later in the next round (``cc/c``); or the place of either.
            board: public cards before the deal; None for the root's.
            progress: called with the numbers of computed boards and of all boards.
        """
        return report(self, line, board, progress)

    def compare(
        self, other: Side, line: str | Place = "", board: str | Sequence[int] | None = None
    ) -> Comparison:
        """Compare this solve with another one at a decision: see `spewy.look.compare.compare`."""
        return compare(self, other, line, board)

    def exploitability(
        self,
        flops: int | None = None,
        seed: int | None = None,
        workers: int | None = None,
        listener: JudgingListener | None = None,
        *,
        lp: bool = False,
    ) -> ExploitResult:
        """Measure the exploitability of the average strategies, by exact best responses in the game without buckets.

        Args:
            flops: in a whole game with board buckets, number of flops drawn at random; None for all.
            seed: seed of the draw; None for 0.
            workers: number of processes that compute best responses on flops; None for one on each core.
            listener: called with `spewy.JudgingBegan`, then `spewy.FlopJudged` after each flop; None: nobody listens.
            lp: whether a linear program of the whole game computes the value of the game and ``of_players``, too; for
                rivers and other small games without rake and board buckets.

        Raises:
            InputError: rounds were dropped, an argument that is not None has no effect on this solve, or the game is
                none for the linear program.
        """
        if not self.job.sampled:
            self._refuse("without [boards]", flops=flops, seed=seed, workers=workers, listener=listener)
            return _measured(self, lp=lp)
        self._refuse("in a game with [boards]", lp=lp or None)
        from spewy.look.judging import judge_folder, judge_in_memory

        if flops is None:
            self._refuse("without flops, since all flops are measured", seed=seed)
        if self.folder is None:
            self._refuse("in memory, where one process measures", workers=workers, listener=listener)
            return judge_in_memory(self.job, self.store, flops=flops, seed=seed or 0)
        return judge_folder(self.folder, listener, flops=flops, seed=seed or 0, workers=workers)

    def _refuse(self, reason: str, **arguments: object) -> None:
        for name, value in arguments.items():
            if value is not None:
                raise InputError(f"job {self.job.name}: {name} has no effect {reason}; remove it")

    def evaluate(
        self, locks: Sequence[str] = (), against: SolveView | None = None, player: int | None = None
    ) -> tuple[Evaluation, ...]:
        """Compute EVs of the stored strategies with locked play: see `spewy.look.evaluate.evaluate`.

        >>> solution.evaluate(["x: bet 120"])[0].difference  # doctest: +SKIP
        (5.49, -5.49)

        Raises:
            InputError: a lock is invalid, a solve has board buckets or dropped rounds, the solves have different games,
                or the machine has too little memory.
        """
        from spewy.look.evaluate import evaluate  # imported here, since it loads kernels

        return evaluate(self, locks, against, player)

    def chunk(
        self,
        line: str | Place = "",
        board: str | Sequence[int] | None = None,
        payoffs: Literal["average", "stored"] = "average",
    ) -> OneChunk:
        """Return the chunk that a line enters (the betting of one round), as a matrix game with named rows.

        Args:
            line: betting since the root of the solve, ``""`` or ending in ``/``.
            board: all public cards; None for the root's.
            payoffs: source of the payoffs at chance leaves. ``"average"`` computes them from the average strategies of
                all later chunks; ``"stored"`` reads what the last visits stored, or estimates them.

        Raises:
            InputError: no betting round starts after the line; the job has rake, locks or board buckets; or payoffs
                cannot be computed, since later rounds were dropped or have too many chunks.
        """
        from spewy.look.chunk_game import stored_chunk  # imported here, since it loads kernels

        self.job.require_walked(f"job {self.job.name}: chunk")
        assert isinstance(self.reads, StoreReads)
        return stored_chunk(self.job, self.problem, self.reads, line, board, payoffs)

    def browse(self, line: str = "", board: str | None = None) -> Any:
        """Show the solution in a notebook, to click through its actions, cards and hands.

        Returns:
            A `spewy.web.widget.LookWidget`, which a notebook displays. Its ``place`` is the position that it shows.

        Raises:
            MissingError: a package that the widget needs is not installed.
        """
        for package in ("anywidget", "starlette"):
            if find_spec(package) is None:
                raise MissingError(
                    f"browse: needs the package {package}, which is not installed (pip install 'spewy[web]')"
                )
        return ABOVE["look_widget"](self, line, board)

    def to_openspiel(self) -> Any:
        """Convert the average strategies of a small game to an ``open_spiel.python.policy.TabularPolicy``.

        Raises:
            MissingError: OpenSpiel is not installed.
            InputError: the job is a spot, OpenSpiel lacks the game or plays it by different rules, the game is too
                large for a table, or the betting tree lacks actions of the game.
        """
        if self.job.spot is not None:
            raise InputError(f"job {self.job.name}: expected a whole game for OpenSpiel, found a spot")
        return spiel_policy(self.job.betting_tree, partial(self.node, ev=False))

    def _of_main_store(self, read: Callable[[Store], Any]) -> Any:
        """Return ``read(store)`` for the store with checks and results; None if there is only a strategy locker."""
        if not self.job.sampled:
            return read(self.store)
        if self.folder is None or not holds_store(self.folder):
            return None
        with open_store(self.folder, read_only=True) as store:
            if store.manifest != self.store.manifest:
                name = path_text(self.folder)
                raise InputError(
                    f"folder {name}: another solve has replaced the one that was opened; open it again"
                )
            with store.snapshot():
                return read(store)


def _measured(solution: Solution, *, lp: bool) -> ExploitResult:
    require_whole(solution.store, solution.job.rules.num_rounds, solution.job.name)
    from solvers.measure import decision_losses, exploitability  # imported here, since they load kernels
    from solvers.reference.walk import Walker

    layout = solution.layout
    walker, sums = Walker(layout.live, solution.job.solve.threads), Chunks(layout, solution.store).whole()
    pots = [
        np.array([layout.problem.pot + sum(node.put_in) for node in bets.nodes]) for bets in layout.betting
    ]
    gap, losses = exploitability(walker, sums), decision_losses(walker, sums, pots)
    pct, mbb = layout.problem.in_units(gap.value)
    bracket, of_players = gap.bracket, None
    if lp:
        from spewy.learn.lp import value_bracket  # scipy only where it is needed

        bracket = value_bracket(layout.problem, solution.job.name, solution.job.solve.threads)
        value, (of_oop, of_ip) = sum(bracket) / 2, gap.best_response
        of_players = (value + of_ip, of_oop - value)
    result = ExploitResult(
        solution.job.name,
        solution.sweeps,
        gap.value,
        pct,
        mbb,
        gap.best_response,
        bracket,
        of_players,
        losses=DecisionLoss(100 * losses.value, sum(losses.decisions), sum(losses.unknown)),
    )
    return result.in_unit(solution.job.amounts)


def solve(
    job: Job | str | Path,
    folder: str | Path | None = None,
    *,
    quick: float | None = None,
    listener: Listener | None = None,
) -> Solution:
    """Solve a job, or continue its solve, until it reaches its target or its last sweep.

    >>> import spewy
    >>> solution = spewy.solve("examples/R1.toml")  # doctest: +SKIP
    >>> solution.result.exploitability_pct  # doctest: +SKIP
    0.09

    Args:
        job: the job, or the path of its file.
        folder: folder for the lockers of the job, which is created if it is missing; None keeps them in memory.
        quick: seconds of a quick solve of a flop or turn, as ``solve.quick`` of the job file; None: as the job says.
        listener: called with each event of the solve, such as `spewy.Checked`; None: nobody listens.

    Returns:
        The solution, with the result of the solve in ``solution.result``.

    Raises:
        NotSolvedError: the solve was interrupted before its first save.
        lockers.LockerError: the folder holds another job, or is damaged.
    """
    from spewy.run.session import Session  # imported here, since it loads kernels

    job = job if isinstance(job, Job) else Job.load(job)
    job = job if quick is None else job.replace(quick=f"{quick:g} s")
    session = Session(job, folder)
    try:
        result = session.solve(listener)
        solution = Solution(job, session.strategies) if folder is None else None
    except BaseException:
        session.close()
        raise
    if solution is None:
        assert folder is not None
        session.close()
        solution = Solution.open(folder)
    solution.result = result
    return solution
