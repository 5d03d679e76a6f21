"""Judging games with board buckets on boards as they are: against the exact walk over all hands, and samples."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from class_numbers import ClassSums

from buckets.abstraction import Abstraction, AbstractionSpec
from solvers.measure import expected_value, exploitability
from solvers.reference.walk import Walker
from solvers.sampled.engine import BOARDS_AT_ONCE
from solvers.stopping import StoppedError
from solvers.tree import DECISION
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.learn import real_game
from spewy.learn.real_game import RealGame, rows_know_suits

TWO_CARDS = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 10 5
raiseSize = 10 20
firstPlayer = 2 1
maxRaises = 2 2
numSuits = 3
numRanks = 4
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
"""
THREE_ROUNDS = (
    TWO_CARDS.replace("Rounds = 2", "Rounds = 3")
    .replace("10 20", "10 10 20")
    .replace("2 1\n", "2 1 1\n")
    .replace("2 2\n", "2 1 2\n")
    .replace("0 3", "0 2 1")
)
FOUR_ROUNDS = (
    TWO_CARDS.replace("Rounds = 2", "Rounds = 4")
    .replace("10 20", "10 10 20 20")
    .replace("2 1\n", "2 1 1 1\n")
    .replace("2 2\n", "2 1 1 1\n")
    .replace("0 3", "0 3 1 1")
    .replace("Suits = 3", "Suits = 2")
    .replace("Ranks = 4", "Ranks = 5")
)
GAMES = {
    "leduc, hands": ({"file": "leduc"}, ("all", "all"), ("hands", "hands")),
    "leduc, board buckets": ({"file": "leduc"}, ("all", 2), (2, 3)),
    "two cards, board buckets": ({"text": TWO_CARDS}, (1, 7), (9, 5)),
    "two cards, hands on the flop": ({"text": TWO_CARDS}, (1, "all"), (9, "hands")),
    "kuhn": ({"file": "kuhn"}, ("all",), (3,)),
    "three rounds": ({"text": THREE_ROUNDS}, (1, 4, 9), (50, 6, 5)),
    "four rounds": ({"text": FOUR_ROUNDS}, (1, 5, 6, 7), (50, 6, 5, 4)),
    "rhode island": ({"file": "rhode-island"}, ("all", 5, 20), (13, 8, 6)),
}


class Judged:
    """A game, random strategies by class and row, and its judge."""

    def __init__(self, game, board_buckets, rows):
        self.job = Job.of({"name": "game", "game": game, "solve": {"symmetry": False, "leaves": "live"}})
        rules = self.job.rules
        self.board_buckets = Abstraction.build(
            AbstractionSpec(rules.deck, rules.num_hole_cards, rules.num_board_cards, board_buckets, rows)
        )
        self.sums = ClassSums(
            self.job.betting_tree, self.board_buckets.n_board_buckets, self.board_buckets.n_rows
        )
        flat = tuple(tuple(mine.ravel() for mine in pair) for pair in self.sums.sums)
        self.forests = [bets.forest for bets in self.sums.rounds]
        self.real = RealGame(
            rules,
            self.forests,
            self.sums.batches,
            self.board_buckets,
            self.board_buckets.n_board_buckets,
            self.board_buckets.n_rows,
            flat,
            symmetric=not rows_know_suits(self.board_buckets.arrays),
        )

    def by_hand(self, layout):
        """The strategies with a row per hand, on all boards one by one."""
        out = []
        for t, table in enumerate(layout.boards):
            strategies = [
                np.zeros((len(table.boards), layout.betting[t].forest.n_slots[p], live.n_rows))
                for p, live in enumerate(layout.live.rounds[t].hands)
            ]
            for b, board in enumerate(table.boards):
                cards = np.array([board.cards], dtype=int).reshape(1, -1)
                (board_bucket,), (rows,) = self.board_buckets.boards(t, cards)
                for p in (0, 1):
                    mine = self._slots(t, p, board_bucket)[:, rows[board.hands[p].numbers]]
                    strategies[p][b][:, board.hands[p].row] = mine
            out.append(tuple(strategies))
        return out

    def _slots(self, t, p, board_bucket):
        """``[slot, row]`` of a class."""
        batches, forest, n_rows = self.sums.batches[t], self.forests[t], self.sums.rows[t]
        first, out = batches.first(p, n_rows), np.zeros((forest.n_slots[p], n_rows))
        for batch, lane in batches.place.values():
            shape = batches.shape_of(batch)
            block = self.sums.sums[t][p][board_bucket, first[batch] : first[batch + 1]].reshape(
                n_rows, -1, 16
            )
            for n in np.flatnonzero((shape.kind == DECISION) & (shape.player == p)):
                slot = forest.arrays.slot[batches.nodes[batch][n, lane]]
                for a in range(shape.n_actions[n]):
                    out[slot + a] = block[:, shape.slot[n] + a, lane]
        return out


@cache
def made(name):
    return Judged(*GAMES[name])


