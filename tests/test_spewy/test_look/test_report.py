"""Reports over all next cards: against what show says card by card, equities counted apart, and the whole before."""

import io

import numpy as np
import pandas as pd
import pytest
from cli_runs import good, good_json, refused, spewy, write
from jobs import parsed_job, solved, toy

from buckets.cards import card_name, cards_name, parse_cards, parse_hand, range_equity
from spewy.errors import InputError
from spewy.look.chunk import ChunkView, NodeTotals
from spewy.look.report import report
from spewy.look.solution import Solution
from spewy.run.session import Session

# Clubs and diamonds are alike, but for the turn card of the flop spot below.
TURN_TEXT = """
name = "turn"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Ts 9s 6h 2h"
pot = 100
stack = 150
oop = "QQ+,AJs,KQo:0.4,87s"
ip = "JJ-88,ATs+,QJs:0.7"
[bets.turn]
bet = "50%, a"
raise = "a"
[solve]
max_sweeps = 30
target = "0 chips"
check_every = 30
"""
FLOP_TEXT = (
    TURN_TEXT.replace("Ts 9s 6h 2h", "Ts 9s 6h")
    .replace("bets.turn", "bets.flop")
    .replace("= 30", "= 3")
    .replace("QQ+,AJs,KQo:0.4,87s", "QQ+,AJs,87s")
    .replace('bet = "50%, a"', 'bet = "a"')
)


@pytest.fixture(scope="module")
def turn():
    return solved(parsed_job(TURN_TEXT))[1]


@pytest.fixture(scope="module")
def flop():
    return solved(parsed_job(FLOP_TEXT))[1]


def played(view):
    """A player's hands at a decision: {hand's cards: reach}."""
    return {parse_hand(hand): float(reach) for hand, reach in zip(view.hands, view.reach, strict=True)}


def meets(hand, opposing):
    """The weight of the opposing hands that go with one."""
    return sum(reach for other, reach in opposing.items() if not set(hand) & set(other))


def vector(solution, hands):
    """The range as an array over the deck's hands."""
    index = {tuple(sorted(cards)): h for h, cards in enumerate(solution.layout.problem.hands.tolist())}
    out = np.zeros(len(index))
    for hand, reach in hands.items():
        out[index[tuple(sorted(hand))]] = reach
    return out


def check_by_hand(solution, line, opponents_line, found):
    """Each row against the decision's own hands; ``opponents_line``: a decision of the opponent, reached as is."""
    weights = []
    for row in found.rows:
        board = (*found.board, *row.cards)
        acting, opponent = solution.node(line, board), solution.node(opponents_line, board)
        p = acting.player
        assert (found.player, opponent.player) == (p, 1 - p)
        assert found.actions == acting.actions
        np.testing.assert_allclose(row.frequencies, acting.frequencies, atol=1e-12)
        own, other = played(acting), played(opponent)
        joint = np.array([own[hand] * meets(hand, other) for hand in own])
        ev = joint @ np.nan_to_num(acting.ev) / joint.sum()
        assert row.ev[p] == pytest.approx(ev, abs=1e-9)
        assert sum(row.ev) == pytest.approx(found.pot)
        ranges = [vector(solution, own), vector(solution, other)]
        share = range_equity(board, solution.layout.problem.hands, *ranges)
        assert row.equity[p] == pytest.approx(share, abs=1e-9)
        assert sum(row.equity) == pytest.approx(1)
        assert row.realisation[p] == pytest.approx(ev / (share * found.pot))
        weights.append(joint.sum())
    np.testing.assert_allclose(
        [row.weight for row in found.rows], np.array(weights) / sum(weights), atol=1e-12
    )


def test_rows_are_what_show_says(turn):
    found = report(turn, "cc/")
    assert (found.line, found.pot) == ("cc/", 100)
    names = [row.name for row in found.rows]
    assert names == sorted(names, key=lambda name: -parse_cards(name)[0])
    assert set(names) == {card_name(card) for card in range(52)} - {"Ts", "9s", "6h", "2h"}
    check_by_hand(turn, "cc/", "cc/c", found)


