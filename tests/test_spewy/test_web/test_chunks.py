"""Payoff matrices, board buckets and rows of hands in the browser's server."""

import numpy as np
import pytest
from cli_runs import KUHN, LEDUC, TURN, good, write

from spewy.look.solution import Solution
from spewy.web import chunks

WIDE = TURN.replace("AhAd,KdQd,JcTc", "AA,KQs:0.5,JTs,66").replace("KhKc,8s7s", "KK,87s,QJs,44")
BUCKETS = WIDE + "[rows]\nturn = 3\nriver = 2\n"
FLOPS = """
name = "flops"
[game]
file = "%s"
[boards]
flop = 10
[rows]
flop = 5
[solve]
target = "0 mbb"
"""
SHORT_DECK = """
GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 10 5
raiseSize = 10 10
firstPlayer = 2 1
maxRaises = 1 1
numSuits = 4
numRanks = 5
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
"""
"""Limit hold'em with the ranks from tens to aces, which ends on the flop."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("chunks")
    (base / "short.game").write_text(SHORT_DECK)
    flops = FLOPS % (base / "short.game")
    jobs = {"turn": WIDE, "buckets": BUCKETS, "leduc": LEDUC, "flops": flops, "kuhn": KUHN}
    jobs["raked"] = WIDE.replace("[bets.turn]", "[spot.rake]\nrate = 0.05\n[bets.turn]")
    jobs["blinds"] = f'unit = "bb"\n{WIDE}'.replace("pot = 100\nstack = 100", "pot = 1\nstack = 1")
    for name, job in jobs.items():
        good("solve", write(base, job), "--out", base / "solves" / name, "--set", "solve.max_sweeps=20")
    return base / "solves"


def naive_payoffs(found, chunk, frame, leaf):
    """Mean payoffs of blocks, pair of hands by pair of hands."""
    weights = (chunk.chunk.entering[0][:, None] * chunk.joint_weight * chunk.chunk.entering[1]).tolist()
    payoffs = frame.to_numpy().tolist()
    rows = [{hand: row for row, names in enumerate(side) for hand in names} for side in chunk.hands]
    out = []
    for own in found["blocks"][0]:
        line = []
        for other in found["blocks"][1]:
            pairs = {(rows[0][a], rows[1][b]) for a in own["hands"] for b in other["hands"]}
            total = sum(weights[i][j] for i, j in pairs)
            earned = sum(weights[i][j] * payoffs[i][j] for i, j in pairs if weights[i][j] > 0)
            line.append(earned / total if total > 0 else None)
        out.append(line)
    return out


@pytest.mark.parametrize(
    ("name", "line", "board"),
    [
        ("turn", "c", ""),
        ("turn", "cc/c", "Qs7h2d3c5s"),
        ("buckets", "", ""),
        ("leduc", "cc/", "As"),
        ("kuhn", "", ""),
    ],
)
def test_payoffs_are_those_of_the_chunk(folder, pages, monkeypatch, name, line, board):
    monkeypatch.setattr(chunks, "MOST_BLOCKS", 4)
    monkeypatch.setattr(chunks, "MOST_NAMED", 99)
    query = {"folder": name, "line": line, "board": board}
    first = pages.ask("/api/chunk", **query)
    entry = line[: line.find("/") + 1]
    with Solution.open(folder / name) as solution:
        chunk = solution.chunk(entry, board or None)
        for leaf in first["leaves"]:
            found = pages.ask("/api/chunk", leaf=leaf["name"], **query)
            frame = chunk.payoff_frame(leaf["line"] if leaf["name"] else None)
            expected = naive_payoffs(found, chunk, frame, leaf)
            np.testing.assert_allclose(
                np.array(found["payoffs"], dtype=float), np.array(expected, dtype=float), rtol=1e-9, atol=1e-9
            )
    assert len(first["leaves"]) == 1 + len(chunk.leaves)
    assert all(len(side) <= 4 for side in first["blocks"])
    for side in first["blocks"]:
        bounds = [bound for block in side for bound in block["equity"]]
        assert bounds == sorted(bounds)
        assert sum(block["weight"] for block in side) == pytest.approx(1)


def test_a_chunk_after_a_bet_in_big_blinds(pages):
    found = pages.ask("/api/chunk", folder="blinds", line="x b0.5 c", board="Qs7h2d3c5s")
    assert (found["line"], found["pot"], found["unit"]) == ("cr0.5c/", 2.0, "bb")
    in_chips = pages.ask("/api/chunk", folder="turn", line="x b50 c", board="Qs7h2d3c5s")
    assert len(found["leaves"]) == len(in_chips["leaves"])


def test_rows_hold_all_hands_and_play_as_the_command_shows(folder, pages):
    found = pages.ask("/api/chunk", folder="buckets", line="c")
    with Solution.open(folder / "buckets") as solution:
        view, waiting = solution.node("c"), solution.waiting("c")
    for player, seen in ((0, waiting), (1, view)):
        rows = found["hand_rows"][player]
        assert sorted(hand for row in rows for hand in row["hands"]) == sorted(seen.hands)
        assert 1 < len(rows) <= 3
        for row in rows:
            members = [seen.hands.index(hand) for hand in row["hands"]]
            assert row["reach"] == pytest.approx(seen.reach[members].sum())
            assert row["equity"] == pytest.approx(
                np.average(seen.equity[members], weights=seen.reach[members])
            )
            for a, share in enumerate(row["strategy"]):
                assert seen.strategy[a, members] == pytest.approx(share)
    assert pages.ask("/api/chunk", folder="turn", line="c")["hand_rows"] is None


def test_a_board_bucket_has_boards_that_share_it(folder, pages):
    found = pages.ask("/api/bucket", folder="flops", line="cc/", board="AsKhTh")
    assert found["of"] == 10
    assert found["boards"]
    with Solution.open(folder / "flops") as solution:
        view = solution.node("cc/", "AsKhTh")
        assert found["bucket"] == view.board_bucket
        for board in found["boards"]:
            assert solution.node("cc/", board).board_bucket == found["bucket"]
    rows = found["hand_rows"][view.player]
    assert len(rows) <= 5
    assert sum(len(row["hands"]) for row in rows) == len(view.hands) == 136
    for row in rows:
        mixes = {tuple(view.action_probabilities(hand).values()) for hand in row["hands"][:5]}
        assert len(mixes) == 1
    empty = pages.ask("/api/bucket", folder="flops")
    assert (empty["bucket"], empty["of"], empty["boards"]) == (0, 1, [])
    assert len(empty["hand_rows"][0]) == 25


def test_errors_name_what_is_wrong(pages):
    assert "only without rake and locks" in pages.refused("/api/chunk", folder="raked")
    assert "expected a job that visits all boards" in pages.refused("/api/chunk", folder="flops")
    assert "expected a whole game with [boards]" in pages.refused("/api/bucket", folder="turn")
    assert "leaf 'x': expected one of cc, r50f, r50c" in pages.refused("/api/chunk", folder="turn", leaf="x")
    assert "expected average or stored" in pages.refused("/api/chunk", folder="turn", payoffs="x")
    assert "expected one of check (c)" in pages.refused("/api/chunk", folder="turn", line="q")