@pytest.mark.parametrize(
    "name", [*list(GAMES)[:4], *(pytest.param(name, marks=pytest.mark.slow) for name in list(GAMES)[4:])]
)
def test_judging_all_first_boards_is_the_walk_over_all_hands_and_boards(name):
    one = made(name)
    found = one.real.judge(None, threads=2)
    layout = Layout.of(one.job.problem)
    walker, strategies = Walker(layout.live, 2), one.by_hand(layout)
    expected = exploitability(walker, strategies)
    assert found.best_response == pytest.approx(expected.best_response, rel=1e-5)
    assert found.exploitability == pytest.approx(expected.value, rel=1e-5)
    assert found.value == pytest.approx(expected_value(walker, strategies), rel=1e-5, abs=1e-5)
    assert found.value == pytest.approx(-expected_value(walker, strategies, 1), rel=1e-5, abs=1e-5)
    assert (found.low, found.stderr) == (found.exploitability, None)


class StopsAt:
    def __init__(self, n):
        self.n, self.asked = n, 0

    def is_set(self):
        self.asked += 1
        return self.asked >= self.n


def test_judging_stops_between_boards_and_its_buffers_serve_again():
    one, listening = made("four rounds").real, StopsAt(np.inf)
    expected = one.flop(0, one.desk(), listening.is_set)
    assert listening.asked > len(one.trees.tree(0)) > 2 * BOARDS_AT_ONCE  # while boards are listed and walked
    desk = one.desk()
    for n in range(1, listening.asked + 1, 3):
        with pytest.raises(StoppedError):
            one.flop(0, desk, StopsAt(n).is_set)
    found = one.flop(0, desk)
    np.testing.assert_array_equal(found.best, expected.best)
    assert found.own == expected.own


@pytest.mark.parametrize("threads", [1, 3])
def test_a_check_that_is_stopped_in_the_middle_of_a_flop_finds_nothing(threads):
    one, stop, told = made("four rounds").real, StopsAt(40), []
    assert one.judge(None, threads=threads, stop=stop, tell=lambda done, total: told.append(done)) is None
    assert told == [0]
    assert stop.asked <= 40 + threads


def test_boards_that_suits_alone_tell_apart_are_walked_once():
    one = made("two cards, board buckets").real
    assert one.trees.firsts[1].sum() == 220
    assert one.n_firsts < 60
    assert made("two cards, hands on the flop").real.n_firsts == 220
    assert one.drawn(3, 0) is None  # small games are judged on all their boards


@pytest.fixture
def sampled(monkeypatch):
    """A game that is not too small for a sample, and findings on all its first boards."""
    monkeypatch.setattr(real_game, "FEW_BOARDS", 0)
    return made("two cards, board buckets").real, findings()


@cache
def findings():
    one = made("two cards, board buckets").real
    desk = one.desk()
    return {first: one.flop(first, desk) for first in range(one.n_firsts)}


def test_draws_are_spread_over_boards_that_look_alike(sampled):
    """Each run of neighbours is drawn as often as its share says, up to one; which of them, the seed says."""
    one, _ = sampled
    histories, counts = one.trees.firsts
    order = sorted(range(one.n_firsts), key=lambda first: real_game._looks(histories[first]))
    n = one.n_firsts - 1
    every = Counter()
    for seed in range(40):
        draw = one.drawn(n, seed)
        every.update(draw)
        for k in range(0, len(order), 5):
            some = order[k : k + 5]
            share = n * counts[some].sum() / counts.sum()
            assert abs(sum(draw.get(first, 0) for first in some) - share) < 2.5
    expected = 40 * n * counts / counts.sum()
    found = np.array([every[first] for first in range(one.n_firsts)])
    assert np.corrcoef(found, expected)[0, 1] > 0.9


def test_more_draws_begin_with_the_same_flops(sampled):
    one, _ = sampled
    few, more = one.drawn(4, 7), one.drawn(9, 7)
    assert sum(few.values()) == 4
    assert all(more[first] >= times for first, times in few.items())
    assert one.drawn(9, 8) != more
    assert one.drawn(one.n_firsts, 7) is None
    assert one.drawn(None, 7) is None
    with pytest.raises(InputError, match="flops: expected at least 1, found 0"):
        one.drawn(0, 7)


def test_figures_of_samples_lie_about_the_truth(sampled):
    """Low figures too low and high ones too high in the mean, values right, errors as large as they are told."""
    one, each = sampled
    truth = one.combined(each, None)
    found = [one.combined(each, one.drawn(6, seed)) for seed in range(150)]
    low, high = (np.mean([getattr(f, name) for f in found]) for name in ("low", "high"))
    assert low < truth.exploitability < high
    assert all(f.low <= f.exploitability <= f.high for f in found)
    off = np.std([f.low for f in found])
    assert np.mean([f.stderr for f in found]) == pytest.approx(off, rel=0.35)
    errors = np.array([(f.value - truth.value) / f.value_stderr for f in found])
    assert abs(errors.mean()) < 0.5
    assert np.mean([f.value for f in found]) == pytest.approx(
        truth.value, abs=3 * np.std([f.value for f in found]) / 150**0.5
    )


def test_a_sample_is_its_draws_one_by_one(sampled):
    one, each = sampled
    found = one.combined(each, {3: 2, 5: 1})
    alone = [one.combined(each, {first: 1}) for first in (3, 3, 5)]
    values = [f.value for f in alone]
    assert found.value == pytest.approx(np.mean(values))
    assert found.value_stderr == pytest.approx(np.std(values, ddof=1) / 3**0.5)
    assert (alone[0].low, alone[0].stderr) == (None, None)
    assert found.flops == 3
    assert found.exploitability == pytest.approx((found.low + found.high) / 2)
    assert found.exploitability == pytest.approx(sum(found.best_response) / 2)
