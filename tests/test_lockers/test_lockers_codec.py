"""Arrays to bytes and back, and what happens when the bytes are not those that were written."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lockers import DamagedLockerError, LockerError
from lockers.codec import decode, encode

KEY = b"payoff\0board|line"

DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="<"),
    hnp.unsigned_integer_dtypes(endianness="<"),
    hnp.floating_dtypes(endianness="<", sizes=(16, 32, 64)),
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))


@given(ARRAYS, st.sampled_from(["as it is", "transposed", "reversed", "every other"]))
def test_round_trip(array: np.ndarray, view: str) -> None:
    if view == "transposed":
        array = array.T
    elif view == "reversed" and array.ndim:
        array = array[::-1]
    elif view == "every other" and array.ndim:
        array = array[..., ::2]
    found = decode(bytearray(encode(array, KEY)), KEY)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()  # NaN for NaN, -0.0 for -0.0
    assert found.flags.writeable
    assert found.flags.aligned
    assert found.flags.c_contiguous


def test_an_array_whose_length_has_more_than_32_bits_is_refused() -> None:
    array = np.broadcast_to(np.uint8(0), (2**32,))  # takes one byte of memory
    with pytest.raises(LockerError, match=r"expected at most 4294967295 bytes, found 4294967320"):
        encode(array, KEY)


@given(ARRAYS, st.data())
def test_any_flipped_bit_is_noticed(array: np.ndarray, data: st.DataObject) -> None:
    value = bytearray(encode(array, KEY))
    bit = data.draw(st.integers(0, 8 * len(value) - 1))
    value[bit // 8] ^= 1 << bit % 8
    with pytest.raises(
        DamagedLockerError, match=r"locker 'payoff', key 626f6172647c6c696e65: expected .*, found"
    ):
        decode(value, KEY)


@given(ARRAYS, st.data())
def test_any_truncation_is_noticed(array: np.ndarray, data: st.DataObject) -> None:
    value = encode(array, KEY)
    length = data.draw(st.integers(0, len(value) - 1))
    with pytest.raises(DamagedLockerError):
        decode(bytearray(value[:length]), KEY)


def test_a_value_under_another_key_is_noticed() -> None:
    value = encode(np.arange(3), KEY)
    with pytest.raises(DamagedLockerError, match="expected checksum"):
        decode(bytearray(value), b"payoff\0board|another")


def test_the_layout_is_the_documented_one() -> None:
    value = encode(np.array([[1, 2, 3]], np.int16), KEY)
    head = b"LOCK" + bytes([1, 0]) + b"i" + bytes([2, 2, 0, 0, 0])
    shape, items = struct.pack("<2Q", 1, 3), struct.pack("<3h", 1, 2, 3)
    assert value == head + struct.pack("<I", zlib.crc32(KEY + head + shape + items)) + shape + items


def _forged(head: bytes, shape: bytes, body: bytes) -> bytearray:
    """A value whose checksum is right, as another version of this package might write it."""
    return bytearray(head + struct.pack("<I", zlib.crc32(KEY + head + shape + body)) + shape + body)


@pytest.mark.parametrize(
    ("head", "shape", "body", "message"),
    [
        (b"LOCK\x02\x00f\x08\x00\0\0\0", b"", bytes(8), "expected version 1.*found version 2"),
        (b"LOCK\x01\x01f\x08\x00\0\0\0", b"", bytes(8), "expected .*codec 0.*found version 1, codec 1"),
        (b"LOCK\x01\x00O\x08\x00\0\0\0", b"", bytes(8), "dtype O8"),
        (b"LOCK\x01\x00f\x10\x00\0\0\0", b"", bytes(16), "dtype f16"),
        (b"LOCK\x01\x00f\x08\x00\0\0\0", b"", bytes(9), r"expected 8 bytes for shape \(\), found 9 bytes"),
        (b"LOCK\x01\x00f\x08\x21\0\0\0", bytes(264), b"", "expected a shape of at most 32 axes"),
    ],
)
def test_a_value_of_another_version(head: bytes, shape: bytes, body: bytes, message: str) -> None:
    with pytest.raises(DamagedLockerError, match=message):
        decode(_forged(head, shape, body), KEY)


def test_limits_on_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LockerError, match="expected at most 32 axes, found 40"):
        encode(np.zeros((1,) * 40), KEY)
    monkeypatch.setattr("lockers.codec._MAX_BYTES", 100)
    with pytest.raises(LockerError, match="expected at most 100 bytes, found 124"):
        encode(np.zeros(100, np.int8), KEY)
