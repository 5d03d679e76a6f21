"""Named tuples in memory, and tables whose rows are named tuples."""

from typing import NamedTuple

import numpy as np

from compiled import kernel
from compiled.records import Packed, Records, record_at, unpack, unpack_at
from compiled.vector import float32_at


class Step(NamedTuple):
    first: int
    second: int
    third: int


class Inner(NamedTuple):
    flag: bool
    small: np.int16
    single: np.float32
    table: np.ndarray


class Outer(NamedTuple):
    yes: bool
    inner: Inner
    number: np.int32
    double: float
    steps: Records
    no: bool
    last: int


def outer(scale):
    inner = Inner(True, np.int16(7 * scale), np.float32(1.5 * scale), np.arange(5, dtype=np.float32) * scale)
    steps = Records(Step, [Step(n, 10 * n * scale, 100 * n) for n in range(4)])
    return Outer(True, inner, np.int32(-3), 2.25 * scale, steps, False, scale * 2**40)


@kernel
def fields(x, i):
    inner, step = x.inner, record_at(x.steps, i)
    return (
        (x.yes, x.no, inner.flag),
        (inner.small, x.number, x.last),
        (inner.single, x.double, float32_at(inner.table, 3)),
        (step.first, step.second, step.third),
    )


@kernel
def of_one(packed, i):
    return fields(unpack(packed), i)


@kernel
def of_several(packed, part, i):
    return fields(unpack_at(packed, part), i)


def expected(scale, i):
    return (
        (True, False, True),
        (7 * scale, -3, scale * 2**40),
        (1.5 * scale, 2.25 * scale, 3.0 * scale),
        (i, 10 * i * scale, 100 * i),
    )


def test_every_field_is_read_where_it_was_written():
    packed = Packed(outer(3))
    for i in range(4):
        assert of_one(packed, i) == expected(3, i)


def test_parts_of_equal_tuples_are_read_by_number():
    packed = Packed(tuple(outer(scale) for scale in (1, 2, 5)))
    for part, scale in enumerate((1, 2, 5)):
        assert of_several(packed, part, 2) == expected(scale, 2)


def test_a_table_takes_arrays_and_may_be_empty():
    table = np.arange(12)
    records = Records(Step, table)
    assert (len(records), records.nbytes) == (4, 96)
    assert records.table[2].tolist() == [6, 7, 8]
    assert len(Records(Step, [])) == 0