@pytest.mark.parametrize(("line", "opponents"), [("cc/c", "cc/"), ("cr50c/r150", "cr50c/")])
def test_decisions_further_on(turn, line, opponents):
    """An opponent who came by one action: a hand's reach is that before times the action's frequency."""
    found = report(turn, line)
    last = turn.job.betting_tree.find(line)
    assert found.pot == 100 + sum(last.put_in)
    for row in found.rows[::5]:
        board = (*found.board, *row.cards)
        before, acting = turn.node(opponents, board), turn.node(line, board)
        action = before.actions.index("check" if line.endswith("c") else "all-in 100")
        reached = played(before)
        other = {hand: reached[hand] * f for hand, f in zip(reached, before.strategy[action], strict=True)}
        own = played(acting)
        joint = np.array([own[hand] * meets(hand, other) for hand in own])
        np.testing.assert_allclose(row.frequencies, acting.frequencies, atol=1e-12)
        assert row.ev[1] == pytest.approx(joint @ np.nan_to_num(acting.ev) / joint.sum(), abs=1e-9)
        assert sum(row.ev) == pytest.approx(found.pot)


@pytest.mark.parametrize("line", ["cc/", "cr50c/"])
def test_the_average_is_what_was_expected_before_the_deal(turn, line):
    """The EV of closing the action, by the hands of who closes it, is that over all cards; equity likewise."""
    found = report(turn, line)
    root, closing = turn.node(""), turn.node(line[:-2])
    oop, ip = played(root), played(turn.node("c"))
    if line == "cc/":
        oop = {hand: oop[hand] * f for hand, f in zip(oop, root.strategy[0], strict=True)}
    else:
        ip = {hand: ip[hand] * f for hand, f in zip(ip, turn.node("c").strategy[1], strict=True)}
        oop = played(closing)
    passive = closing.actions.index("check" if line == "cc/" else "call")
    own = {h: played(closing)[h] * f for h, f in zip(played(closing), closing.strategy[passive], strict=True)}
    other = oop if closing.player == 1 else ip
    joint = np.array([own[hand] * meets(hand, other) for hand in own])
    expected = joint @ closing.action_ev[passive] / joint.sum()
    if line == "cr50c/":
        expected += 50  # before the call it is still to be put in
    assert found.average.ev[closing.player] == pytest.approx(expected, abs=1e-3)
    ranges = [vector(turn, own), vector(turn, other)]
    share = range_equity(found.board, turn.layout.problem.hands, *ranges)
    assert found.average.equity[closing.player] == pytest.approx(share, abs=1e-5)


def test_weights_and_averages(turn):
    found = report(turn, "cc/")
    weights = np.array([row.weight for row in found.rows])
    assert weights.sum() == pytest.approx(1)
    assert weights.min() > 0
    assert found.average.weight == pytest.approx(1)
    assert found.average.ev == pytest.approx(weights @ np.array([row.ev for row in found.rows]))
    assert sum(found.average.frequencies) == pytest.approx(1)
    shares = np.array(found.average.equity)
    assert found.average.realisation == pytest.approx(np.array(found.average.ev) / (shares * found.pot))


def same_but_for_cards(row, other):
    return all(
        np.allclose(getattr(row, name), getattr(other, name), rtol=1e-9, atol=1e-9)
        for name in ("weight", "frequencies", "ev", "equity")
    )


def test_symmetry_changes_nothing():
    """Before the first sweep everybody plays each action as often, with symmetry and without."""
    plain = TURN_TEXT.replace("[solve]", "[solve]\nsymmetry = false")
    found, expected = (
        report(Solution(job, Session(job).store), "cr50c/").frame()
        for job in map(parsed_job, (TURN_TEXT, plain))
    )
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


def test_turns_of_a_flop(flop):
    told = []
    found = report(flop, "cc", progress=lambda done, total: told.append((done, total)))
    assert len(found.rows) == 49
    assert told == [(n, told[-1][1]) for n in range(1, told[-1][1] + 1)]
    assert told[-1][1] < 49
    check_by_hand(flop, "cc/", "cc/c", found)


