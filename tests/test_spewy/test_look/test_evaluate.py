"""EVs of stored strategies with other play at some decisions: by arithmetic, and against other computations."""

import numpy as np
import pandas as pd
import pytest
from cli_runs import PARTIAL, TURN, good, good_json, refused, write

from spewy.errors import InputError
from spewy.look.evaluate import evaluate
from spewy.look.solution import Solution

# oop: six aces, which always win, and twelve queens and jacks, which never do. ip: six kings. The only bet is all-in,
# the pot. At the equilibrium aces bet, three of the twelve bluff, and ip calls half of the time: every bluff wins 0.
BLUFFS = PARTIAL.replace('"partial"', '"bluffs"')

# On two boards of the same suits; the lock of a single suit leaves fewer boards equal.
SUITED = (
    TURN.replace("Qs 7h 2d 3c", "Qs 7s 2s 3s")
    .replace("AhAd,KdQd,JcTc", "AA,KQs,JTs")
    .replace("KhKc,8s7s", "KK,87s")
)


@pytest.fixture(scope="module")
def bluffs(tmp_path_factory):
    base = tmp_path_factory.mktemp("evaluate")
    good("solve", write(base, BLUFFS), "--out", base / "out")
    good("solve", write(base, BLUFFS), "--out", base / "never", "--lock", "[QQ, JJ]: check")
    return base


@pytest.fixture(scope="module")
def suited(tmp_path_factory):
    base = tmp_path_factory.mktemp("suited")
    good("solve", write(base, SUITED), "--out", base / "out", "--set", "solve.max_sweeps=30")
    return base / "out"


@pytest.mark.parametrize(
    ("locks", "ev"),
    [
        ([": check"], 100 / 3),  # a showdown, which aces win
        (["[QQ, JJ]: check"], 50),  # bluffs win as much as checks
        (["[QQ, JJ]: a"], 50),
        (["a: call"], (6 * 200 - 3 * 100) / 18),  # kings lose more to aces, and win more from bluffs
        (["a: fold"], 50),
        (["a: fold", "root: a"], 100),
    ],
)
def test_locked_play_against_a_fixed_opponent(bluffs, locks, ev):
    """The opponent goes on as at the equilibrium, where calls and folds of kings win the same."""
    with Solution.open(bluffs / "out") as solution:
        (found,) = solution.evaluate(locks)
    assert found.stored == pytest.approx((50, 50), abs=0.02)
    assert found.ev == pytest.approx((ev, 100 - ev), abs=0.1)
    assert sum(found.ev) == pytest.approx(100, abs=1e-9)
    assert found.difference == pytest.approx((ev - 50, 50 - ev), abs=0.1)


def test_evs_of_hands(bluffs, tmp_path):
    """Aces that check win the pot, 50 less than with their bets."""
    file = tmp_path / "hands.csv"
    locks = ("--lock", "[AA]: check", "--lock", "[QhQd]: check")
    found = good_json("evaluate", bluffs / "out", *locks, "--hands", "--csv", file)
    (row,) = found["evaluations"]
    assert (row["player"], len(row["hands"])) == (0, 18)
    assert [row["hands"][hand]["ev"] for hand in ("AsAh", "QhQd")] == pytest.approx([100, 0], abs=0.1)
    assert row["hands"]["AsAh"]["ev_difference"] == pytest.approx(-50, abs=0.1)
    shown = good_json("show", bluffs / "out")["hands"]
    for hand, each in row["hands"].items():
        assert each["ev_stored"] == pytest.approx(shown[hand]["ev"], abs=1e-3)
        assert each["reach"] == shown[hand]["reach"]
    frame = pd.read_csv(file)
    assert frame.hand.tolist() == list(row["hands"])
    assert frame.ev_difference.is_monotonic_increasing
    text = good("evaluate", bluffs / "out", "--lock", "a: fold", "--hands")
    assert "hand of ip" in text
    assert "KsKh" in text


