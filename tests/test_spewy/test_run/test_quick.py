"""Quick solves of flops and turns: lean later rounds, the first round kept, later rounds solved when they are shown."""

import re
import threading

import numpy as np
import pytest
from cli_runs import good, good_json, refused, write
from jobs import ALIKE, TURN, parsed_job

from lockers import open_store
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.job.shipped import preset
from spewy.learn import live
from spewy.look.solution import Solution, solve
from spewy.records.keys import STRATEGY
from spewy.records.progress import first_dropped, quick_seconds, saved_sweeps
from spewy.run.events import Advanced
from spewy.run.quick import GROUPS, MENUS, Lean, lean, measured_loss
from spewy.run.session import Session

FLOP = ALIKE.replace("[bets.turn]", '[solve]\nworkers = 1\nmemory = "1 GiB"\n[bets.turn]')
EVERY_LINE = "", "x", "b50", "x b50"


def quick(text="3 s", **keys):
    return parsed_job(FLOP).replace(quick=text, **keys)


def wide(text):
    oop, ip = (given.text for given in preset("3bet-co-btn").ranges)
    return quick(text, **{"spot.oop": oop, "spot.ip": ip, "spot.board": "Qs Jh 2h"})


def test_the_richest_game_that_the_time_allows_is_chosen():
    names = [words for words, *_ in MENUS]
    chosen = [names.index(lean(wide(f"{seconds} s")).bets) for seconds in (0.1, 1, 2, 4, 100)]
    assert chosen == sorted(chosen, reverse=True)
    assert len(set(chosen)) >= 3
    assert chosen[0] == len(MENUS) - 2  # without any bets a flop loses more than with few sweeps
    assert chosen[-1] == 0


def test_sweeps_visit_all_boards_if_there_is_plenty_of_time():
    assert lean(wide("3 s")).groups == GROUPS
    assert lean(wide("1000 s")) == Lean(lean(wide("1000 s")).job)


def test_a_small_memory_makes_the_game_lean():
    assert lean(quick("1000 s")).bets is None
    assert lean(quick("1000 s", memory="1 MiB")).bets is not None


def test_the_first_round_keeps_its_bets():
    whole, small = quick("0.0001 s"), lean(quick("0.0001 s")).job
    assert small.bets["flop"] == whole.bets["flop"]
    assert (small.bets["turn"].bet, small.bets["river"].bet) == ("75%", "")


def test_rounds_without_bets_have_no_decisions_and_equal_values():
    bets = {"bets.turn": {"bet": "50%"}, "bets.river": {"bet": ""}, "target": "0.01%"}
    results = {}
    for short in (False, True):
        job = parsed_job(FLOP).replace({**bets, "tree.check_down": short})
        results[short] = (solve(job).result, job.tree_count.rounds[-1])
    (whole, rounds), (less, fewer) = results[False], results[True]
    assert less.ev == pytest.approx(whole.ev, abs=1e-3)
    assert sum(rounds.decisions) > 0
    assert fewer.decisions == [0, 0]
    assert fewer.showdowns == rounds.showdowns


def test_a_turn_has_a_lean_river():
    job = Job.of(TURN).replace(quick="0.0001 s")
    assert lean(job).job.bets["river"].bet == ""
    assert lean(job).job.bets["turn"] == job.bets["turn"]


def test_limit_games_and_listed_lines_keep_all_bets():
    job = Job.of({**TURN, "bets": {}, "tree": {"lines": ["b50 c / b100 c"]}}).replace(quick="0.0001 s")
    assert lean(job).bets is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("quick")
    write(base, FLOP)
    good("solve", base / "job.toml", "--quick", "--set", "solve.max_sweeps=8", "--out", base / "out")
    return base