def test_rivers_of_a_flop(flop):
    """The board as its symmetric twin is solved: names are those of the board asked for."""
    found = report(flop, "cc/cc/", "Ts 9s 6h 3d")
    assert len(found.rows) == 48
    assert cards_name(found.board) == "Ts9s6h3d"
    assert "3c" in {row.name for row in found.rows}
    check_by_hand(flop, "cc/cc/", "cc/cc/c", found)
    twin = {row.name: row for row in report(flop, "cc/cc/", "Ts 9s 6h 3c").rows}
    for row in found.rows:
        assert same_but_for_cards(row, twin[row.name.translate(str.maketrans("cd", "dc"))])


def test_all_in_is_worth_its_equity(flop):
    found = report(flop, "r150c")
    assert (found.player, found.actions, found.pot) == (None, (), 400)
    assert report(flop, "r150c/") == found
    for row in (*found.rows, found.average):
        assert row.realisation == pytest.approx((1, 1))
    rivers = report(flop, "r150c//", "Ts 9s 6h 2c")
    assert len(rivers.rows) == 48
    before = next(row for row in found.rows if row.name == "2c")
    assert rivers.average.ev == pytest.approx(before.ev)


def test_whole_games():
    solution = solved(toy("leduc", max_sweeps=20))[1]
    found = report(solution, "cc/")
    assert (len(found.rows), found.board, found.pot) == (6, (), 2)
    for row in found.rows:
        acting = solution.node("cc/", row.cards)
        np.testing.assert_allclose(row.frequencies, acting.frequencies, atol=1e-12)
        assert sum(row.ev) == pytest.approx(2)


def test_rake_and_locks():
    """The house takes 3 chips of each pot that comes to an end here; locked hands do what they are told."""
    text = TURN_TEXT.replace("pot = 100\n", "pot = 100\nrake = { rate = 0.05, cap = 3 }\n")
    text += (
        '[[lock]]\nline = "cc/"\nstrategy = { Check = 1 }\n[[lock]]\nline = "c"\nstrategy = [0.5, 0.5, 0]\n'
    )
    solution = solved(parsed_job(text))[1]
    found = report(solution, "cc/")
    for row in found.rows:
        assert row.frequencies == pytest.approx((1, 0, 0))
        assert sum(row.ev) == pytest.approx(97)
    assert sum(report(solution, "r50c/").average.ev) == pytest.approx(197)  # where none of the locks is


def test_cards_that_take_all_hands(tmp_path):
    text = TURN_TEXT.replace("QQ+,AJs,KQo:0.4,87s", "AcAd,KcKd").replace("JJ-88,ATs+,QJs:0.7", "AcKh,KcAh")
    good("solve", write(tmp_path, text), "--out", tmp_path / "out")
    found = good_json("report", tmp_path / "out", "--line", "cc/")
    assert found["cards"]["Ac"]["weight"] == 0
    assert found["cards"]["Ac"]["ev"] == [None, None]
    assert sum(row["weight"] for row in found["cards"].values()) == pytest.approx(1)
    assert None not in found["average"]["ev"]
    assert " - " in good("report", tmp_path / "out", "--line", "cc/")


