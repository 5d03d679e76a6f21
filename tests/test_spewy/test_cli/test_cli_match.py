"""``spewy match`` and ``spewy review``."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cli_runs import LEDUC, good, good_json, refused, spewy, write
from stand_ins import fail

from solvers.reference.cfr import Cfr
from spewy.bot.agent import LockerBot
from spewy.bot.resolving import subgame
from spewy.cli.progress import counting
from spewy.errors import SolveError
from spewy.match.connection import Listener
from spewy.match.match import run_match


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leduc")
    good("solve", write(folder, LEDUC), "--out", folder / "leduc")
    return folder / "leduc"


@pytest.fixture(scope="module")
def played(tmp_path_factory, leduc):
    folder = tmp_path_factory.mktemp("match") / "logs"
    arguments = ("match", leduc, "random", "--hands", 40, "--seeds", "1-2", "--out", folder, "--workers", 1)
    return arguments, folder, good(*arguments)


def test_a_match_is_told(played):
    text = played[2]
    assert "leduc against random" in text
    assert "4 runs of 40 hands" in text
    assert all(f"\n{name} " in text for name in ("plain", "duplicate", "AIVAT", "AIVAT, duplicate"))


def test_a_match_that_is_whole_is_told_again(played):
    found = good_json(*played[0])
    assert (found["bots"], found["game"]) == (["leduc", "random"], "leduc")
    assert (found["hands"], found["seeds"], found["complete"], found["faults"]) == (40, [1, 2], True, [0, 0])
    assert found["score"]["plain"]["n"] == 160
    assert found["score"]["duplicate"]["n"] == 80
    assert found["score"]["aivat"]["mean"] > 0


def test_bots_that_tell_no_strategy_keep_their_luck():
    found = good_json("match", "call", "raise", "--game", "leduc", "--hands", 5)
    assert found["score"]["aivat"] is None


# Decisions by source, and failures


def counted(leduc, *more):
    """Arguments of a match with a bot that re-solves its last round."""
    return "match", leduc, "random", "--hands", 10, "--resolve", "always", "--workers", 1, *more


def failing(monkeypatch, error):
    monkeypatch.setattr(subgame, "resolve", lambda *args: fail(error))


def counts(match):
    return [
        (bot["sources"], bot["failures"], [(each["round"], each["n"]) for each in bot["spent"]])
        for bot in match["decisions"]
    ]


def test_what_decisions_come_from_is_counted(leduc, tmp_path):
    match = counted(leduc, "--out", tmp_path)  # the second time its logs tell all
    bots = good_json(*match)["decisions"]
    assert bots[1] == {"sources": {}, "failures": {}, "spent": []}
    first, second = bots[0]["spent"]
    assert (first["round"], first["solved"], first["stages"]) == ("preflop", 0, {})
    assert (second["round"], list(second["stages"])) == ("flop", ["read", "lay", "iterate", "judge"])
    assert first["n"] + second["n"] == sum(bots[0]["sources"].values()) > second["solved"] > 5
    assert second["seconds"]["p99"] >= second["seconds"]["median"] > 0 < second["stages"]["iterate"]["mean"]
    sources = bots[0]["sources"]
    assert list(sources) == ["stored", "re-solved", "translated", "fallback"]
    assert min(sources["stored"], sources["re-solved"]) > 0
    assert (sources["translated"], sources["fallback"], bots[0]["failures"]) == (0, 0, {})
    told = f"decisions of leduc  {sources['stored']} stored, {sources['re-solved']} re-solved"
    assert told in good(*match)


@pytest.mark.parametrize("error", [SolveError("no such luck"), MemoryError("none left")])
def test_re_solves_that_fail_are_counted_and_told(leduc, monkeypatch, error):
    failing(monkeypatch, error)
    found, name = good_json(*counted(leduc))["decisions"][0], type(error).__name__
    assert found["sources"]["re-solved"] == 0
    assert found["sources"]["stored"] > found["failures"][name] > 5
    assert list(found["failures"]) == [name]
    result = spewy(*counted(leduc))
    assert f"failed of leduc     {found['failures'][name]} {name}\n" in result.stdout
    assert f"leduc, failed: seed-1.log, hand 0: line 'rrc/': {error} ({name})\n" in result.stderr
    assert f"leduc, failed: {found['failures'][name] - 5} more failures\n" in result.stderr


def test_a_result_that_is_not_finite_is_a_re_solve_that_failed(leduc, monkeypatch):
    values = Cfr.best_values
    monkeypatch.setattr(Cfr, "best_values", lambda self, player: values(self, player) * float("nan"))
    found = good_json(*counted(leduc))["decisions"][0]
    assert (found["sources"]["re-solved"], list(found["failures"])) == (0, ["SolveError"])


def test_a_match_that_goes_on_has_the_whole_count(leduc, monkeypatch, tmp_path):
    failing(monkeypatch, SolveError("no such luck"))
    before = counts(good_json(*counted(leduc)))
    good(*counted(leduc, "--out", tmp_path))
    for log in tmp_path.glob("*.log"):
        whole = log.read_text().splitlines(keepends=True)
        log.write_text("".join(whole[: len(whole) // 2]))
    after = good_json(*counted(leduc, "--out", tmp_path))
    assert (after["complete"], counts(after)) == (True, before)
    log = tmp_path / "seed-1.log"
    text = log.read_text()
    sources = "SOURCE TIMES, ... with each source once"
    spent = "ROUND SECONDS, ... with each stage once"
    for kind, wrong, wanted in (
        ("sources", "0:guessed 3", sources),
        ("sources", "0:stored 3, ", sources),
        ("sources", "0:stored 3, stored 4", sources),
        ("failure", "2:SolveError: x", "REASON: WHAT"),
        ("spent", "0:1 0.1, ", spent),
        ("spent", "0:1 0.1 read 1 read 2", spent),
        ("spent", "2:1 0.1", spent),
    ):
        log.write_text(text.replace("\n# sources", f"\n# {kind} 0:{wrong}\n# sources", 1))
        assert f"expected # {kind} HAND:PLAYER:{wanted}, found" in refused(*counted(leduc, "--out", tmp_path))


def test_an_error_of_the_program_ends_the_match(leduc, monkeypatch):
    failing(monkeypatch, TypeError("a bug"))
    result = spewy(*counted(leduc))
    assert result.exit_code == 1
    assert "leduc, strategy: expected an answer, found TypeError: a bug" in result.stderr
    assert not result.stdout


def test_bad_words():
    game = ("--game", "leduc")
    assert "bot 'nobody': expected one of random" in refused("match", "nobody", "call", *game)
    assert "no game is given" in refused("match", "call", "call")
    assert "--seeds: expected numbers" in refused("match", "call", "call", *game, "--seeds", "x")
    assert "LBR setting" in refused("match", "lbr:x", "call", *game)
    assert "both bots are tcp:7001; give each bot a port" in refused("match", "tcp:7001", "tcp:7001", *game)


def test_nothing_is_played_that_cannot_be_written(tmp_path):
    call = ("match", "call", "call", "--game", "leduc", "--hands", 1)
    said = refused(*call, "--phh", tmp_path / "x.phhs", "--out", tmp_path / "logs")
    assert "the hand history format has no code for it" in said
    assert not (tmp_path / "logs").exists()
    (tmp_path / "file").write_text("")
    for folder in ("file", "file/logs"):
        said = refused(*call, "--out", tmp_path / folder)
        assert f"{folder}: expected a folder that is there or can be made" in said


def test_options_without_effect_are_told():
    call = ("match", "call", "raise", "--game", "leduc", "--hands", 1)
    told = spewy(*call, "--resolve", "always", "--time-per-hand", "2s").stderr
    assert "there is no effect of --resolve, --time-per-hand" in told
    assert "no effect" not in spewy(*call, "--resolve", "never").stderr


def test_who_is_waited_for_is_told():
    with Listener("127.0.0.1", (0,)) as doors:
        (port,) = doors.ports
    result = spewy("match", f"tcp:{port}", "call", "--game", "kuhn", "--hands", 1, "--seconds", 0.1)
    assert result.exit_code == 1
    first, *_, last = result.stderr.splitlines()
    place = f"127.0.0.1:{port}, once in each of 2 runs"
    assert first == f"tcp-{port}: waiting for a client of the ACPC's protocol at {place}"
    assert last == f"Error: tcp-{port} has not connected in time"


def test_no_time_at_all_is_refused(leduc):
    call = ("match", leduc, "call", "--hands", 1)
    for option in ("--seconds", "--budget"):
        assert f"Invalid value for '{option}': 0.0 is not in the range x>0" in refused(*call, option, 0)
    assert "'1s' is not a number of seconds, such as 0.5" in refused(*call, "--budget", "1s")
    for wrong in ("0s", "7", "-1 s", "nan s", "soon"):
        told = refused(*call, "--time-per-hand", wrong)
        assert f"'--time-per-hand': '{wrong}': expected a positive number and a unit" in told
    assert "is more than 1,000,000,000 seconds" in refused(*call, "--time-per-hand", "1000000 h")
    told = refused(*call, "--time-per-hand", "7s", "--budget", 1)
    assert "--budget and --time-per-hand: expected one of them, found both" in told


def test_hands_of_a_match_are_written_as_hand_histories(tmp_path):
    file = tmp_path / "hands.phhs"
    good("match", "call", "raise", "--game", "holdem.limit.2p.reverse_blinds", "--hands", 3, "--phh", file)
    assert file.read_text().count('variant = "FT"') == 6


def test_a_review(played, leduc):
    text = good("review", played[1] / "seed-1.log", "--lockers", leduc)
    assert "frequency" in text
    found = good_json("review", played[1] / "seed-1.log", "--lockers", leduc)
    mine, other = found["players"]["leduc"], found["players"]["random"]
    assert (mine["hands"], other["hands"]) == (40, 40)
    assert mine["won"] == -other["won"]
    assert other["cost"] > abs(mine["cost"])
    first = found["decisions"][0]
    assert first["frequency"] == first["frequencies"][first["actions"].index(first["action"])]
    alone = good_json("review", played[1] / "seed-1.log", "--lockers", leduc, "--player", "leduc")
    assert {each["name"] for each in alone["decisions"]} == {"leduc"}
    assert alone["players"]["leduc"] == mine


def test_hands_that_cannot_be_read_are_skipped_by_name(played, leduc, tmp_path):
    lines = (played[1] / "seed-1.log").read_text().splitlines()
    hands = [number for number, line in enumerate(lines) if line.startswith("STATE:")]
    lines[hands[3]] = lines[hands[3]].replace("STATE:3:", "STATE:3:x")
    (tmp_path / "a.log").write_text("\n".join(lines))
    found = good_json("review", tmp_path / "a.log", "--lockers", leduc)
    assert found["players"]["leduc"]["hands"] == 39
    assert [(each["number"], each["read"]) for each in found["skipped"]] == [(3, False)]
    told = spewy("review", tmp_path / "a.log", "--lockers", leduc).stderr
    assert f"1 hand not readable (3): line {hands[3] + 1}: log line: " in told
    error = refused("review", tmp_path / "a.log", "--lockers", leduc, "--tolerance", 5)
    assert "--tolerance has no effect with a whole game; remove it" in error


def test_who_only_reads_a_folder_solves_nothing(played, leduc, tmp_path, monkeypatch):
    monkeypatch.setattr(LockerBot, "warm_up", lambda bot: fail(AssertionError("a solve")))
    good("review", played[1] / "seed-1.log", "--lockers", leduc)
    good("package", "acpc", leduc, tmp_path / "new")


def test_reviews_of_what_is_no_log(played, leduc, tmp_path):
    assert "expected a readable text file" in refused("review", tmp_path / "x", "--lockers", leduc)
    (tmp_path / "x").write_text("STATE:0\n")
    assert "line 1: log line: expected STATE:" in refused("review", tmp_path / "x", "--lockers", leduc)
    for name in ("empty.log", "empty.phhs"):
        (tmp_path / name).write_text("# a match that was interrupted\n")
        assert f"{name} has no hands" in refused("review", tmp_path / name, "--lockers", leduc)
    (tmp_path / "x.phh").write_text("=")
    assert "expected TOML" in refused("review", tmp_path / "x.phh", "--lockers", leduc)
    log = played[1] / "seed-1.log"
    said = refused("review", log, "--lockers", leduc, "--player", "x")
    assert "player 'x' is in no hand; choose one of leduc, random" in said


def test_a_match_into_a_file_says_how_far_it_is(monkeypatch):
    """A match without a terminal prints lines in place of a bar, and nothing in its first seconds."""
    arguments = ("match", "call", "raise", "--game", "leduc", "--hands", 5, "--workers", 1)
    assert spewy(*arguments).stderr == ""
    monkeypatch.setattr("spewy.cli.progress.NowAndThen.SECONDS", 0.0)
    assert spewy(*arguments).stderr.startswith("0 of 10 hands\n")


def test_lines_become_rarer_and_forecast_by_the_pace_since_the_first(monkeypatch, capsys):
    clock = SimpleNamespace(now=0, monotonic=lambda: clock.now)
    monkeypatch.setattr("spewy.cli.progress.time", clock)
    with counting("hands") as watch:
        steps = ((1, 0), (4, 1), (6, 2), (7, 3), (12, 5), (1000, 50), (1040, 60), (1060, 70), (2000, 100))
        for clock.now, done in steps:
            watch(done, 100)
    assert capsys.readouterr().err.splitlines() == [
        "2 of 100 hands",
        "5 of 100 hands, about 3:10 min left",
        "50 of 100 hands, about 17:15 min left",
        "70 of 100 hands, about 7:45 min left",
        "100 of 100 hands",
    ]


def test_ctrl_c_tells_the_score_so_far(monkeypatch, tmp_path):
    def some(match, folder, watcher, workers):
        run_match(replace(match, seeds=match.seeds[:1]), folder, watcher, 1)
        raise KeyboardInterrupt

    monkeypatch.setattr("spewy.match.match.run_match", some)
    match = ("match", "call", "raise", "--game", "leduc", "--hands", 5)
    arguments = (*match, "--seeds", "1-3", "--out", tmp_path)
    result = spewy(*arguments, "--json")
    assert result.exit_code == 130
    found = json.loads(result.stdout)
    assert (found["complete"], found["score"]["plain"]["n"]) == (False, 10)
    assert "6 runs of 5 hands, 10 hands of them so far" in spewy(*arguments).stdout
    monkeypatch.undo()
    assert good_json(*arguments, "--workers", 1)["complete"]
