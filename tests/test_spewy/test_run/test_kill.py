"""Solves that are interrupted or killed, by engine, moment and signal, and continued by the same command.

The folder is sound all the time, and nothing that was saved is lost. The last run ends as an undisturbed solve does: to
the bit, or, where a save in the background was killed, with every deal counted once.
"""

import json
import os
import random
import signal
import time

import pytest
from cli_runs import LEDUC, TURN, good, good_json, refused, write
from dealt_jobs import DEALT_FLOP, DEALT_LEDUC, deals_saved, exploitability_of, visits_in
from naive_chunks import GAME
from process_groups import assert_ended, seconds_of_workers, slowness
from running import started, wait_for

from lockers import holds_store, open_store
from spewy.look.status import status_of
from spewy.records.bucket_numbers import read_mark
from spewy.records.keys import REGRET, STRATEGY
from spewy.records.status import LOG, STATUS, read_status
from spewy.records.strategy_locker import StrategyLocker

MIXED = f"""
name = "three"
[game]
text = '''{GAME.format(hole=1, flop=1, ranks=4)}'''
[rows]
flop = 3
turn = 2
clustering = "equity-quantiles"
[solve]
target = "0 chips"
leaves.turn = "live"
check_every = 2
"""
MANY_BUCKETS = DEALT_FLOP.replace("flop = 3", "flop = 60").replace("flop = 5", "flop = 20")
"""So many board buckets that a save takes as long as a few deals, and most kills fall into a save."""
ENGINES = {
    "exact": (TURN, ("solve.target=0%", "solve.check_every=1")),
    "live": (LEDUC, ("solve.leaves=live",)),
    "stored": (LEDUC, ()),
    "average": (LEDUC, ("solve.integrate=average",)),
    "stored over live": (MIXED, ()),
    "dealt": (DEALT_LEDUC, ()),
    "dealt, many buckets": (MANY_BUCKETS, ("solve.check_flops=1",)),
}
"""Job and settings."""


class Solve:
    """A solve of one of the engines in a folder: without an end, or until a number of sweeps."""

    def __init__(self, folder, engine, *settings):
        text, more = ENGINES[engine]
        self.sampled, self.job = "[boards]" in text, write(folder, text)
        self.out, self.whole = folder / "out", folder / "whole"
        self.settings = [part for setting in (*more, *settings) for part in ("--set", setting)]

    def command(self, sweeps, out=None, *more):
        last = f"solve.max_sweeps={sweeps}"
        return ("solve", self.job, "--out", out or self.out, *self.settings, *more, "--set", last)

    def endless(self, *options):
        never = ("--set", "solve.check_every=8 h") if self.sampled else ()
        return started(*self.command(10**9), *never, *options, "--json")

    def kill_again_and_again(self, kills):
        """Kill the solve while it starts, saves or works; what each kill left saved, and what the log tells of."""
        rng, reached, told = random.Random(kills), [0], []
        for number in range(kills):
            with self.endless("--save-every", "0") as process:
                if number % 3:  # else while it builds, loads or begins
                    wait_for(lambda: deals_saved(self.out) > reached[-1], process)
                time.sleep(0.3 * rng.random())
                process.kill()
                process.communicate()
            assert process.returncode == -signal.SIGKILL
            self.assert_healthy()
            reached.append(deals_saved(self.out))
            told.append(saves_told(self.out))
        assert reached == sorted(reached)
        assert reached[-1] > 0
        return reached[1:], told

    def assert_healthy(self):
        for store in filter(holds_store, (self.out, self.out / "play")):
            assert good("check", store).endswith(": healthy\n")

    def assert_as_if_undisturbed(self, sweeps):
        """Finish the solve, and compare it with one that nothing disturbed, in a single thread or process."""
        alone = ("--set", "solve.workers=1")
        result, whole = (good_json(*self.command(sweeps, out, *alone)) for out in (self.out, self.whole))
        assert (result["sweeps"], result["exploitability"]) == (sweeps, whole["exploitability"])
        assert arrays_in(self.out) == arrays_in(self.whole)
        checks = [row[0] for row in result["trace"]]
        assert checks == sorted(set(checks))  # no check is told twice
        self.assert_healthy()


def told(folder):
    """Deals that the status of a solve tells of."""
    status = read_status(folder) if folder.exists() else None
    return 0 if status is None else status.deals


def saves_told(folder):
    """Deals of the last save that the log tells of."""
    log = folder / LOG
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return max((int(line[3]) for line in lines if line[2] == "save"), default=0)


def arrays_in(folder):
    with open_store(folder, read_only=True) as store:
        return {
            (locker, key): store.get(locker, key).tobytes()
            for locker in (REGRET, STRATEGY)
            for key in store.keys(locker)
        }