def test_a_quick_solve_is_a_plain_solve_of_its_lean_game(folder):
    job = quick(max_sweeps=8)
    alone = lean(job).job.replace({"save.rounds": "flop", "target": "0.000001%", "max_sweeps": 8})
    session = Session(alone)
    session.solve()
    with Solution.open(folder / "out") as found, Solution(alone, session.store) as expected:
        for line in EVERY_LINE:
            mine, theirs = found.node(line), expected.node(line)
            for p in (0, 1):
                assert np.array_equal(mine.ev[p], theirs.ev[p])
            assert np.array_equal(mine.frequencies, theirs.frequencies)


def test_the_folder_has_the_flop_only(folder):
    with open_store(folder / "out", read_only=True) as store:
        assert quick_seconds(store) == 3
        assert first_dropped(store) == 2
        assert {key[:2] for key in store.keys(STRATEGY)} == {b"1."}


def test_a_turn_is_solved_with_all_bets_when_it_is_shown(folder):
    shown = good_json("show", folder / "out", "--line", "x x", "--board", "Qs 7s 2s 5h")
    whole = Session(parsed_job(FLOP).replace(target="0.05%"))
    whole.solve()
    with Solution(whole.job, whole.store) as solution:
        expected = solution.node("x x", "Qs 7s 2s 5h")
        assert shown["actions"] == list(expected.actions)


def test_the_same_command_returns_the_result_and_a_longer_time_solves_again(folder):
    again = good_json(
        "solve", folder / "job.toml", "--quick", "--set", "solve.max_sweeps=8", "--out", folder / "out"
    )
    assert again["quick"]["seconds"] == 3
    assert again["sweeps"] == 8
    assert again["exploitability"] is None
    more = good_json(
        *("solve", folder / "job.toml", "--set", 'solve.quick="4 s"'),
        *("--set", "solve.max_sweeps=6", "--out", folder / "out"),
    )
    assert more["sweeps"] == 6
    assert more["quick"]["seconds"] == 4


def test_a_solve_of_the_whole_game_begins_anew_in_the_folder(folder, tmp_path):
    good("solve", folder / "job.toml", "--quick", "--out", tmp_path / "mixed")
    mixed = good_json("solve", folder / "job.toml", "--out", tmp_path / "mixed")
    alone = good_json("solve", folder / "job.toml", "--out", tmp_path / "alone")
    assert mixed["quick"] is None
    assert mixed["converged"]
    assert mixed["exploitability"] == alone["exploitability"]
    assert mixed["sweeps"] == alone["sweeps"]
    with open_store(tmp_path / "mixed", read_only=True) as store:
        assert quick_seconds(store) is None
        assert first_dropped(store) is None
    kept = good_json("solve", folder / "job.toml", "--quick", "--out", tmp_path / "mixed")
    assert kept["exploitability"] == alone["exploitability"]


def test_one_command_answers_quickly_and_goes_on(folder, tmp_path):
    text = good("solve", folder / "job.toml", "--quick", "--go-on", "--out", tmp_path / "both")
    alone = good_json("solve", folder / "job.toml", "--out", tmp_path / "alone")
    assert text.index("quick ") < text.index("converged")
    with Solution.open(tmp_path / "both") as solution:
        assert solution.result.exploitability == alone["exploitability"]
    assert "add --quick" in refused("solve", folder / "job.toml", "--go-on", "--out", tmp_path / "both")


def test_what_is_shown_says_that_the_solve_was_quick(folder):
    assert "sweeps of a quick solve" in good("show", folder / "out")


def test_what_such_answers_lost_is_told_where_it_was_measured():
    job = wide("3 s").replace({"spot.stack": 500, "spot.pot": 100})
    assert re.match(
        r"such answers lost [\d.]+ % of the pot .* \(in 3 s, \d+ flops with up to 6 pots",
        measured_loss(job, 3),
    )
    assert measured_loss(job, 4) == measured_loss(job.replace({"spot.stack": 5000}), 3) == ""
    assert measured_loss(job.replace({"spot.board": "Qs Jh 2h 3c"}), 3) == ""


def test_an_estimate_is_of_the_lean_game(folder):
    few = good_json("estimate", folder / "job.toml", "--set", 'solve.quick="0.0001 s"')
    every = good_json("estimate", folder / "job.toml")
    assert few["information_sets"] < every["information_sets"]


