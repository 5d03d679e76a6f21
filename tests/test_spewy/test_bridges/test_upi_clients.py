"""Clients of UPI that other people wrote, `pious` and `pokersolverquery`, drive ``spewy upi``."""

import json
import os
import subprocess
import sys

import pytest
from jobs import SUITED, parsed_job
from platformdirs import user_cache_path
from upi_client import executable

from spewy import Solution, solve

PIOUS = """
import contextlib, io, json, sys
import matplotlib
matplotlib.use("Agg")
with contextlib.redirect_stdout(io.StringIO()):
    from pious.pio.aggregate import AggregationConfig, aggregate_single_file
    from pious.pio.blockers import compute_single_card_blocker_effects
    from pious.pio.util import make_solver
    from pious.pio.misc import find_mix_call_folds
    solver = make_solver()
    solver.load_tree(sys.argv[1])
    solver.load_all_nodes()
    solver.rebuild_forgotten_streets()
    info = solver.show_tree_info()
    reports = aggregate_single_file(sys.argv[1], ["r:0", "r:0:c"], AggregationConfig(global_freq=True))
    blockers = compute_single_card_blocker_effects(solver, "r:0:c").equity_deltas
    strategy = [list(row) for row in solver.show_strategy("r:0:c")]
    mixed = find_mix_call_folds(solver, "r:0:b50")
    shares = lambda: [solver.calc_global_freq(name) for name in ("r:0:b50", "r:0:b50:f")]
    before = shares()
    calls = solver.show_strategy("r:0:b50")
    solver.set_strategy("r:0:b50", [1.0 if row == 0 else 0.0 for row, action in enumerate(calls) for _ in action])
    solver.lock_node("r:0:b50")
    solver.go()
    after = shares()
out = {
    "board": info["Board"],
    "stack": solver.show_effective_stack(),
    "lines": len(solver.show_all_lines()),
    "reports": [frame.to_dict("records") for frame in reports.values()],
    "blockers": blockers,
    "strategy": strategy,
    "mixed": [hand for _, hand, *_ in mixed],
    "folds": [folds / bets for bets, folds in (before, after)],
}
json.dump(out, sys.stdout)
"""
QUERY = """
import json, sys
from pokersolverquery.solver import LoadedTree, UPISolver
tree = LoadedTree(sys.argv[1], UPISolver(sys.argv[2]))
json.dump([str(tree.flop), tree.ip_range.range_, tree.all_lines, tree.solver.tree_exists], sys.stdout)
tree.solver.exit()
"""


@pytest.fixture(scope="module")
def flop(tmp_path_factory):
    """The folder of a solved flop."""
    folder = tmp_path_factory.mktemp("clients") / "flop"
    solve(parsed_job(SUITED).replace(target="1%", workers=1), folder).close()
    return folder


def run(tmp_path, script, *arguments):
    """Run a client's script, and return the JSON that it prints."""
    path = executable(tmp_path)
    # The client gets a home of its own, but no kernel is compiled again in it.
    kernels = os.environ.get("SPEWY_KERNELS") or str(user_cache_path("spewy") / "kernels")
    (tmp_path / "pious.toml").write_text(f'[pio]\ninstall_directory = "{path.parent}"\n')
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)],
        env=os.environ | {"HOME": str(tmp_path), "SPEWY_KERNELS": kernels},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_pious_reports_locks_and_blockers(tmp_path, flop):
    pytest.importorskip("pious")
    link = tmp_path / "Qs7s2s.cfr"
    link.write_text(f"{flop}\n")
    said = run(tmp_path, PIOUS, link)
    with Solution.open(flop) as solution:
        assert said["board"] == ["Qs", "7s", "2s"]
        assert said["stack"] == 250
        for (report,), line in zip(said["reports"], ("", "x"), strict=True):
            totals, node = solution.totals(line), solution.node(line)
            assert [report["OOP EV"], report["IP EV"]] == pytest.approx(totals.ev, rel=1e-5)
            assert [report["OOP Equity"], report["IP Equity"]] == pytest.approx(totals.equity, rel=1e-5)
            shares = [
                value for name, value in report.items() if name.endswith(" Freq") and name != "Global Freq"
            ]
            assert len(shares) == len(node.actions)
        played = {tuple(hand) for hand in solution.node("x").strategy.T.round(6).tolist()}
    assert played <= {
        tuple(round(share, 6) for share in hand) for hand in zip(*said["strategy"], strict=True)
    }
    assert len(said["blockers"]) == 52
    assert 0 < said["folds"][0] < 1
    assert said["folds"][1] == pytest.approx(1)


def test_pokersolverquery_reads_a_tree(tmp_path, flop):
    pytest.importorskip("pokersolverquery")
    board, weights, lines, exists = run(tmp_path, QUERY, flop, executable(tmp_path))
    assert all(rank in board for rank in "Q72")
    with Solution.open(flop) as solution:
        held = solution.waiting().reach
    assert sorted(weight for weight in weights if weight) == pytest.approx(sorted(held))
    assert lines[:3] == ["r", "r:0", "r:0:c"]
    assert exists
