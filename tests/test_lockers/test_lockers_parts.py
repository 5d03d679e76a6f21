"""The small parts: names, the gate, shards of keys."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from lockers import DamagedLockerError, shard_part
from lockers.gate import Gate
from lockers.names import full_key, owns_prefix, shard_of, split_key


def test_keys_of_a_board_share_a_shard_and_boards_spread() -> None:
    boards = [b"%d" % board for board in range(8000)]
    for board in boards[:100]:
        assert {shard_of(board + line, 8) for line in (b"", b"|", b"|cr120c/", b"|x|y")} == {
            shard_of(board, 8)
        }
    shares = Counter(shard_of(board, 8) for board in boards)
    assert all(900 < shares[number] < 1100 for number in range(8))


def test_shards_are_the_same_for_ever() -> None:
    # Written down once: another answer would make every store on disk unreadable.
    assert [shard_of(key, 8) for key in (b"QsJh2h|cr", b"QsJh2h", b"a", b"\0")] == [4, 4, 3, 5]


def test_names_there_and_back() -> None:
    for locker, key in (("payoff", b"k"), ("a.b_c-9", b"\0\xff|"), ("x" * 32, b"\0")):
        assert split_key(full_key(locker, key)) == (locker, key)
    for full in (b"", b"payoff", b"payoff\0", b"\0k", b".other\0k", "größe".encode() + b"\0k"):
        with pytest.raises(DamagedLockerError, match="expected a locker name, a zero byte and a key"):
            split_key(full)


def test_prefixes_and_parts() -> None:
    assert shard_part(b"|x") == b""
    assert owns_prefix(b"board|")
    assert not owns_prefix(b"board")


def test_the_gate_lets_many_in_or_one_alone() -> None:
    gate = Gate()
    gate.enter()
    gate.enter()
    assert not gate.close()  # it would wait for itself
    with pytest.raises(RuntimeError, match="expected a thread that is outside"), gate.closed():
        pass
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(gate.close(0.02)))
    thread.start()
    thread.join()
    assert answers == [False]
    closer = threading.Thread(target=lambda: answers.append(gate.close()))
    closer.start()
    gate.enter()  # the one inside may go on, even while somebody waits for it to leave
    for _ in range(3):
        gate.leave()
    closer.join()
    assert answers == [False, True]
    entered = threading.Event()
    late = threading.Thread(target=lambda: (gate.enter(), entered.set(), gate.leave()))
    late.start()
    assert not entered.wait(0.02)
    gate.open()
    assert entered.wait(10)
    late.join()
