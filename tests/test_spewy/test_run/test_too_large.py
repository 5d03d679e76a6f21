"""Jobs that are far too large: told and refused by lower bounds, before anything is built."""

import re
import time
from dataclasses import replace

import pytest
from cli_runs import LEDUC, good, good_json, refused, spewy, write
from jobs import EXAMPLES, example, toy

from spewy.chunks.layout import Layout
from spewy.chunks.live_game import live_bytes
from spewy.game.gamefile import format_game, load_game
from spewy.job.job import Job
from spewy.run.walked_cost import lower_bounds
from spewy.run.walked_plan import WalkedPlan

SIZES = 'bet = "33%, 75%, 150%"\nraise = "33%, 75%, 150%"\n'
NO_LIMIT = f"""
name = "whole"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[bets.preflop]
{SIZES}[bets.flop]
{SIZES}[bets.turn]
{SIZES}[bets.river]
{SIZES}"""
SHALLOW = format_game(replace(load_game("doyle"), stacks=(30, 30)))
MANY_NODES = f"""
name = "many"
[game]
text = '''{SHALLOW}'''
[bets.preflop]
bet = "2c, 4c"
raise = "2c, 4c"
"""
LIMIT = """
name = "limit"
[game]
file = "holdem.limit.2p.reverse_blinds"
"""


MUCH = ("--set", "solve.memory=1000000 TiB")


@pytest.mark.parametrize("rows", ["", "[rows]\nflop = 10\nturn = 10\nriver = 10\n"])
def test_whole_limit_holdem_is_estimated_by_lower_bounds(rows, tmp_path):
    job = write(tmp_path, LIMIT + rows)
    found = good_json("estimate", job)
    assert not found["fits"]
    assert found["memory_bytes"] is found["boards"] is found["disk_bytes"] is found["streamed_bytes"] is None
    assert found["least_memory_bytes"] > found["budget_bytes"] == 2**31
    assert found["least_boards"][:2] == [1, 921]
    assert (found["betting_nodes"], found["betting_counted"]) == (16584, True)
    told = good("estimate", job)
    assert "at least 921 boards" in told
    assert "MORE THAN the 2 GiB allowed" in told
    line = refused("solve", job, "--out", tmp_path / "out")
    assert "solve.memory: this job needs at least" in line
    assert "16,584 betting nodes" in line
    assert not (tmp_path / "out").exists()


def test_a_tree_too_large_is_told_by_what_was_counted(tmp_path):
    begun = time.perf_counter()
    told = good("estimate", write(tmp_path, NO_LIMIT))
    assert time.perf_counter() - begun < 30  # it takes two seconds, and took minutes
    assert "MORE THAN the 1,000,000 that are built" in told
    assert "MORE THAN the 2 GiB allowed" in told
    job = write(tmp_path, MANY_NODES)
    found = good_json("estimate", job, *MUCH)
    assert (found["fits"], found["betting_counted"]) == (False, False)
    assert found["betting_nodes"] > 1_000_000
    assert found["least_memory_bytes"] < found["budget_bytes"]


def test_a_tree_too_large_is_refused(tmp_path):
    job, out = write(tmp_path, MANY_NODES), tmp_path / "out"
    assert "more than 1,000,000 betting nodes" in refused("solve", job, "--out", out)
    assert "betting tree: expected at most 1,000,000" in refused("solve", job, "--out", out, *MUCH)
    assert "betting tree: expected at most 1,000,000" in refused("tree", job)
    assert not out.exists()


def test_a_river_of_many_sizes_is_refused_before_its_tree_is_built(tmp_path, monkeypatch):
    def unasked(*args):
        raise AssertionError("a tree was built")

    monkeypatch.setattr("spewy.game.tree._Builder", unasked)
    job = EXAMPLES / "R1.toml"
    many = {
        "bets.river.bet": "10%, 20%, 33%, 45%, 60%, 75%, 100%, 125%, 150%, 200%, a",
        "bets.river.raise": "2x, 2.5x, 3x, 3.5x, 4x, a",
        "spot.stack": "5000",
    }
    options = [word for key, value in many.items() for word in ("--set", f"{key}={value}")]
    found = good_json("estimate", job, *options)
    assert (found["fits"], found["betting_counted"]) == (False, True)
    assert "solve.memory: this job needs at least" in refused(
        "solve", job, *options, "--out", tmp_path / "out"
    )


def test_no_more_boards_are_saved_at_once_than_there_are(monkeypatch):
    job = example("R1")
    whole = WalkedPlan.of(job, streaming=True)
    monkeypatch.setattr("spewy.run.walked_cost.AT_ONCE", 0)
    assert WalkedPlan.on(job, whole.layout, streaming=True).cost == whole.cost


def test_bad_input_is_told_before_size(tmp_path):
    job = write(tmp_path, LIMIT)
    assert "solve.target" in refused("estimate", job, "--set", "solve.target=1%")
    assert "bets.river.bet" in refused("estimate", write(tmp_path, NO_LIMIT), "--set", "bets.river.bet=1y")


