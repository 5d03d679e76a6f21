"""Average strategies in 255ths: one byte for each action of a decision except the last.

A decision's sums ``s[a]`` give the frequencies ``f[a] = s[a] / Σ s``, or equal frequencies where all sums are 0. Each
frequency becomes the whole number ``255 f[a]``, rounded down. What the sum lacks to 255 is distributed, 1 each, among
the actions with the largest remainders; of equal remainders the first action comes first. So the numbers of a decision
add up to 255, the last number follows from the others, and each frequency changes by less than 1 / 255.

Sums are a flat array ``[batch][row][slot][lane]``: a batch has 16 lanes, one for each betting line, and a slot is one
action of one decision. Bytes are a flat array ``[batch][row][free slot][lane]``: the *free* slots are those of all
actions but the last of each decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compiled import inlined, kernel
from compiled.vector import WIDTH
from solvers.errors import SolverError
from solvers.tree import DECISION, Floats, Ints

if TYPE_CHECKING:
    from solvers.sampled.batches import LineBatches, Shape

MOST = 255
"""Sum of the whole numbers of all actions of a decision, including the last action, which has no byte."""

Bytes = NDArray[np.uint8]


class ByteTables(NamedTuple):
    """Offsets of one player's strategy sums in a round, and of the bytes that stand for them.

    The slots of all actions of a decision but the last are *free*: they get a byte. The last byte would be 255 less the
    others.

    Attributes:
        first, free_first: ``[batch + 1]``, offset of each batch's first sum and first byte.
        n_slots, n_free: ``[batch]``, number of slots and free slots.
        begin, end: ``[batch]``, the batch's decisions are ``begin .. end - 1`` in the arrays by decision.
        slot, free: ``[decision]``, first slot and first free slot.
        n_actions: ``[decision]``, number of actions.
    """

    first: Ints
    free_first: Ints
    n_slots: Ints
    n_free: Ints
    begin: Ints
    end: Ints
    slot: Ints
    free: Ints
    n_actions: Ints


def byte_tables(batches: LineBatches, p: int, n_rows: int) -> ByteTables:
    """Make the `ByteTables` of player p for batches of lines with ``n_rows`` rows."""
    slots, counts = [], []
    for shape in batches.shapes:
        decisions = _decisions(shape, p)
        slots.append(shape.slot[decisions])
        counts.append(shape.n_actions[decisions])
    ends = np.cumsum([len(first) for first in slots])
    begins = ends - [len(first) for first in slots]
    n_slots = np.array([shape.n_slots[p] for shape in batches.shapes], dtype=np.int64)
    n_free = n_slots - (ends - begins)
    return ByteTables(
        batches.first(p, n_rows),
        np.concatenate([[0], np.cumsum(WIDTH * n_rows * n_free[batches.shape])]),
        n_slots[batches.shape],
        n_free[batches.shape],
        begins[batches.shape],
        ends[batches.shape],
        np.concatenate(slots).astype(np.int64),
        np.concatenate([first - np.arange(len(first)) for first in slots]).astype(np.int64),
        np.concatenate(counts).astype(np.int64),
    )


def quantise(sums: Floats, n_rows: int, tables: ByteTables) -> Bytes:
    """Convert one board bucket's sums, a flat array ``[batch][row][slot][lane]``, to bytes.

    The bytes are a flat array without the slots of last actions.
    """
    if sums.shape != (tables.first[-1],):
        raise SolverError(f"sums: expected {tables.first[-1]:,} numbers, found shape {sums.shape}")
    out = np.empty(int(tables.free_first[-1]), dtype=np.uint8)
    most = int(tables.n_actions.max(initial=1))
    scratch = _Scratch(
        np.empty((most, WIDTH), dtype=np.float32),
        np.empty((most, WIDTH), dtype=np.int32),
        np.empty(WIDTH, dtype=np.float32),
        np.empty((2, WIDTH), dtype=np.int32),
    )
    wrong = _quantise(np.asarray(sums, dtype=np.float32), n_rows, tables, scratch, out)
    if wrong:
        raise SolverError(f"sums: expected finite numbers, found infinities or NaN at {wrong:,} decisions")
    return out


def restore(quantised: Bytes, n_rows: int, tables: ByteTables, out: Floats) -> None:
    """Write the frequencies in 255ths of one board bucket's bytes to ``out``, a flat ``[batch][row][slot][lane]``."""
    if quantised.shape != (tables.free_first[-1],):
        raise SolverError(f"bytes: expected {tables.free_first[-1]:,} numbers, found shape {quantised.shape}")
    wrong = _restore(quantised, n_rows, tables, out)
    if wrong:
        raise SolverError(
            f"bytes: expected a sum of at most {MOST} at each decision, found larger sums at {wrong:,} decisions"
        )


