"""Node locks from the job file to the result: by arithmetic, on boards and hands, and what is refused."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from cli_runs import KUHN, PARTIAL, TURN, good, good_json, refused, write
from jobs import solved

from buckets.cards import hand_name
from solvers.game import compatible_reach
from solvers.measure import exploitability
from solvers.reference.walk import Walker
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.job.job import Job

ROUNDED = 2e-5  # chips: what single precision leaves of a pot of 100

JACKS = """
[[lock]]
line = ""
hands = { JJ = [0.8, 0.2] }
"""


def by_class(shown):
    """Mean frequency of the second action of each class of pairs."""
    out = {}
    for hand, row in shown["hands"].items():
        out.setdefault(hand[0], []).append(row["strategy"][1])
    return {rank: np.mean(found) for rank, found in out.items()}


@pytest.mark.parametrize("locked", [False, True])
def test_bluffs_stay_half_of_the_value_bets(locked, tmp_path):
    """A pot-sized bet: the kings are indifferent when bluffs are half of the value bets, 3 of the 6 aces' combos.

    Jacks that are made to bluff 0.2 of their 6 combos bring 1.2; queens fill up to 3 with 1.8, 0.3 of theirs.
    """
    found = good_json("solve", write(tmp_path, PARTIAL + JACKS * locked), "--out", tmp_path / "out")
    assert found["converged"]
    assert found["ev"] == pytest.approx([50, 50], abs=0.01)
    bets = by_class(good_json("show", tmp_path / "out"))
    assert bets["A"] == pytest.approx(1, abs=0.01)
    assert bets["Q"] + bets["J"] == pytest.approx(0.5, abs=0.01)
    if locked:
        assert bets["J"] == pytest.approx(0.2, abs=1e-12)
        assert bets["Q"] == pytest.approx(0.3, abs=0.01)


def test_a_lock_that_costs(tmp_path):
    """Air that never bluffs: kings fold to every bet. Aces win the pot of 100, queens and jacks nothing."""
    lock = '[[lock]]\nline = ""\nhands = { "QQ,JJ" = { Check = 1 } }\n'
    found = good_json("solve", write(tmp_path, PARTIAL + lock), "--out", tmp_path / "out")
    assert found["converged"]
    assert found["ev"] == pytest.approx([100 / 3, 200 / 3], abs=0.01)
    facing = by_class(good_json("show", tmp_path / "out", "--line", "r100"))
    assert facing["K"] == pytest.approx(0, abs=0.01)
    best = good_json("exploit", tmp_path / "out")["best_response"]
    assert best == pytest.approx([100 / 3 - 50, 200 / 3 - 50], abs=0.01)


def test_hands_override_the_range(tmp_path):
    text = (
        PARTIAL + '[[lock]]\nline = ""\nstrategy = [0.5000002, 0.5]\nhands = { AsAh = [0, 1], QQ = [1, 0] }\n'
    )
    good_json("solve", write(tmp_path, text), "--out", tmp_path / "out")
    shown = good_json("show", tmp_path / "out")["hands"]
    assert shown["AsAh"]["strategy"] == pytest.approx([0, 1])
    assert shown["AsAd"]["strategy"] == pytest.approx([0.5, 0.5])
    assert by_class({"hands": shown})["Q"] == 0


def test_locked_where_nobody_comes(tmp_path):
    """oop checks always, so its bet is never faced; what is shown there is the lock all the same."""
    text = (
        PARTIAL
        + '[[lock]]\nline = ""\nstrategy = { Check = 1 }\n[[lock]]\nline = "r100"\nstrategy = [0.3, 0.7]'
    )
    text = text.replace('oop = { bet = "a" }', 'oop = { bet = "a" }\nip = { bet = "a" }')
    text += '\n[[lock]]\nline = "cr100"\nstrategy = [0.6, 0.4]\n[[lock]]\nline = "c"\nstrategy = [1, 0]\n'
    found = good_json("solve", write(tmp_path, text), "--out", tmp_path / "out")
    assert found["exploitability"] == pytest.approx(0, abs=1e-12)  # nobody has a choice
    for line, expected in {"": [1, 0], "r100": [0.3, 0.7], "c": [1, 0], "cr100": [0.6, 0.4]}.items():
        shown = good_json("show", tmp_path / "out", "--line", line)
        for row in shown["hands"].values():
            assert row["strategy"] == pytest.approx(expected, abs=1e-12)


# Boards that are the same up to suits: clubs and diamonds may be swapped on this turn.

SWAP = (
    TURN.replace("Qs 7h 2d 3c", "Qs 7s 2s 3h")
    .replace("AhAd,KdQd,JcTc", "AA,KQ,JTs")
    .replace("KhKc,8s7s", "KJ,99")
)


def _lock(line, board=None, **given):
    lines = [f'line = "{line}"'] + ([] if board is None else [f'board = "{board}"'])
    return "[[lock]]\n" + "\n".join(lines + [f"{key} = {value}" for key, value in given.items()]) + "\n"


SUITED = {
    "none": ("", 2),
    "a class": (_lock("", hands="{ AA = [0.1, 0.9] }"), 2),
    "a class below": (_lock("cc/", hands="{ JTs = [0.1, 0.9], AA = [0.7, 0.3] }"), 2),
    "a range below": (_lock("cc/c", strategy="[0.4, 0.6]"), 2),
    "one hand": (_lock("", hands="{ KcQc = [0.1, 0.9] }"), 1),
    "one hand below": (_lock("cc/c", hands="{ 9c9h = [0.1, 0.9] }"), 1),
    "mirrored hands": (_lock("cc/c", hands="{ 9c9h = [0.1, 0.9], 9h9d = [0.1, 0.9] }"), 2),
    "unlike mirrored hands": (_lock("cc/c", hands="{ 9c9h = [0.1, 0.9], 9h9d = [0.2, 0.8] }"), 1),
    "a board": (_lock("cc/", "Qs 7s 2s 3h 9c", strategy="[0.4, 0.6]"), 1),
    "a mirrored board": (_lock("cc/", "2s 7s Qs 3h 9h", strategy="[0.4, 0.6]"), 2),
    "two boards": (
        _lock("cc/", "Qs 7s 2s 3h 9c", strategy="[0.4, 0.6]")
        + _lock("cc/", "Qs 7s 2s 3h 9d", strategy="[0.4, 0.6]"),
        1,
    ),
}


def _job(*parts):
    return Job.of(tomllib.loads("\n".join(parts)))


def _few_sweeps(text, *locks):
    return solved(_job(text.replace('target = "0.5%"', 'target = "0%"\nmax_sweeps = 20'), *locks))


@pytest.mark.parametrize("name", SUITED)
def test_symmetry_keeps_what_locks_say(name):
    """Best responses to uniform play but for the locks: the same with and without symmetry."""
    lock, n_perms = SUITED[name]
    found = []
    for symmetry, n in (("true", n_perms), ("false", 1)):
        problem = _job(SWAP + f"symmetry = {symmetry}", lock).problem
        assert len(problem.symmetries) == n
        live = Layout.of(problem).live
        live.check()
        found.append(exploitability(Walker(live), live.zeros()).best_response)
    assert found[0] == pytest.approx(found[1], abs=1e-10)
    if lock:
        free = Layout.of(_job(SWAP).problem).live
        assert found[0] != pytest.approx(exploitability(Walker(free), free.zeros()).best_response, abs=1e-6)


def test_show_names_the_board_and_the_hands():
    """Through a solve: the board that is locked, not its mirror image; both of two mirrored hands."""
    _, view = _few_sweeps(SWAP, SUITED["a board"][0])
    there, mirrored = (view.node("cc/", f"Qs 7s 2s 3h {card}").strategy for card in ("9c", "9d"))
    np.testing.assert_allclose(there, np.tile([[0.4], [0.6]], there.shape[1]), atol=1e-12)
    assert not np.allclose(mirrored, there)
    _, view = _few_sweeps(SWAP, SUITED["mirrored hands"][0])
    node = view.node("cc/c", "Qs 7s 2s 3h Kd")
    for hand in ("9h9c", "9h9d"):
        np.testing.assert_allclose(node.strategy[:, node.hands.index(hand)], [0.1, 0.9], atol=1e-12)
    assert not np.allclose(node.strategy[:, node.hands.index("9d9c")], [0.1, 0.9], atol=1e-3)


def test_a_board_view_knows_the_locks():
    """What show says of the river (a walk of its own) adds up to what the whole solve says of the turn."""
    result, view = _few_sweeps(SWAP, SUITED["a board"][0], SUITED["one hand"][0])
    root = view.node()
    mass = _joint_weights(view)
    assert root.ev @ mass / mass.sum() == pytest.approx(result.ev[0], abs=ROUNDED)


def _joint_weights(view):
    """Per hand of the root's node its weight times that of the opponent's hands that go with it."""
    live, node = view.layout.live, view.node()
    rows = live.rounds[0].hands
    mass = live.reach[0][0] * compatible_reach(rows[0], rows[1], 0, live.reach[1][0], live.n_ids)
    hands = view.layout.problem.hands[view.layout.board(0, 0).hands[0].numbers]
    place = {hand_name(hand): h for h, hand in enumerate(hands)}
    return np.array([mass[place[name]] for name in node.hands])


def test_below_a_board_only_its_locks_are_left():
    layout = Layout.of(_job(SWAP, SUITED["a board"][0], SUITED["one hand"][0]).problem)
    assert [lock.round for lock in layout.live.locks] == [1, 0]
    locked = [b for b in range(len(layout.boards[1].boards)) if layout.below(1, b).live.locks]
    (b,) = locked
    assert layout.below(1, b).live.locks[0].round == 0
    layout.live.check()


def test_whole_games(tmp_path):
    """Kuhn: a first player who never bets or calls loses the ante in half of the deals or more."""
    hands = "\n".join(
        _lock(line, strategy=form) for line, form in (("", "{ Check = 1 }"), ("cr", "{ Fold = 1 }"))
    )
    found = good_json("solve", write(tmp_path, KUHN + hands), "--out", tmp_path / "out")
    assert found["converged"]
    assert found["value"] == pytest.approx(-1, abs=0.01)  # the answer is always to bet
    assert found["value_bracket"][0] <= found["value"] <= found["value_bracket"][1]


def test_hands_of_whole_games(tmp_path):
    job = write(tmp_path, KUHN + _lock("", hands="{ Ks = [0.25, 0.75] }"))
    good_json("solve", job, "--out", tmp_path / "out")
    shown = good_json("show", tmp_path / "out")
    assert shown["hands"]["Ks"]["strategy"] == pytest.approx([0.25, 0.75], abs=1e-12)
    wrong = write(tmp_path, KUHN + _lock("", hands="{ KsQs = [0.25, 0.75] }"))
    assert "expected a hand of 1 cards, found 2" in refused("estimate", wrong)
    wrong = write(tmp_path, KUHN + _lock("", hands="{ 2c = [0.25, 0.75] }"))
    assert "expected cards of" in refused("estimate", wrong)


def test_going_on_is_the_same(tmp_path):
    job = write(tmp_path, SWAP.replace("0.5%", "0%") + SUITED["a class below"][0])
    stop = ["--set", "solve.max_sweeps=5"]
    good_json("solve", job, "--out", tmp_path / "parts", *stop)
    goal = ["--set", "solve.max_sweeps=12"]
    parts = good_json("solve", job, "--out", tmp_path / "parts", *goal)
    whole = good_json("solve", job, "--out", tmp_path / "whole", *goal)
    assert parts["ev"] == pytest.approx(whole["ev"], rel=1e-9)
    assert parts["exploitability"] == pytest.approx(whole["exploitability"], rel=1e-9)
    measured = good_json("exploit", tmp_path / "parts")["exploitability"]
    assert measured == pytest.approx(whole["exploitability"], abs=ROUNDED)


ALL = 'line = ""\nstrategy = [0.5, 0.5]'


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        ('line = "r60"\nstrategy = [1, 0]', "'r60', position 0: expected one of check (c), bet 50 (r50)"),
        ('line = "cc"\nstrategy = [1]', "'cc': expected a decision, found a chance node (the round that"),
        ('line = "r50f"\nstrategy = [1]', "line 'r50f': expected a decision, found a fold node"),
        (ALL + '\nboard = "Qs 7h 2d 3c 4c"', "board: expected 4 cards, those at this line, found 5"),
        (ALL + '\nboard = "Qs 7h 2d 4c"', "board: expected to begin with Qs7h2d3c, found Qs 7h 2d 4c"),
        (ALL + '\nboard = "Qs 7h 2d 3x"', "lock 1, line '', board:"),
        ('line = "cc/"\nboard = "Qs 7h 2d 3c 3c"\nstrategy = [1, 0]', "lock 1, line 'cc/', board:"),
        ('line = ""\nstrategy = [0.5, 0.4]', "strategy: expected frequencies that sum to 1, found 0.9"),
        ('line = ""\nstrategy = [0.5, 0.500002]', "strategy: expected frequencies that sum to 1"),
        ('line = ""\nstrategy = [1.5, -0.5]', "expected frequencies of at least 0, found [1.5, -0.5]"),
        ('line = ""\nstrategy = [nan, 1]', "lock 1, line '', strategy: expected frequencies of at least 0"),
        ('line = ""\nstrategy = [1]', "strategy: expected 2 frequencies (check, bet 50), found 1"),
        ('line = ""\nstrategy = { Chek = 1 }', "bet 50 (r50); found 'Chek', nearest to check (c)"),
        ('line = ""', "lock 1: expected strategy, hands or both"),
        ('line = ""\nhand = { AA = [1, 0] }\nstrategy = [1, 0]', "unknown key lock 1, hand"),
        ('line = ""\nhands = { AAA = [1, 0] }', "line '', hands AAA: range, position 0: expected a group"),
        ('line = ""\nhands = { "AA:0.5" = [1, 0] }', "hands AA:0.5: expected hands without weights"),
        ('line = ""\nhands = { KK = [1, 0] }', "hands KK: expected hands of the range of oop, found none"),
        ('line = ""\nhands = { QhQs = [1, 0] }', "hands QhQs: range 'QhQs': the board blocks every hand"),
        (
            'line = "cc/"\nboard = "Qs 7h 2d 3c Ah"\nhands = { AA = [1, 0] }',
            "hands AA: expected hands of the range of oop on Qs 7h 2d 3c Ah, found none",
        ),
        (
            'line = ""\nhands = { AA = [1, 0], AhAd = [0, 1] }',
            "hands AhAd: expected each hand once, found AhAd in AA too",
        ),
        (
            ALL + '\n[[lock]]\nline = ""\nhands = { AA = [1, 0] }',
            "lock 2, line '': expected hands that no other lock at this line names; lock 1 names AhAd too",
        ),
        (
            'line = "cc/"\nstrategy = [1, 0]\n'
            '[[lock]]\nline = "cc/"\nboard = "Qs 7h 2d 3c 4c"\nhands = { JcTc = [0, 1] }',
            "lock 2, line 'cc/': expected hands that no other lock at this line names; lock 1 names JcTc too",
        ),
    ],
)
def test_refused(lock, message, tmp_path):
    said = refused("solve", write(tmp_path, TURN + "[[lock]]\n" + lock), "--out", tmp_path / "out")
    assert message in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["solve.leaves=stored"], 'solve.leaves = "auto" or "live", found "stored"'),
        (["solve.method=lp", "solve.integrate=average"], 'solve.integrate = "regret", found "average"'),
        (["rows.river=3"], 'lock: expected a row per hand, rows.river = "hands", found 3'),
        (["rows.turn=3", "solve.leaves=live"], 'lock: expected a row per hand, rows.turn = "hands", found 3'),
    ],
)
def test_only_exact_solves(options, message, tmp_path):
    sets = [text for option in options for text in ("--set", option)]
    job = write(tmp_path, TURN + "[[lock]]\n" + ALL)
    assert message in refused("solve", job, "--out", tmp_path / "out", *sets)


def test_two_boards_of_one_line_may_differ():
    locks = [
        _lock("cc/", f"Qs 7h 2d 3c {card}", strategy=f"[{f}, {1 - f}]")
        for card, f in (("4c", 0.25), ("4d", 0.5))
    ]
    _, view = _few_sweeps(TURN, *locks)
    for card, f in (("4c", 0.25), ("4d", 0.5)):
        np.testing.assert_allclose(view.node("cc/", f"Qs 7h 2d 3c {card}").strategy[0], f, atol=1e-12)
    with pytest.raises(InputError, match=r"lock 1 names JcTc too"):
        _job(TURN, locks[0], locks[0])


def test_locks_from_the_command_line_have_a_folder_of_their_own(tmp_path, monkeypatch):
    """The unlocked solve is neither continued nor changed, and the table in a job file is the same lock."""
    monkeypatch.chdir(tmp_path)
    job, sweeps = write(tmp_path, TURN), ("--set", "solve.max_sweeps=3")
    good("solve", job, *sweeps)
    free = good_json("show", "results/turn")
    locked = good_json("solve", job, *sweeps, "--lock", "[AhAd, KdQd]: bet=0.25, check", "--lock", ": check")
    folder = "results/turn-lock-root-AhAd-KdQd-bet-0.25-check-root-check"
    assert locked["name"] == Path(folder).name
    assert sorted(path.name for path in Path("results").iterdir()) == ["turn", Path(folder).name]
    hands = good_json("show", folder)["hands"]
    assert hands["AhAd"]["strategy"] == hands["KdQd"]["strategy"] == [0.75, 0.25]
    assert hands["JcTc"]["strategy"] == [1, 0]
    assert "another job" in refused("solve", job, "--out", "results/turn", "--lock", ": check")
    assert good_json("show", "results/turn") == free
    table = '[[lock]]\nline = ""\nstrategy = { x = 1 }\nhands = { "AhAd, KdQd" = [0.75, 0.25] }\n'
    same = good_json("solve", write(tmp_path, TURN + table, "table.toml"), "--out", "table", *sweeps)
    assert same["trace"][-1][2] == locked["trace"][-1][2]


def test_texts_are_locks_in_job_files_too():
    texts = ('["x: b=1", "x [KhKc]: check"]', '"x: bet 50=0.5, check=50%"', '["x @Qs7h2d3c: bet"]')
    read = [Job.of(tomllib.loads(f"lock = {text}\n{TURN}")).lock for text in texts]
    assert [len(locks) for locks in read] == [1, 1, 1]
    assert (read[0][0].strategy, read[0][0].hands) == ({"b": 1}, {"KhKc": {"check": 1}})
    assert read[1][0].strategy == {"bet 50": 0.5, "check": 0.5}
    assert read[2][0].board == "Qs7h2d3c"


@pytest.mark.parametrize(
    ("lock", "named"),
    [
        ("x", "lock 'x': expected a line and actions, such as \"x: bet\""),
        ("x: bet=0.5, check=0.2, bet=0.3", "found bet twice"),
        ("x: ", "found no action"),
        ("x: bet=1.5", "lock 'x: bet=1.5', bet: expected a frequency such as 0.3 or 30%, found '1.5'"),
        ("x: bet=often", "expected a frequency such as 0.3 or 30%, found 'often'"),
        ("x: bet, check", "expected frequencies of all actions but one"),
        ("x: bet=0.5", "expected frequencies that sum to 1, found 0.5"),
        ("x: beet", "found 'beet', nearest to bet 50 (r50)"),
        ("x x: bet", "lock 1, line 'x x'"),
        ("x [QQQ]: bet", "lock 1, line 'x', hands QQQ"),
        ("x @Qs7h: bet", "expected 4 cards"),
    ],
)
def test_texts_that_are_no_locks(lock, named, tmp_path):
    assert named in refused("estimate", write(tmp_path, TURN), "--lock", lock)


def test_two_locks_of_one_line_name_different_hands(tmp_path):
    for locks in (("x: bet", "x: check"), ("x [KK]: bet", "X [KK]: check")):
        options = [text for lock in locks for text in ("--lock", lock)]
        assert "expected one lock of" in refused("estimate", write(tmp_path, TURN), *options)


@pytest.mark.parametrize("override", ["solve.max_sweeps+=1", "solve+=1"])
def test_values_are_added_to_lists_and_texts_only(override, tmp_path):
    job = write(tmp_path, TURN.replace("[solve]", "[solve]\nmax_sweeps = 3"))
    assert "expected a list or a text before +=" in refused("estimate", job, "--set", override)