@pytest.mark.parametrize(
    "job",
    [
        example("R1"),
        example("R1", "spot.stack=1000", "bets.river.raise=60%, 2.2x, 3x, a"),
        example("T1"),
        example("T1", "solve.precision=double"),
        example("T1", "rows.river=10", "solve.max_sweeps=1"),
        example("T1", "solve.leaves=stored", "solve.symmetry=false"),
        example("F1", "spot.oop=AA,KK", "spot.ip=QQ,JTs"),
        toy("leduc"),
        toy("leduc", leaves="live"),
        toy("kuhn"),
    ],
    ids=lambda job: f"{job.name} {job.solve.leaves}",
)
def test_lower_bounds_are_below_the_estimate(job):
    least, cost = lower_bounds(job), WalkedPlan.of(job, streaming=True).cost
    assert all(low <= high for low, high in zip(least.boards, cost.boards, strict=True))
    assert all(low <= high for low, high in zip(least.chunks, cost.chunks, strict=True))
    assert 0 < least.memory_bytes <= cost.memory_bytes
    if not job.solve.symmetry:
        assert (least.boards, least.chunks) == (cost.boards, cost.chunks)


@pytest.mark.parametrize(
    "job", [example("T1"), example("T1", "rows.river=10"), toy("leduc")], ids=["hands", "buckets", "leduc"]
)
def test_bytes_of_a_live_game_are_told_without_making_it(job):
    layout = Layout.of(job.problem)
    arrays = []
    for r in layout.live.rounds:
        for rows in r.hands:
            arrays += [rows.cards, rows.strength, rows.same_cards, rows.row, rows.weight]
        arrays += [] if r.deal is None else [*r.deal.parent_row, *r.deal.child_row]
    assert live_bytes(layout.problem, layout.boards) == sum(array.nbytes for array in arrays)


def test_an_estimate_tells_its_nodes_and_bounds(tmp_path):
    found = good_json("estimate", write(tmp_path, LIMIT.replace("holdem.limit.2p.reverse_blinds", "kuhn")))
    assert (found["betting_nodes"], found["betting_counted"], found["fits"]) == (9, True, True)
    assert found["least_memory_bytes"] <= found["memory_bytes"]


def test_a_small_job_is_looked_at_whatever_its_memory(tmp_path):
    job = write(tmp_path, LIMIT.replace("holdem.limit.2p.reverse_blinds", "leduc"))
    found = good_json("estimate", job, "--set", "solve.memory=1 KiB")
    assert (found["fits"], found["boards"]) == (False, [1, 3])
    assert found["least_memory_bytes"] > found["budget_bytes"]


def test_an_estimate_names_changes_that_save_memory(tmp_path):
    """Each estimated memory is near that of the changed job."""
    job = tmp_path / "job.toml"
    good("new", job, "--preset", "hu-3bet", "--board", "Ks 7h 2d", "--bet", "33%, 75%", "--raise", "60%, a")
    small = ("--set", "solve.memory=200 MiB")
    found = good_json("estimate", job, *small)
    assert not found["fits"]
    cuts = found["cuts"]
    assert len(cuts) == 5
    assert [cut["share"] for cut in cuts] == sorted(cut["share"] for cut in cuts)
    first = {"words": "with 16-bit numbers", "key": "solve.precision", "share": 0.5}
    assert cuts[0].items() >= first.items()
    for cut in cuts:
        smaller = good_json("estimate", job, *small, "--set", f"{cut['key']}={cut['value']}")["memory_bytes"]
        assert cut["memory_bytes"] == pytest.approx(smaller, rel=0.15), cut
        assert cut["memory_bytes"] == round(cut["share"] * found["memory_bytes"])
    sized = next(cut for cut in cuts if cut["size"])
    assert sized["size"] not in sized["value"]
    text = good("estimate", job, *small)
    assert re.search(
        r"smaller +about [0-9.]+ [MG]iB with 16-bit numbers \(--set solve\.precision=16-bit\)\n", text
    )
    assert good_json("estimate", job)["cuts"] == []  # 4 GiB are enough
    line = refused("solve", job, *small, "--out", tmp_path / "out")
    assert re.search(r"found 200\.0 MiB; it needs about [0-9.]+ MiB (with|without) .*\(--set ", line)
    new = ("--preset", "srp-btn-bb", "--board", "Ks 7h 2d", "--bet", "33%, 75%", "--force")
    said = spewy("new", job, *new).stderr
    assert "only 4 GiB are allowed in memory, so the rest streams from disk; smaller:\n  about " in said


def test_the_number_of_raises_is_limited(tmp_path):
    """A bet and one raise: the game tree has no line with a second raise, and needs less."""
    job = tmp_path / "job.toml"
    good("new", job, "--preset", "hu-3bet", "--board", "Ks 7h 2d 5c", "--bet", "50%", "--raise", "60%, a")
    found = [
        good_json("estimate", job, "--set", f"tree.max_raises={most}")["betting_nodes"] for most in (1, 2, 9)
    ]
    assert found[0] < found[1] < found[2] == good_json("estimate", job)["betting_nodes"]
    tree = Job.load(job, ("tree.max_raises=2",)).betting_tree
    most = {turn.count("r") for node in tree.nodes() for turn in node.line.split("/")}
    assert most == {0, 1, 2}
    assert "tree.max_raises has no effect in the limit game" in refused(
        "tree", write(tmp_path, LEDUC), "--set", "tree.max_raises=1"
    )
