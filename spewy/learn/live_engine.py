"""CFR over the live game in memory, by the generic walk."""

from __future__ import annotations

import numpy as np

from lockers import Store
from solvers.cfr import Cfr
from solvers.exploit import Exploitability
from solvers.live import Strategies
from solvers.variants import variant
from spewy.chunks.layout import Layout
from spewy.learn.engine import Check, Progress
from spewy.learn.judge import Judge
from spewy.records.chunks import Chunks, Kind, save_whole
from spewy.records.progress import saved_sweeps


class LiveEngine:
    """CFR over the live game in memory. ``save`` writes everything in one transaction, so a store is never half new."""

    def __init__(
        self,
        layout: Layout,
        store: Store,
        variant_name: str,
        threads: int = 1,
        dtype: type = np.float64,
    ) -> None:
        self.layout = layout
        self.store = store
        self.cfr = Cfr(layout.live, variant(variant_name), threads=threads, dtype=dtype)
        self._judge = Judge(layout, threads)
        self._saved = saved_sweeps(store)
        if self._saved:
            self.cfr.iteration = self._saved
            for kind, arrays in self._arrays().items():
                Chunks(layout, store, kind).whole(arrays)

    @property
    def sweeps(self) -> int:
        """One iteration visits every chunk once."""
        return self.cfr.iteration

    at_once = 1

    def advance(self, sweeps: int, progress: Progress | None = None) -> None:
        """So many CFR iterations."""
        for _ in range(sweeps):
            self.cfr.run(1)
            if progress is not None:
                progress(1, 1)

    def sprint(self, target: float, sweeps: int, every: int) -> list[Check]:
        """Sweeps here are not short."""
        return []

    def exploitability(self) -> Exploitability:
        """Judged by the walk that solves."""
        return self._judge.exploitability(self.cfr.sums)

    def expected_values(self) -> tuple[float, float]:
        """The same way."""
        return self._judge.expected_values(self.cfr.sums)

    def save(self) -> None:
        """Write all chunks' arrays and the number of sweeps together.

        Raises:
            SpewyError: another process has saved to this folder meanwhile.
        """
        if self._saved != self.sweeps:
            save_whole(self.layout, self.store, self._arrays(), self._saved, self.sweeps)
            self._saved = self.sweeps

    def close(self) -> None:
        """Stop the threads."""
        self.cfr.walker.close()

    def _arrays(self) -> dict[Kind, Strategies]:
        out = {Kind.REGRETS: self.cfr.regrets, Kind.SUMS: self.cfr.sums}
        if self.cfr.guesses is not None:
            out[Kind.GUESSES] = self.cfr.guesses
        return out