def _decisions(shape: Shape, p: int) -> Ints:
    nodes: Ints = np.flatnonzero((shape.kind == DECISION) & (shape.player == p))
    return nodes


class _Scratch(NamedTuple):
    """Buffers for one decision.

    Attributes:
        part: ``[action, lane]``, sums and then fractions.
        whole: ``[action, lane]``, whole numbers.
        total: ``[lane]``, sum over the actions.
        left: ``[2, lane]``, how much the whole numbers lack to 255, and how many fractions exceed the current fraction.
    """

    part: Floats
    whole: Ints
    total: Floats
    left: Ints


@kernel
def _quantise(sums: Floats, n_rows: int, tables: ByteTables, scratch: _Scratch, out: Bytes) -> int:
    """Write the bytes of `quantise` into ``out``; return the number of decisions with sums that are not finite."""
    wrong = 0
    for batch in range(len(tables.n_slots)):
        for row in range(n_rows):
            source = tables.first[batch] + row * tables.n_slots[batch] * WIDTH
            target = tables.free_first[batch] + row * tables.n_free[batch] * WIDTH
            for d in range(tables.begin[batch], tables.end[batch]):
                n = tables.n_actions[d]
                wrong += _split(sums, source + tables.slot[d] * WIDTH, n, scratch)
                _round(n, scratch, out, target + tables.free[d] * WIDTH)
    return wrong


@inlined
def _split(sums: Floats, at: int, n: int, s: _Scratch) -> int:
    """Convert a decision's sums to 255ths; split these into whole numbers and fractions, in the buffers ``s``.

    The sums of the n actions, 16 lanes each, begin at offset ``at``. The function returns the number of lanes with sums
    that are not finite.
    """
    s.total[:] = 0
    for a in range(n):
        for lane in range(WIDTH):
            x = sums[at + a * WIDTH + lane]
            x = np.float32(0) if x <= 0 else x  # NaN stays NaN
            s.part[a, lane] = x
            s.total[lane] += x
    wrong = 0
    for lane in range(WIDTH):
        wrong += not s.total[lane] < np.inf
    for a in range(n):
        for lane in range(WIDTH):
            total = s.total[lane]
            share = s.part[a, lane] / total if total > 0 else np.float32(1) / np.float32(n)
            exact = np.float32(MOST) * share
            whole = np.floor(exact)
            s.whole[a, lane] = np.int32(whole)
            s.part[a, lane] = exact - whole
    return wrong


@inlined
def _round(n: int, s: _Scratch, out: Bytes, at: int) -> None:
    """Write a decision's bytes to ``out``, from offset ``at`` on, for all of the n actions but the last.

    The buffers ``s`` have the whole numbers and fractions, as `_split` leaves them. The largest fractions are rounded
    up, so that the numbers of all n actions add up to 255.
    """
    for lane in range(WIDTH):
        s.left[0, lane] = MOST
    for a in range(n):
        for lane in range(WIDTH):
            s.left[0, lane] -= s.whole[a, lane]
    for a in range(n - 1):
        for lane in range(WIDTH):
            s.left[1, lane] = 0
        for b in range(n):
            for lane in range(WIDTH):
                ahead = s.part[b, lane] > s.part[a, lane]
                ahead |= (s.part[b, lane] == s.part[a, lane]) & (b < a)
                s.left[1, lane] += np.int32(ahead)
        for lane in range(WIDTH):
            more = np.int32(s.left[1, lane] < s.left[0, lane])
            out[at + a * WIDTH + lane] = np.uint8(s.whole[a, lane] + more)


@kernel
def _restore(found: Bytes, n_rows: int, tables: ByteTables, out: Floats) -> int:
    """Write the frequencies of `restore` to ``out``; return the number of decisions whose bytes exceed 255 in sum."""
    wrong = 0
    for batch in range(len(tables.n_slots)):
        for row in range(n_rows):
            source = tables.free_first[batch] + row * tables.n_free[batch] * WIDTH
            target = tables.first[batch] + row * tables.n_slots[batch] * WIDTH
            for d in range(tables.begin[batch], tables.end[batch]):
                last = tables.n_actions[d] - 1
                for lane in range(WIDTH):
                    left = np.int64(MOST)
                    for a in range(last):
                        share = np.int64(found[source + (tables.free[d] + a) * WIDTH + lane])
                        out[target + (tables.slot[d] + a) * WIDTH + lane] = share
                        left -= share
                    if left < 0:
                        wrong += 1
                    out[target + (tables.slot[d] + last) * WIDTH + lane] = left
    return wrong
