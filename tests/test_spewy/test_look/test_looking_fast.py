"""Looking by a few reads and kept values is looking by walks through everything, and costs nearly nothing."""

import re
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from cli_runs import LEDUC, TURN, good, good_json, refused, spewy, write
from jobs import example

from buckets.cards import cards_name, hand_name, parse_cards, permute_cards
from lockers import open_store
from solvers.game import compatible_reach
from solvers.reference.kernels import match
from solvers.reference.walk import Walker
from solvers.tree import Chance, Forest, Showdown
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.chunks.locate import board_cards, locate, read_cards
from spewy.errors import InputError
from spewy.game.lines import read_line
from spewy.game.tree import BettingTree
from spewy.job.job import Job
from spewy.job.load import read_job
from spewy.learn.playdown import PlayDown
from spewy.look.chunk import NodeArrays, ratio
from spewy.look.solution import Solution
from spewy.records.chunks import Chunks
from spewy.records.keys import LEAVES, LEAVES_KEY, META
from spewy.run.session import Session
from spewy.web.position import position


class BoardView:
    """All decisions on board (t, b) under the average strategies of a store."""

    def __init__(self, layout, store, t, b):
        self.layout = layout.below(t, b)
        self._ranges = PlayDown(layout, Chunks(layout, store).get).ranges(t, b)
        self._game = with_ranges(self.layout.live, self._ranges)
        self._sums = Chunks(self.layout, store).whole()
        walker = Walker(self._game)
        self._values = []
        self._reach = [np.empty(0), np.empty(0)]
        for p in (0, 1):

            def keep(t, b, values, reach, p=p):
                self._values.append(values)
                self._reach[1 - p] = reach

            walker.evaluate(p, self._sums, keep)
        self._equity = [equities(self._game, p, self._reach[1 - p]) for p in (0, 1)]

    def node(self, n):
        """The arrays of decision n of the round's forest."""
        bets = self.layout.betting[0]
        a, node = bets.forest.arrays, bets.nodes[n]
        p = int(a.player[n])
        q, rows = 1 - p, self._game.rounds[0].hands
        count = int(rows[p].n_hands[0])
        group = rows[p].row[0, :count]
        opponent = self._reach[q][a.sequence[q, n]]
        mass = compatible_reach(rows[p], rows[q], 0, opponent, self._game.n_ids)[:count]
        strategy = np.empty(self._sums[0][p].shape[1:])
        match(a, p, self._sums[0][p][0], strategy)
        first = int(a.slot[n])
        actions, child = int(a.n_actions[n]), int(a.first_child[n])
        following = range(child, child + actions)
        values = self._values[p][[n, *following], :count]  # an own action leaves the mass as it is
        share = ratio(values, mass, float(opponent.sum())) + self.layout.problem.pot / 2 + node.put_in[p]
        for number, action in enumerate(node.actions, start=1):
            if action.kind == "fold":
                share[number, ~np.isnan(share[number])] = 0.0  # by definition; rounding leaves something else
        return NodeArrays(
            reach=self._reach[p][a.sequence[p, n], :count],
            strategy=strategy[first : first + actions][:, group],
            ev=share[0],
            action_ev=share[1:],
            equity=self._equity[p][a.sequence[q, n], :count],
        )


def equities(game, p, opposing):
    """Equity ``[sequence, own hand]`` against each of the opponent's ranges ``[sequence, hand]``, cards only.

    One walk through a game in which nobody bets any more and each range enters by a root of its own.
    """
    n = len(opposing)
    rounds = []
    for r in game.rounds:
        leaves = [Showdown(1.0) if r.deal is None else Chance(i) for i in range(n)]
        rounds.append(replace(r, forest=Forest.build(leaves)))
    own, other = game.rounds[0].hands[p], game.rounds[0].hands[1 - p]
    silent = np.zeros((n, own.row.shape[1]))
    reach = (silent, opposing) if p == 0 else (opposing, silent)
    checked_down = replace(game, rounds=rounds, reach=reach, locks=())
    nothing = checked_down.zeros()
    won = Walker(checked_down).evaluate(p, nothing)
    mass = np.array([compatible_reach(own, other, 0, row, game.n_ids) for row in opposing])
    return (ratio(won, mass, opposing.sum(axis=1, keepdims=True)) + 1.0) / 2.0