def test_python_solves_quickly(tmp_path):
    solution = solve(parsed_job(FLOP).replace(max_sweeps=9), quick=5)
    assert solution.result.quick["seconds"] == 5
    assert solution.result.sweeps == 9


def test_a_quick_solve_does_not_replace_an_unfinished_whole_one(folder, tmp_path):
    good(
        "solve",
        folder / "job.toml",
        "--set",
        "solve.max_sweeps=2",
        "--set",
        "solve.target=0.01%",
        "--out",
        tmp_path / "w",
    )
    with open_store(tmp_path / "w", read_only=True) as store:
        assert saved_sweeps(store) == 2
    assert good_json("solve", folder / "job.toml", "--quick", "--out", tmp_path / "w")["sweeps"] == 2


def test_an_interrupted_quick_solve_saves_its_flop(tmp_path):
    stop = threading.Event()
    with Session(quick("1000 s"), tmp_path / "out") as session:
        result = session.solve(lambda event: stop.set() if isinstance(event, Advanced) else None, stop)
    assert result.interrupted
    assert result.sweeps
    with Solution.open(tmp_path / "out") as solution:
        assert solution.node().frequencies.shape[0] == 3
    with Session(quick("1000 s", max_sweeps=20), tmp_path / "out") as session:
        assert session.solve().sweeps == 20


def test_a_whole_solve_that_is_interrupted_early_leaves_the_quick_answer(folder, tmp_path):
    place = tmp_path / "out"
    good("solve", folder / "job.toml", "--quick", "--set", "solve.max_sweeps=8", "--out", place)
    before, stop = good_json("show", place), threading.Event()
    with Session(parsed_job(FLOP).replace(target="0.001%"), place) as session:
        result = session.solve(lambda event: stop.set() if isinstance(event, Advanced) else None, stop)
        assert result.interrupted
        assert result.exploitability > 0.02 * 20  # 2 % of the pot
        assert session.saved == 8
    assert good_json("show", place) == before
    again = good_json("solve", folder / "job.toml", "--quick", "--set", "solve.max_sweeps=8", "--out", place)
    assert again["sweeps"] == 8
    assert "of a quick solve" in good("show", place)


def test_a_save_of_the_whole_game_replaces_the_quick_answer_at_once(folder, tmp_path, monkeypatch):
    place, seen = tmp_path / "out", []
    good("solve", folder / "job.toml", "--quick", "--set", "solve.max_sweeps=8", "--out", place)
    before = good_json("show", place)
    monkeypatch.setattr(live, "AT_ONCE", 0)
    monkeypatch.setattr(live, "BOARDS_AT_ONCE", 8)
    with Session(parsed_job(FLOP).replace(max_sweeps=200), place) as session:
        kind = type(session.store)
        transact = kind.transact

        def spied(store, write):
            if quick_seconds(store) is not None:
                solution = Solution(session.job, store)
                seen.append((solution.progress, solution.node().to_json()["hands"]))
            return transact(store, write)

        monkeypatch.setattr(kind, "transact", spied)
        session.solve()
    assert len(seen) > 20
    assert all(each == ("8 sweeps of a quick solve", before["hands"]) for each in seen)
    assert good_json("show", place)["hands"] != before["hands"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"spot.board": "Qs 7s 2s 5h 9d"}, "river is solved exactly"),
        ({"rows.flop": 10}, "row per hand"),
        ({"method": "lp"}, "row per hand"),
        ({"lock": [{"line": "x x x", "board": "Qs 7s 2s 5h", "strategy": {"x": 1.0}}]}, "first round only"),
        ({"quick": "soon"}, "quick"),
    ],
)
def test_jobs_without_a_quick_solve_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        quick(**{}).replace(changes)


def test_the_command_refuses_a_river(tmp_path):
    file = write(tmp_path, FLOP.replace("Qs 7s 2s", "Qs 7s 2s 5h 9d"))
    assert "river is solved exactly" in refused("solve", file, "--quick")