def test_what_nobody_reaches_is_not_defined(folder, tmp_path, monkeypatch):
    nothing = NodeTotals(0.0, np.full(3, np.nan), (np.nan, np.nan), (np.nan, np.nan))
    monkeypatch.setattr(ChunkView, "totals", lambda self, line: nothing)
    found = good_json("report", folder, "--line", "cc/", "--plot", tmp_path / "none.png")
    for row in (found["cards"]["As"], found["average"]):
        assert (row["weight"], row["frequencies"]) == (None, [None] * 3)
        assert row["ev"] == row["equity"] == row["realisation"] == [None, None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("reports")
    good("solve", write(base, TURN_TEXT), "--out", base / "turn")
    return base / "turn"


def test_json(folder, turn):
    found = good_json("report", folder, "--line", "cc/")
    assert list(found) == ["line", "board", "player", "actions", "pot", "cards", "average"]
    assert (found["line"], found["board"], found["player"], found["pot"]) == ("cc/", "Ts9s6h2h", 0, 100)
    assert list(found["average"]) == ["weight", "frequencies", "ev", "equity", "realisation"]
    assert len(found["cards"]) == 48
    for row in report(turn, "cc/").rows:
        assert found["cards"][row.name]["ev"] == pytest.approx(row.ev)


def test_table_and_csv(folder, tmp_path):
    file = tmp_path / "turn.csv"
    lines = good("report", folder, "--line", "cr50c", "--csv", file).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("card "))
    assert lines[head].split()[:5] == ["card", "weight", "check", "all-in", "100"]
    assert "200 chips" in "\n".join(lines[:head])
    rows = [line.split() for line in lines[head + 1 :]]
    table = pd.read_csv(io.StringIO(file.read_text()))
    assert list(table.columns) == [
        *("board", "line", "card", "player", "weight", "ev_oop", "ev_ip", "equity_oop", "equity_ip"),
        *("realisation_oop", "realisation_ip", "frequency_check", "frequency_all-in 100"),
    ]
    assert [row[0] for row in rows] == table.card.tolist()
    assert (len(rows), rows[-1][0], rows[-1][1]) == (49, "all", "100.00%")
    assert [float(row[2]) for row in rows] == pytest.approx(table.frequency_check.tolist(), abs=6e-4)
    assert table.weight[:-1].sum() == pytest.approx(1)
    assert set(table.line) == {"cr50c/"}
    assert [path.name for path in tmp_path.iterdir()] == ["turn.csv"]


@pytest.mark.parametrize(
    ("suffix", "begins"),
    [
        (".png", b"\x89PNG"),
        pytest.param(".pdf", b"%PDF", marks=pytest.mark.slow),
        pytest.param(".PNG", b"\x89PNG", marks=pytest.mark.slow),
    ],
)
def test_pictures(folder, tmp_path, suffix, begins):
    file = tmp_path / f"turn{suffix}"
    result = spewy("report", folder, "--line", "cc/", "--plot", file, "--json")
    assert result.exit_code == 0
    assert result.stdout.startswith('{"line"')
    assert f"picture in {file}" in result.stderr
    assert file.read_bytes().startswith(begins)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("line", "board", "named"),
    [
        ("", None, "continues after a deal"),
        ("c", None, "leads to a decision of the first round"),
        ("r50f", None, "leads to a fold"),
        ("cc/r150f", None, "leads to a fold"),
        ("cc/cc", None, "leads to a showdown"),
        ("x", None, "'x'"),
        ("ccc", None, "position 2"),
        ("cc//", None, "position 3"),
        ("cc/", "Ts 9s 6h", "expected 4 cards"),
        ("cc/", "Ts 9s 6h 2h 3c", "expected 4 cards"),
        ("cc/", "Ts 9s 6h 3h", "expected to begin with"),
        ("cc/", "Ts 9s 6h 6h", "each card once"),
        ("cc/", "Ts 9s 6h Zz", "Zz"),
    ],
)
def test_places_where_there_is_no_report(folder, line, board, named):
    args = [] if board is None else ["--board", board]
    assert named in refused("report", folder, "--line", line, *args)


def test_boards_that_cannot_be(flop):
    for board in ("Ts 9s 6h", "Ts 9s 2h 2c", "Ts 9s 6h 2h 2c"):
        with pytest.raises(InputError, match="board: expected"):
            report(flop, "cc/cc/", board)


def test_files_that_cannot_be(folder, tmp_path):
    for option, name in (("--csv", "x.txt"), ("--plot", "x.gif"), ("--plot", "x"), ("--csv", "none/x.csv")):
        said = refused("report", folder, "--line", "cc/", option, tmp_path / name)
        assert f"file {tmp_path / name}: expected" in said
    assert list(tmp_path.iterdir()) == []
