"""Random histories of a store on disk, beside a memory store that is assumed to be right."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lockers import MemoryStore, Store, Transaction, open_store
from lockers.walk import file_findings

BOARDS = [b"a", b"b", b"c\xff"]
LINES = [b"", b"|", b"|r", b"|rc"]
LOCKERS = ["payoff", "regret"]
ARRAYS = hnp.arrays(
    st.sampled_from(["<f4", "<i2", "|b1"]),
    st.sampled_from([(), (0,), (3,), (2, 3), (700, 30)]),
    fill=st.just(1),
)
STEP = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(LOCKERS), st.sampled_from(LINES), ARRAYS),
    st.tuples(st.just("delete"), st.sampled_from(LOCKERS), st.sampled_from(LINES), st.none()),
    st.tuples(st.just("visit"), st.none(), st.sampled_from(LINES), st.integers(0, 9)),
    st.tuples(st.just("get"), st.sampled_from(LOCKERS), st.sampled_from(LINES), st.none()),
)


class UndoError(Exception):
    """Raised in the middle of a transaction."""


class StoreMachine(RuleBasedStateMachine):
    """Every history makes the maps grow, which are tiny."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.model = MemoryStore({"a": 1})
        self.store = open_store(self.folder / "store", {"a": 1})

    def teardown(self) -> None:
        assert self.store.check() == []
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(board=st.sampled_from(BOARDS), steps=st.lists(STEP, max_size=6), undo=st.booleans())
    def transact(self, board: bytes, steps: list[tuple], undo: bool) -> None:
        def run(store: Store) -> list[object]:
            def body(transaction: Transaction) -> list[object]:
                answers: list[object] = []
                for action, locker, line, value in steps:
                    if action == "put":
                        transaction.put(locker, board + line, value)
                    elif action == "delete":
                        answers.append(transaction.delete(locker, board + line))
                    elif action == "visit":
                        answers += [
                            transaction.count_visit(board + line, value),
                            transaction.visits(board + line),
                        ]
                    else:
                        answers.append(_plain(transaction.get(locker, board + line)))
                if undo:
                    seen.append(answers)
                    raise UndoError
                return answers

            seen: list[list[object]] = []
            try:
                return store.transact(body)
            except UndoError:
                return seen[-1]

        assert run(self.store) == run(self.model)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.folder / "store", {"a": 1})

    @rule()
    def pickle(self) -> None:
        other = pickle.loads(pickle.dumps(self.store))
        self.store.close()
        self.store = other

    @rule()
    def flush(self) -> None:
        self.store.flush()

    @invariant()
    def same_content(self) -> None:
        keys = [board + line for board in BOARDS for line in LINES]
        for locker in LOCKERS:
            assert list(self.store.keys(locker)) == list(self.model.keys(locker))
            found, expected = self.store.get_many(locker, keys), self.model.get_many(locker, keys)
            assert [_plain(array) for array in found] == [_plain(array) for array in expected]
            one = keys[len(keys) // 2]
            assert _plain(self.store.get(locker, one)) == _plain(self.model.get(locker, one))
        assert [self.store.visits(key) for key in keys] == [self.model.visits(key) for key in keys]

    @invariant()
    def sound(self) -> None:
        # As `check` does it, but in this process: a child for each step would take minutes.
        assert file_findings(self.store._attached()) == []
        assert self.model.check() == []


def _plain(array: np.ndarray | None) -> object:
    return None if array is None else (array.dtype.str, array.shape, array.tobytes())


@pytest.mark.usefixtures("tiny_maps")
class TestStoreMachine(StoreMachine.TestCase):
    settings = settings(max_examples=10, stateful_step_count=12, deadline=None)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_maps")
class TestStoreMachineForLong(StoreMachine.TestCase):
    settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