@pytest.mark.parametrize(
    ("engine", "number", "workers"),
    [
        ("dealt", signal.SIGINT, 1),
        ("dealt", signal.SIGTERM, 2),
        ("stored", signal.SIGINT, 2),
        *(
            pytest.param(engine, number, workers, marks=pytest.mark.slow)
            for engine, number, workers in [
                ("stored", signal.SIGTERM, 1),
                ("live", signal.SIGINT, 1),
                ("exact", signal.SIGTERM, 2),
                ("stored over live", signal.SIGINT, 2),
            ]
        ),
    ],
)
def test_an_interruption_saves_everything(engine, number, workers, tmp_path):
    """All of the group get the signal, as from a terminal."""
    solve = Solve(tmp_path, engine, f"solve.workers={workers}")
    with solve.endless() as process:
        wait_for(lambda: told(solve.out) or deals_saved(solve.out), process)
        os.killpg(process.pid, number)
        said, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    result = json.loads(said)
    assert result["interrupted"] is True
    assert err.endswith(f"after sweep {result['sweeps']}; everything is saved, the same command continues\n")
    assert (
        ": saving; another interruption stops at once and loses the last work\n" in err or not solve.sampled
    )
    assert "Traceback" not in err
    assert status_of(solve.out).ended == "interrupted"
    assert deals_saved(solve.out) == result["sweeps"]
    solve.assert_healthy()
    if solve.sampled and workers > 1:  # threads learn in an order of their own
        assert good_json(*solve.command(result["sweeps"] + 10))["sweeps"] == result["sweeps"] + 10
    else:
        solve.assert_as_if_undisturbed(result["sweeps"] + 10)


@pytest.mark.parametrize(
    ("engine", "workers", "kills"),
    [
        ("live", 1, 2),
        *(
            pytest.param(engine, workers, kills, marks=pytest.mark.slow)
            for engine, workers, kills in [
                ("exact", 2, 20),
                ("stored", 1, 4),
                ("average", 1, 4),
                ("stored over live", 1, 3),
                ("stored over live", 2, 3),
            ]
        ),
    ],
)
def test_killed_again_and_again(engine, workers, kills, tmp_path):
    solve = Solve(tmp_path, engine, f"solve.workers={workers}")
    reached, _ = solve.kill_again_and_again(kills)
    solve.assert_as_if_undisturbed(reached[-1] + 10)


@pytest.mark.parametrize(
    ("engine", "kills"), [("dealt", 2), pytest.param("dealt, many buckets", 40, marks=pytest.mark.slow)]
)
def test_a_whole_game_that_is_killed_counts_every_deal_once(engine, kills, tmp_path):
    solve = Solve(tmp_path, engine)
    reached, told_by_log = solve.kill_again_and_again(kills)
    assert all(deals >= of_log for deals, of_log in zip(reached, told_by_log, strict=True))
    assert len(set(reached)) > kills / 3  # many a run has saved something
    with open_store(solve.out, read_only=True) as store:
        mark = read_mark(store)
    assert mark.seconds > 0  # of killed runs, as far as they were saved
    no_more = ("--set", f"solve.max_time={mark.seconds} s")
    assert good_json(*solve.command(10**9), *no_more)["sweeps"] == mark.deals
    last = max(map(max, visits_in(solve.out).values())) + 1000  # after all deals beyond the last mark
    assert good_json(*solve.command(last))["sweeps"] == last
    # each deal visits a bucket of each round
    assert visits_in(solve.out) == {t: [last, last] for t in (0, 1)}
    solve.assert_healthy()
    if engine == "dealt":
        assert exploitability_of(solve.out, "leduc") < 0.2


def test_others_look_while_it_is_solved(tmp_path):
    solve = Solve(tmp_path, "dealt")
    with solve.endless("--save-every", "0.01", "--set", "solve.max_time=1 h") as process:
        wait_for(lambda: told(solve.out) and read_status(solve.out).saved_deals, process)
        status = good_json("status", solve.out)
        assert status["running"] is True
        assert 3000 < status["seconds_left"] < 3600
        assert status["per_second"] > 0
        with StrategyLocker.open(solve.out / "play") as play:
            before = play.saved.deals
            seen = [good_json("show", solve.out)["hands"] for _ in range(3)]
            wait_for(lambda: play.saved.deals > before, process)
        assert all(len(hands) == 6 for hands in seen)
        assert "is in use by another `spewy solve`" in refused(*solve.command(1))


LIMIT_HOLDEM = """
name = "limit-holdem"
[game]
file = "holdem.limit.2p.reverse_blinds"
[boards]
flop = 2
turn = 2
river = 2
[rows]
flop = 3
turn = 3
river = 3
[solve]
target = "0 mbb"
max_sweeps = 50
workers = 2
"""


def seconds_to_end(process):
    """Seconds of an idle machine from SIGTERM to the end of a process; no worker of the process outlives it."""
    slow = slowness()
    process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    process.wait(60)
    took = (time.monotonic() - begun) / max(slow, slowness())
    assert_ended(process.pid)
    err = process.communicate()[1]
    assert process.returncode == 130, err
    assert "Traceback" not in err
    return took


@pytest.mark.slow
def test_judging_a_flop_of_hold_em_ends_within_two_seconds(tmp_path):
    """Judging a flop takes tens of seconds, in a check and with `spewy exploit`; kernels are compiled before."""
    job, folder = write(tmp_path, LIMIT_HOLDEM), tmp_path / "out"
    with started("solve", job, "--out", folder) as process:
        wait_for(lambda: (folder / STATUS).exists() and read_status(folder).checking, process)
        time.sleep(4)
        assert seconds_to_end(process) < 2
    assert (deals_saved(folder), status_of(folder).ended) == (50, "interrupted")
    with started("exploit", folder, "--workers", "2") as process:
        wait_for(lambda: [used > 4 for used in seconds_of_workers(process.pid)] == [True] * 2, process)
        assert seconds_to_end(process) < 2
