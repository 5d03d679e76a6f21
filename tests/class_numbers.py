"""Random sums of every class of a small game, and the play locker that is made of them."""

import numpy as np

from solvers.sampled.batches import line_batches
from solvers.sampled.quantise import byte_tables, quantise
from spewy.chunks.rounds import betting_rounds
from spewy.records import strategy_locker
from spewy.records.strategy_locker import LineIndex


class ClassSums:
    """Random sums ``[t][p][class, number]`` of a betting tree."""

    def __init__(self, tree, board_buckets, rows, seed=0):
        rng = np.random.default_rng(seed)
        self.rounds, self.board_buckets, self.rows = betting_rounds(tree), board_buckets, rows
        self.arrays = {"rows": rng.integers(0, 9, (3, 5), dtype=np.int16), "none": np.zeros(0, np.int32)}
        self.batches = line_batches([bets.forest for bets in self.rounds])
        self.tables = [
            [byte_tables(batches, p, k) for p in (0, 1)]
            for batches, k in zip(self.batches, rows, strict=True)
        ]
        self.sums = [
            [rng.exponential(size=(n, tables[p].first[-1])).astype(np.float32) for p in (0, 1)]
            for n, tables in zip(board_buckets, self.tables, strict=True)
        ]
        self.lines = [
            LineIndex.of([chunk.line for chunk in bets.chunks], batches, k)
            for bets, batches, k in zip(self.rounds, self.batches, rows, strict=True)
        ]

    def create(self, folder, manifest):
        """A play locker with nothing in it yet."""
        return strategy_locker.create(folder, manifest, self.lines, self.board_buckets, self.arrays)

    def write(self, store, deals=1):
        """Save all board buckets."""
        for t, n in enumerate(self.board_buckets):
            for c in range(n):
                self.write_bucket(store, t, c)
        strategy_locker.finish_save(store, deals)

    def write_bucket(self, store, t, c):
        """Save one class."""
        first, second = (quantise(self.sums[t][p][c], self.rows[t], self.tables[t][p]) for p in (0, 1))
        strategy_locker.write_bucket(store, t, c, self.lines[t], (first, second))

    def decisions(self):
        """Of each decision: round, root's line, node, player, first free slot, sums ``[class, row, action]``."""
        for t, (bets, batches) in enumerate(zip(self.rounds, self.batches, strict=True)):
            for r, chunk in enumerate(bets.chunks):
                batch, lane = batches.place[r]
                shape, before = batches.shape_of(batch), [0, 0]
                for n, node in enumerate(chunk.nodes):
                    if node.kind != "decision":
                        continue
                    p, k = node.player, len(node.actions)
                    start, end = self.tables[t][p].first[batch : batch + 2]
                    block = self.sums[t][p][:, start:end].reshape(-1, self.rows[t], shape.n_slots[p], 16)
                    slot = int(shape.slot[n])
                    yield t, chunk.line, node, p, slot - before[p], block[:, :, slot : slot + k, lane]
                    before[p] += 1
