"""The small parts: keys and the lock of readers and writers."""

from __future__ import annotations

import threading

import pytest

from lockers import DamagedLockerError
from lockers.codec import full_key, split_key
from lockers.lmdb import RWLock


def test_keys_there_and_back() -> None:
    for locker, key in (("payoff", b"k"), ("a.b_c-9", b"\0\xff|"), ("x" * 32, b"\0")):
        assert split_key(full_key(locker, key)) == (locker, key)
    for full in (b"", b"payoff", b"payoff\0", b"\0k", b".other\0k", "größe".encode() + b"\0k"):
        with pytest.raises(DamagedLockerError, match="expected a locker name, a zero byte and a key"):
            split_key(full)


def test_a_lock_lets_many_share_or_one_be_alone() -> None:
    lock = RWLock()
    lock.share()
    lock.share()
    assert not lock.acquire()  # it would wait for itself
    with pytest.raises(RuntimeError, match="cannot wait to hold it alone"), lock.alone():
        pass
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(lock.acquire(0.02)))
    thread.start()
    thread.join()
    assert answers == [False]
    waiting = threading.Thread(target=lambda: answers.append(lock.acquire()))
    waiting.start()
    lock.share()  # a thread that shares may go on, even while another one waits to be alone
    for _ in range(3):
        lock.unshare()
    waiting.join()
    assert answers == [False, True]
    shared = threading.Event()
    late = threading.Thread(target=lambda: (lock.share(), shared.set(), lock.unshare()))
    late.start()
    assert not shared.wait(0.02)
    lock.release()
    assert shared.wait(10)
    late.join()
