"""Every benchmark and every study runs to its end with small settings."""

import os
import subprocess
import sys

import pytest

from benchmarks.paths import ROOT
from benchmarks.speed.bot_budget import SMALL_GAME, SMALL_JOB, small_folder
from spewy import Job, solve

NO_LIMIT = SMALL_GAME.replace("limit", "nolimit", 1).replace("raiseSize = 10 10 20 20", "stack = 2000 2000")
BETS = '[bets.preflop]\nraise = "a"\n' + "".join(
    f'[bets.{name}]\nbet = "100%"\nraise = "a"\n' for name in ("flop", "turn", "river")
)

COMMANDS = """
speed.bot_budget --quick
speed.against . --repeat 1 --only policy
speed.buckets --quick
speed.cluster compare --quick
speed.cluster stored --quick
speed.exact --quick
speed.exact --against . --spots R1 --repeat 1
speed.first_percent NOLIMIT --turns 1
speed.lockers --quick
speed.look --quick
speed.pages --quick
speed.policy --quick
speed.small_spots --quick
speed.small_spots --classes --turns 0 --flops 0 --repeat 3
speed.solve --quick
speed.start --quick
speed.start --compile --quick
speed.whole_game_stages OUT/no-limit.toml --deals 32
speed.whole_games --quick
studies.any_size NOLIMIT --pairs 5 --iterations 5
studies.bet_sizes rivers --number 1 --target 1%
studies.board_classes measure --quick
studies.benchmark_games --values --iterations --only river-small --most 100
studies.chosen_equilibria --quick
studies.bucket_payoffs LIMIT --boards 1 --workers 2
studies.by_round LIMIT --flops 2
studies.clustering --quick --sweeps 5 --workers 1
studies.failures --quick
studies.features --quick
studies.lp_or_cfr --quick --csv OUT/lp.csv --picture OUT/lp.png
studies.locked_starts --spot R1 --lock x:b20 --most 20
studies.matches --data OUT/matches.json play LIMIT --hands 20 --opponents equity --workers 1 --logs OUT/logs
studies.matches table
studies.mixed_leaves --sweeps 3
studies.mutants --count 1 --only spewy/game/sizes.py --out OUT/mutants.jsonl
studies.no_limit_gadgets --quick --iterations 3
studies.off_tree_roots NOLIMIT --turns 1 --iterations 5
studies.round_starts NOLIMIT --turns 2 --iterations 5 --sizes 3
studies.outcome_curves OUT/curves.png
studies.real_hands OUT
studies.regret_rules --spots polarised --most 10
studies.quick_flops --save OUT/quick.jsonl --spots 0 --ways none,none,2 1s --accuracy 30
studies.resolved_flops table
studies.resolved_rounds LIMIT --hands 3 --iterations 3
studies.resolved_rounds LIMIT --hands 3 --few 1,2
studies.rhode_island --target 0.05
studies.sampled_flops --stored 50 --deals 20 --iterations 3
studies.session_review --hands 5 --flops 1
studies.schedules --most 20
studies.threads --quick
studies.unreached --only R1 --target 1%
studies.upac_depths push --stacks 12
studies.walks solve
studies.house
studies.warm_start --rows 4 --sweeps 2 --most 20
studies.whole_games study --quick
"""
LONG = {
    "studies.gadgets": "takes five minutes, and does the work of studies.no_limit_gadgets",
    "studies.averaging": "solves flop-holdem by chunks, which takes minutes",
    "studies.flop_subsets": "reads the features of all flops and solves hundreds of them",
    "studies.leaf_estimates": "solves flops for minutes",
    "studies.preflop_ranges": "solves whole games of hold'em",
    "studies.preflop_odds": "enumerates all boards for every pair of hands",
    "studies.online_servers": "serves until it is stopped",
    "studies.upac": "needs a package of solved games",
}
"""Modules that are not run here, and the reasons."""


def modules():
    """Names of the modules of benchmarks that are commands."""
    files = sorted((ROOT / "benchmarks").glob("s*/*.py"))
    return {f"{f.parent.name}.{f.stem}" for f in files if "__main__" in f.read_text()}


def test_every_command_is_run_or_has_a_reason():
    assert {line.split()[0] for line in COMMANDS.split("\n") if line} | set(LONG) == modules()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    where = tmp_path_factory.mktemp("benchmarks")
    (where / "no-limit.game").write_text(NO_LIMIT)
    (where / "no-limit.toml").write_text(SMALL_JOB.format(game=where / "no-limit.game") + BETS)
    solve(Job.load(where / "no-limit.toml"), where / "no-limit")
    return {"LIMIT": small_folder(where), "NOLIMIT": where / "no-limit", "OUT": where}


def run(module, *arguments):
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS.strip().split("\n"))
def test_command_runs(folders, command):
    for name in ("NOLIMIT", "LIMIT", "OUT"):
        command = command.replace(name, str(folders[name]))
    done = run(*command.split())
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()


@pytest.mark.parametrize("command", ["studies.whole_games curve", "speed.whole_games"])
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, command):
    module, *arguments = command.split()
    job = tmp_path / "missing.toml"
    done = run(module, *arguments, job, *[tmp_path] * len(arguments))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert str(job) in line
