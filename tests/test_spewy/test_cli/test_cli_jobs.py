"""Job files before a solve: ``spewy new`` writes jobs, ``spewy examples`` lists and copies the shipped ones."""

import re

import pytest
from cli_runs import good, refused, spewy

from buckets.abstraction import flop_subset
from spewy import Job
from spewy.batch.batch import Batch
from spewy.job.shipped import FOLDER, preset, presets
from spewy.job.texts import parse_memory
from spewy.run.walked_plan import WalkedPlan

FLOP = "Ks 7h 2d"


def written(folder, *args):
    file = folder / "job.toml"
    good("new", file, *args)
    return file


@pytest.mark.parametrize("name", presets())
def test_every_preset_writes_a_job_that_is_right(tmp_path, name):
    job = Job.load(written(tmp_path, "--preset", name, "--board", "Ks 7h 2d 5c 9s"))
    known = preset(name)
    assert (job.unit, job.spot.pot, job.spot.stack) == ("bb", known.pot, known.stack)
    depth = re.match(r"hu-(\d+)bb-|", name)[1] or 100
    assert known.pot / 2 + known.stack == pytest.approx(int(depth), abs=0.75)  # the blinds aside
    assert all(10 < each.combos < 1200 for each in job.ranges)


@pytest.mark.parametrize("name", ["srp-sb-bb", "hu-srp", "3bet-btn-bb", "4bet-co-btn"])
@pytest.mark.slow
def test_the_largest_presets_fit_into_their_memory_on_a_flop(tmp_path, name):
    job = Job.load(written(tmp_path, "--preset", name, "--board", FLOP))
    assert WalkedPlan.counted(job, streaming=False).cost.memory_bytes < parse_memory(job.solve.memory)


def test_the_list_has_all_presets():
    text = good("new", "--list")
    assert [line.split()[0] for line in text.splitlines()] == list(presets())


def test_without_a_file_the_job_goes_to_stdout_and_what_it_takes_to_stderr(tmp_path):
    result = spewy("new", "--preset", "4bet-btn-bb", "--board", "Ks 7h 2d 5c")
    assert result.exit_code == 0
    (tmp_path / "job.toml").write_text(result.stdout)
    assert Job.load(tmp_path / "job.toml").name == "4bet-btn-bb-Ks7h2d5c"
    assert " of memory and " in result.stderr


def test_a_range_is_read_from_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bb.txt").write_text("# the big blind calls\n22+, A2s+\n[50]KTo[/50]  # sometimes\n")
    own = ("--pot", "20", "--stack", "90", "--board", FLOP)
    from_file = Job.load(written(tmp_path, *own, "--oop", "@bb.txt", "--ip", "TT+"))
    typed = Job.load(written(tmp_path, *own, "--oop", "22+, A2s+,[50]KTo[/50]", "--ip", "TT+", "--force"))
    assert from_file.spot == typed.spot
    (tmp_path / "odd.txt").write_text("22+\nQX\n")
    line = refused("new", *own, "--oop", "@odd.txt", "--ip", "TT+")
    assert line.startswith("Error: --oop: file odd.txt: range, line 2, position 0: expected a group")
    line = refused("new", *own, "--oop", "TT+", "--ip", "@none.txt")
    assert line.startswith("Error: --ip: file none.txt: ")


def test_a_board_is_drawn_by_a_seed():
    args = ("new", "--preset", "hu-4bet", "--cards", "5", "--seed")
    assert good(*args, "3") == good(*args, "3")
    assert good(*args, "3") != good(*args, "4")
    assert "# drawn by --seed 3 --cards 5" in good(*args, "3")


def test_a_job_from_answers_alone(tmp_path):
    answers = ["--pot", "20.5", "--stack", "90", "--oop", 'AA # """ or \\ "aces"', "--ip", "top 15%"]
    job = Job.load(written(tmp_path, *answers, "--board", "Ks 7h 2d 5c 9s", "--name", 'my "own"'))
    assert (job.spot.pot, job.spot.stack, job.name) == (20.5, 90, 'my "own"')
    assert (job.spot.oop, job.spot.ip) == ('AA # """ or \\ "aces"\n', "top 15%\n")


def test_a_subset_of_flops_is_a_batch_that_keeps_little(tmp_path):
    file = written(tmp_path, "--preset", "srp-utg-bb", "--subset", 3)
    batch = Batch.load([file], out=tmp_path / "out")
    assert [entry.board for entry in batch.entries] == list(flop_subset(3).named())
    assert {entry.job.name for entry in batch.entries} == {"srp-utg-bb"}
    assert {(entry.job.save.rounds, entry.job.solve.workers) for entry in batch.entries} == {("flop", 1)}


def test_sizes_are_those_of_every_round(tmp_path):
    args = ("--preset", "srp-utg-bb", "--board", FLOP, "--bet", "50%, a", "--raise", "3x")
    bets = Job.load(written(tmp_path, *args)).bets
    for each in (bets["flop"], bets["turn"], bets["river"]):
        assert (each.bet, each.raise_) == ("50%, a", "3x")
    assert bets["flop"].oop.bet == ""  # who called still checks to who raised