class NaiveLooks:
    """Decisions of a store, as `Solution.node` gives them but for their order."""

    def __init__(self, problem, store):
        self.layout, self.store, self._views = Layout.of(problem), store, {}

    def node(self, line, board):
        """By hand: reach on the scale of the solve, strategy, EV, EVs of the actions, equity."""
        layout = self.layout
        node = layout.problem.tree.find(line)
        t = node.round - layout.problem.first_round
        b, perm = locate(layout, t, board_cards(layout.problem, node.round, board))
        if (t, b) not in self._views:
            self._views[t, b] = BoardView(layout, self.store, t, b)
        a = self._views[t, b].node(layout.betting[t].nodes.index(node))
        hands = layout.problem.hands[layout.board(t, b).hands[node.player].numbers]
        names = [hand_name(permute_cards(hand, np.argsort(perm))) for hand in hands]
        figures = np.vstack([a.reach, a.strategy, a.ev, a.action_ev, a.equity])
        return dict(zip(names, figures.T, strict=True))


RAKE = TURN.replace("[bets.turn]", "rake = { rate = 0.05, cap = 3 }\n[bets.turn]")
LOCK = TURN + '\n[[lock]]\nline = "c"\nhands = { KhKc = { Check = 0.25, "bet 50" = 0.75 } }\n'
BUCKETS = TURN + "[rows]\nturn = 2\nriver = 2\n"
ALL_IN = TURN.replace('bet = "50%"', 'bet = "a"')
BOARDS = """
name = "Leduc"
[game]
file = "leduc"
[solve]
target = "0 chips"
max_sweeps = 30
[boards]
flop = 2
"""
RIVERS = ("Qs 7h 2d 3c 5h", "Qs 7h 2d 3c 5s", "Qs 7h 2d 3c Kd")


def decisions(job, t):
    """Lines of all decisions of a round of the game."""
    return [node.line for node in job.betting_tree.nodes() if node.kind == "decision" and node.round == t]


def assert_same(solution, naive, line, board, pot):
    """EVs to 1e-4 of the pot, all else to as much of what it can be at most."""
    found, expected = solution.node(line, board), naive.node(line, board)
    units = solution.problem.units
    assert set(found.hands) == set(expected)
    figures = np.vstack([found.reach, found.strategy, found.ev, found.action_ev, found.equity])
    scale = np.ones(len(figures))
    n = len(found.actions)
    scale[1 + n : 2 + 2 * n] = pot
    for hand, mine in zip(found.hands, figures.T, strict=True):
        theirs = expected[hand].copy()
        if units is not None:
            theirs[0] *= units[found.player].max()
        np.testing.assert_allclose(mine / scale, theirs / scale, rtol=0, atol=1e-4, err_msg=f"{line} {hand}")


def solved(folder, text, *settings):
    """The folder of a job that was solved for a while."""
    job = write(folder, text)
    good("solve", job, "--out", folder / "out", "--set", "solve.max_sweeps=20", *settings)
    return folder / "out"


@pytest.mark.parametrize(
    "text", [TURN, RAKE, LOCK, BUCKETS, ALL_IN], ids=["plain", "rake", "lock", "rows", "all-in"]
)
def test_small_turns_are_those_of_the_walks(text, tmp_path):
    folder = solved(tmp_path, text)
    with Solution.open(folder) as solution:
        job, naive = solution.job, NaiveLooks(solution.problem, solution.store)
        for line in decisions(job, 2):
            assert_same(solution, naive, line, None, job.pot)
        for line in decisions(job, 3):
            for board in RIVERS:
                assert_same(solution, naive, line, board, job.pot)


def test_stored_leaves_are_those_of_the_walks(tmp_path):
    folder = solved(tmp_path, LEDUC)
    with Solution.open(folder) as solution:
        naive = NaiveLooks(solution.problem, solution.store)
        for line, board in chain(
            ((x, None) for x in decisions(solution.job, 0)), [("cc/", "Kh"), ("crc/c", "Qh")]
        ):
            assert_same(solution, naive, line, board, 1.0)


def random_places(job, n, seed=0):
    """So many random decisions after the first round, each on a random board."""
    rng = np.random.default_rng(seed)
    first, n_rounds = job.tree_config.start_round, job.rules.num_rounds
    lines = [(t, line) for t in range(first + 1, n_rounds) for line in decisions(job, t)]
    left = [card for card in job.rules.deck.cards if card not in job.board]
    for i in rng.choice(len(lines), n, replace=False):
        t, line = lines[i]
        more = rng.choice(left, t - first, replace=False)
        yield line, cards_name((*job.board, *more.tolist()))


def test_a_turn_is_that_of_the_walks():
    job = example("T1", "solve.max_sweeps=20")
    session = Session(job)
    session.solve()
    with Solution(job, session.store) as solution:
        naive = NaiveLooks(solution.problem, solution.store)
        for line in decisions(job, 2):
            assert_same(solution, naive, line, None, job.pot)
        for line, board in random_places(job, 8):
            assert_same(solution, naive, line, board, job.pot)