def test_two_solves_play_against_each_other(bluffs):
    """The solve whose air never bluffs: its kings fold to every bet, so bluffs of the other one win the pot."""
    command = ("evaluate", bluffs / "out", "--against", bluffs / "never")
    found = good_json(*command)
    names = ["bluffs", "bluffs-lock-root-QQ-JJ-check"]
    assert [row["plays"] for row in found["evaluations"]] == [names, names[::-1]]
    first, second = (row["ev"][0] for row in found["evaluations"])
    assert first == pytest.approx((6 + 3) / 18 * 100, abs=0.3)
    assert second == pytest.approx(50, abs=0.3)  # aces are called half of the time
    alone = good_json(*command, "--player", "ip", "--hands")["evaluations"]
    assert [row["ev"][0] for row in alone] == [second]
    assert alone[0]["player"] == 1
    text = good(*command, "--lock", ": check")
    assert text.count("33.333") == 2


def test_a_lock_of_suits_has_the_evs_of_the_same_lock_without(suited):
    """Hands that are named one by one leave fewer boards equal, so the strategies are read chunk by chunk."""
    hands = [f"A{x}A{y}" for x, y in ("hd", "hc", "dc")]
    with Solution.open(suited) as solution:
        (whole,) = solution.evaluate(["[AA]: bet", "x: bet"])
        (single,) = solution.evaluate(
            [*(f"[{hand}]: bet" for hand in hands), "x: bet", "[AsAh, AsAd, AsAc]: bet"]
        )
        (board,) = solution.evaluate(["x x / @Qs7s2s3s 4h: check"])
        solved = len(solution.layout.boards[1].boards)
    assert single.ev == pytest.approx(whole.ev, abs=1e-9)
    assert single.ev != pytest.approx(single.stored, abs=1e-3)
    np.testing.assert_allclose(single.hands[1].ev, whole.hands[1].ev, atol=1e-9)
    assert board.ev != board.stored
    assert board.ev == pytest.approx(board.stored, abs=1)
    assert solved < 48


def test_a_lock_with_the_stored_frequencies_changes_nothing(suited):
    with Solution.open(suited) as solution:
        node = solution.node("x")
        locks = [
            f"x [{hand}]: {', '.join(f'{action}={f:.12f}' for action, f in zip(node.actions, row, strict=True))}"
            for hand, row in zip(node.hands, node.strategy.T, strict=True)
        ]
        (found,) = solution.evaluate(locks[:4])
    assert found.ev == pytest.approx(found.stored, abs=1e-8)


def test_a_whole_game_has_net_chips(small):
    """Kuhn poker is worth -1/18 to the first player, and a bet that is always folded to wins the ante of 1."""
    found = good_json("evaluate", small / "kuhn", "--lock", ": bet", "--lock", "r: fold")
    assert found["stored"] == pytest.approx([-1 / 18, 1 / 18], abs=1e-3)
    assert found["evaluations"][0]["ev"] == pytest.approx([1, -1], abs=1e-9)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "give --lock, --against or both"),
        (("--lock", "x"), "lock 'x': expected a line and actions"),
        (("--lock", ": bet 50"), "expected one of check (c), all-in 100 (r100); found 'bet 50'"),
        (("--against", "{never}", "--hands"), "--against with --hands, --all or --csv needs --player"),
        (("--against", "{turn}"), "expected the same bet sizes, pot and stacks in bluffs and turn"),
        (("--against", "nowhere"), "folder nowhere does not exist"),
    ],
)
def test_what_cannot_be_evaluated(bluffs, small, args, said):
    names = {"never": bluffs / "never", "turn": small / "turn"}
    assert said in refused("evaluate", bluffs / "out", *(arg.format(**names) for arg in args))


def test_dropped_rounds_are_not_evaluated(suited, tmp_path):
    good("solve", write(tmp_path, SUITED), "--out", tmp_path / "out", "--set", "save.rounds=turn")
    with Solution.open(tmp_path / "out") as dropped, Solution.open(suited) as whole:
        for solve, other in ((dropped, None), (whole, dropped)):
            with pytest.raises(InputError, match="expected the strategies of all rounds"):
                evaluate(solve, [": check"], other)