def test_rounds_and_players_have_sizes_of_their_own(tmp_path):
    known = ("--preset", "srp-utg-bb", "--board", FLOP, "--oop", "AA,QQ", "--pot", "50")
    sizes = ("--bet", "50%", "--turn-bet", "66%, a", "--river-raise", "a", "--river-donk", "33%")
    keys = ("--set", "bets.flop.oop.bet=25%", "--set", "solve.memory=1 GiB")
    job = Job.load(written(tmp_path, *known, *sizes, *keys))
    assert (job.spot.oop, job.spot.pot) == ("AA,QQ\n", 50)
    assert [job.bets[name].bet for name in ("flop", "turn", "river")] == ["50%", "66%, a", "50%"]
    assert [job.bets[name].raise_ for name in ("flop", "turn", "river")] == ["60%", "60%", "a"]
    assert [job.bets[name].donk for name in ("flop", "turn", "river")] == [None, "", "33%"]
    assert (job.bets["flop"].oop.bet, job.solve.memory) == ("25%", "1 GiB")


def test_a_file_is_kept_unless_forced(tmp_path):
    args = ("--preset", "hu-4bet", "--board", "Ks 7h 2d 5c 9s")
    file = written(tmp_path, *args)
    assert "exists; give another name, or --force to overwrite the file" in refused("new", file, *args)
    good("new", file, *args, "--force")
    assert [path.name for path in tmp_path.iterdir()] == ["job.toml"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--preset", "srp-btnbb"), "found 'srp-btnbb', nearest to srp-btn-bb"),
        ((), "give --preset NAME (spewy new --list lists the presets), or --pot, --stack, --oop and --ip"),
        (("--preset", "hu-3bet", "--board", "Ks 7h"), "--board: expected three to five cards, found 2"),
        (("--preset", "hu-3bet", "--board", "Ks Zh 2d"), "--board: "),
        (("--preset", "hu-3bet", "--board", FLOP, "--seed", "1"), "--seed draws a random one; remove one"),
        (("--preset", "hu-3bet", "--subset", 5, "--seed", 1), "--subset chooses the boards itself; remove"),
        (("--preset", "hu-3bet", "--subset", 1756), "expected { subset = N } with N from 1 to 1,755, found"),
        (
            ("--preset", "hu-3bet", "--cards", 4, "--seed", 1, "--flop-bet", "33%"),
            "--flop-bet has no effect on a board of 4 cards; remove it",
        ),
        (("--preset", "hu-3bet", "--board", FLOP, "--turn-raise", "33"), '("33%" is 33 % of the pot)'),
        (
            ("--preset", "hu-3bet", "--board", FLOP, "--bet", "6x"),
            "bets.flop.bet, position 0: expected a bet",
        ),
        (("--preset", "hu-3bet", "--oop", "AX"), "--oop: range, position 0: expected a group such as"),
        (("--preset", "hu-3bet", "--pot", "nan"), "spot.pot: expected a number greater than 0, found nan"),
        (("--preset", "hu-3bet", "--pot", "5.555"), "spot.pot: expected a multiple of 0.01 bb"),
    ],
)
def test_what_is_no_answer(tmp_path, args, message):
    assert message in refused("new", tmp_path / "job.toml", *args)
    assert not list(tmp_path.iterdir())


def test_a_terminal_is_asked(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from spewy.cli import main

    file = tmp_path / "job.toml"
    monkeypatch.setattr("spewy.cli.jobs._asks", lambda: True)
    result = CliRunner().invoke(main, ["new"], input=f"hu-4bet\nKs 7h 2d 5c 9s\n{file}\n")
    assert result.exit_code == 0, result.output
    assert Job.load(file).name == "hu-4bet-Ks7h2d5c9s"
    result = CliRunner().invoke(main, ["new"], input="")  # as Ctrl-C at a prompt
    assert result.exit_code == 130


def test_examples_are_listed_with_what_they_are():
    text = good("examples")
    assert "T1.toml" in text
    assert "A turn spot, a row per hand: exact." in text
    files = [file for file in FOLDER.rglob("*") if file.is_file() and file.name != "values.json"]
    assert len(text.splitlines()) == len(files)


def test_copied_examples_are_those_of_the_package(tmp_path):
    good("examples", tmp_path / "mine")
    assert (tmp_path / "mine" / "T1.toml").read_text() == (FOLDER / "T1.toml").read_text()
    assert Job.load(tmp_path / "mine" / "upac-ladder" / "06bb.toml").name
    good("examples", tmp_path / "mine")  # a second time changes nothing


def test_a_missing_example_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = refused("solve", "examples/T1.toml")
    assert line == "Error: job examples/T1.toml does not exist; `spewy examples examples` copies it there"
    assert "expected a readable text file" in refused("solve", "examples/none.toml")
    good("examples", "examples")
    good("tree", "examples/T1.toml")


def test_own_files_are_kept(tmp_path):
    (tmp_path / "T1.toml").write_text("# mine")
    assert "T1.toml exists and differs from the example" in refused("examples", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["T1.toml"]
    assert "found a file" in refused("examples", tmp_path / "T1.toml")