@pytest.mark.slow
def test_a_flop_is_that_of_the_walks(tmp_path):
    job = example("F1", "solve.max_sweeps=10")
    with Session(job, tmp_path / "F1") as session:
        session.solve()
    with Solution.open(tmp_path / "F1") as solution:
        naive = NaiveLooks(solution.problem, solution.store)
        for line in decisions(job, 1):
            assert_same(solution, naive, line, None, job.pot)
        for line, board in random_places(job, 20):
            assert_same(solution, naive, line, board, job.pot)


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    return solved(tmp_path_factory.mktemp("turn"), TURN)


LOOK = """
import sys
from spewy.look.compare import compare
from spewy.look.report import line_totals, report
from spewy.look.solution import Solution
with Solution.open(sys.argv[1]) as solution:
    solution.node()
    solution.node("cc/", "Qs 7h 2d 3c 5h")
    report(solution, "cc/")
    compare(solution, solution, "x")
    list(solution.views(solution.select("x x /")))
    line_totals(solution, "x x")
assert "layout" not in vars(solution)
print("numba" in sys.modules)
"""


def test_looking_loads_no_kernels_and_lays_nothing_out(turn):
    said = subprocess.run([sys.executable, "-c", LOOK, turn], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"


@contextmanager
def calls_of(*functions):
    """Count the calls of some functions, by name, whatever module calls them."""
    names, counts = {function.__code__: function.__name__ for function in functions}, Counter()

    def entered(frame, event, argument):
        if event == "call" and frame.f_code in names:
            counts[names[frame.f_code]] += 1

    sys.setprofile(entered)
    try:
        yield counts
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize(
    ("line", "board"),
    [("x b50% c", "Qs 7h 2d 3c 5h"), ("x b50% c / x", "Qs 7h 2d 3c 5h"), ("x x", "Qs 7h 2d 3c")],
)
def test_a_click_parses_its_line_and_its_board_once(turn, line, board):
    with Solution.open(turn) as solution:
        expected = position(solution, line, board)
        with calls_of(read_line, read_cards, parse_cards, BettingTree.alone) as counts:
            assert position(solution, line, board) == expected
        at_most_one = counts.pop("alone", 0)
        assert counts == {"read_line": 1, "read_cards": 1, "parse_cards": 1}
        assert at_most_one <= 1
        place = solution.at(line, board)
        with calls_of(read_line, read_cards, parse_cards, BettingTree.alone) as counts:
            assert position(solution, place)["line"] == expected["line"]
        assert not counts


def test_a_place_stands_for_its_line_and_its_board(turn):
    line, board = "x b50% c", "Qs 7h 2d 3c 5h"
    with Solution.open(turn) as solution:
        place = solution.at(line, board)
        assert repr(place) == "Place('cr50c/', 'Qs7h2d3c5h')"
        assert place == solution.at("cr50c/", "Qs 7h 3c 2d 5h")
        assert place != solution.at("cr50c/", "Qs 7h 3c 2d 5c")
        for look in (solution.node, solution.waiting):
            assert look(place).to_json() == look(line, board).to_json()
        by_place, by_text = solution.totals(place), solution.totals(line, board)
        assert (by_place.ev, by_place.equity) == (by_text.ev, by_text.equity)
        assert solution.children(place) == solution.children(line, board)
        assert repr(solution.report(place)) == repr(solution.report(line, "Qs 7h 2d 3c"))
        assert repr(solution.report(solution.at("x b50% c"))) == repr(solution.report("x b50% c"))
        assert solution.compare(solution, place).lines == solution.compare(solution, line, board).lines
        assert solution.chunk(place).board == solution.chunk(line + " /", board).board
        policy = solution.reads.policy
        np.testing.assert_array_equal(
            policy.frequencies(place, None, "AhAd"), policy.frequencies(line, board, "AhAd")
        )
        with pytest.raises(InputError, match="no effect with a place"):
            solution.node(place, board)
        with pytest.raises(InputError, match="line 'cc': expected a decision, found a deal of cards"):
            solution.node(solution.at("x x"))


def test_without_evs_all_else_is_the_same(turn):
    whole, bare = good_json("show", turn), good_json("show", turn, "--no-ev")
    for hand, row in whole["hands"].items():
        nothing = {"ev": None, "action_ev": [None] * len(whole["actions"]), "equity": None}
        assert bare["hands"][hand] == row | nothing
    lines = good("show", turn, "--no-ev").splitlines()
    head = next(line for line in lines if line.startswith("hand "))
    assert re.split(r"\s\s+", head.strip()) == ["hand", "reach", *whole["actions"]]


def test_values_that_the_solve_has_not_kept_are_walked_to(tmp_path):
    """Its last save was cut short."""
    folder = solved(tmp_path, TURN)
    expected = good_json("show", folder)
    with open_store(folder) as store:
        store.transact(lambda txn: txn.delete(META, LEAVES_KEY))
    for hand, row in good_json("show", folder)["hands"].items():
        for name, value in row.items():
            np.testing.assert_allclose(value, expected["hands"][hand][name], atol=1e-3)


def test_values_that_should_be_there_and_are_not_are_told(tmp_path):
    folder = solved(tmp_path, TURN)
    with open_store(folder) as store:
        for key in list(store.keys(LEAVES)):
            store.transact(lambda txn, key=key: txn.delete(LEAVES, key))
    found = spewy("show", folder)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "expected the 15 values of its chance leaves, found none" in found.stderr


# What a finished folder keeps


def files(folder):
    """What a folder's lockers hold, but for the result, which tells times."""
    with open_store(folder, read_only=True) as store:
        names = ("strategy", "regret", LEAVES)
        return {(name, key): store.get(name, key).tolist() for name in names for key in store.keys(name)}


def test_a_job_that_keeps_less_leaves_what_drop_leaves(tmp_path):
    whole = solved(tmp_path, TURN)
    small = tmp_path / "small"
    settings = ("--set", "solve.max_sweeps=20", "--set", "save.rounds=turn")
    result = spewy("solve", tmp_path / "job.toml", "--out", small, *settings)
    assert result.exit_code == 0
    assert "turn: river dropped, as save.rounds says" in result.stderr
    good("drop", whole, "--round", "river")
    assert files(small) == files(whole)
    assert good_json("show", small) == good_json("show", whole)
    assert good("check", small).endswith(": healthy\n")
    assert "was dropped: solving it" in spewy("show", small, "--line", "cc/", "--board", RIVERS[0]).stderr


@pytest.mark.parametrize(
    ("text", "settings", "kept"),
    [
        (LEDUC, ("--set", "save.rounds=preflop"), b"0."),  # stored leaves
        (TURN, ("--set", "save.rounds=turn", "--save-every", "0"), b"2."),  # saved on the way, too
    ],
)
def test_other_solves_keep_less_too(text, settings, kept, tmp_path):
    job = write(tmp_path, text)
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=20", *settings)
    assert {key[:2] for _, key in files(tmp_path / "out")} == {kept}


def test_a_smaller_folder_is_done_or_begins_again(tmp_path):
    job, out = write(tmp_path, TURN), tmp_path / "out"
    settings = ("--out", out, "--set", "save.rounds=turn")
    first = good_json("solve", job, *settings)
    assert good_json("solve", job, *settings)["exploitability_pct"] == first["exploitability_pct"]
    line = refused("solve", job, *settings, "--set", "solve.target=0.001%")
    assert "found river dropped" in line
    assert "--again" in line


def test_the_estimate_tells_what_is_kept(tmp_path):
    job = write(tmp_path, TURN)
    whole = good_json("estimate", job)
    small = good_json("estimate", job, "--set", "save.rounds=turn")
    assert whole["kept_bytes"] == whole["disk_bytes"] == small["disk_bytes"] > small["kept_bytes"]
    good("solve", job, "--out", tmp_path / "out", "--set", "save.rounds=turn")
    size = sum(path.stat().st_size for path in (tmp_path / "out").glob("*.mdb"))
    assert size <= small["kept_bytes"]
    assert "kept" in good("estimate", job, "--set", "save.rounds=turn")


@pytest.mark.parametrize(
    ("text", "rounds", "expected"),
    [
        (TURN, "flop", "save.rounds: expected turn, river or all, found flop"),
        (TURN, "ocean", "save.rounds: expected 'preflop', 'flop', 'turn', 'river' or 'all', found 'ocean'"),
        (BOARDS, "preflop", "save.rounds has no effect with [boards]"),
    ],
)
def test_rounds_that_cannot_be_kept(tmp_path, text, rounds, expected):
    assert expected in refused("estimate", write(tmp_path, text), "--set", f"save.rounds={rounds}")


def test_the_choice_is_not_part_of_the_game():
    data = read_job(example.__globals__["EXAMPLES"] / "T1.toml", ())
    assert Job.of(data).manifest() == Job.of(data | {"save": {"rounds": "turn"}}).manifest()
