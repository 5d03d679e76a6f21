"""Several jobs or boards at once: each as if solved alone, once up to suits, skipped when done, never half lost."""

import json
import os
import signal
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_runs import KUHN, POLARISED, SOLVE_FIELDS, TURN, good, good_json, refused, spewy, write
from running import says, started

from lockers import open_store
from spewy.batch.batch import Batch, same_up_to_suits
from spewy.batch.solve_batch import JobChecked, processes, run_batch
from spewy.batch.work import estimate_job, job_text, solve_task
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.run.cost import memory_at_once
from spewy.run.folder_state import finished, look
from spewy.run.session import Session

LOCK = '[[lock]]\nline = ""\nhands = { AhAd = [0.5, 0.5] }\n[solve]'
BATCH_FIELDS = [*SOLVE_FIELDS, "board", "same_as", "folder", "skipped", "error"]

# Pairs and suited hands of every suit: any renaming of suits leaves them as they are.
BOARDS = (
    TURN.replace('board = "Qs 7h 2d 3c"', 'boards = ["Qs 7h 2d 3c", "Qh 7s 2d 3c", "Kh 9d 6s 2c"]')
    .replace("AhAd,KdQd,JcTc", "AA,KQs,JTs")
    .replace("KhKc,8s7s", "KK,87s")
    .replace('"turn"', '"turns"')
)
# In double precision: the generic engine takes long enough to be interrupted.
LONG = [
    text
    for option in ("target=0%", "max_sweeps=400", "check_every=20", "precision=double")
    for text in ("--set", f"solve.{option}")
]


def one_board(board, text=BOARDS):
    start, end = text.index("boards = "), text.index("\npot")
    return text[:start] + f'board = "{board}"' + text[end:]


def of(board, text=BOARDS):
    return Job.of(tomllib.loads(one_board(board, text)))


def rename(text, old, new):
    return text.replace(f'name = "{old}"', f'name = "{new}"')


def untimed(found):
    """What two runs of a job have in common."""
    out = {
        key: value
        for key, value in found.items()
        if key in SOLVE_FIELDS and key not in ("seconds", "peak_rss_mib", "process_mib")
    }
    return out | {"trace": [(sweep, value) for sweep, _, value in found["trace"]]}


def test_several_jobs(tmp_path):
    """Two processes, three jobs: each as if solved alone, in the order of the input; then all are skipped."""
    files = [
        write(tmp_path, text, f"{name}.toml")
        for name, text in (("turn", TURN), ("polarised", POLARISED), ("kuhn", KUHN))
    ]
    args = ["solve", *files, "--out", tmp_path / "all"]
    first = spewy(*args, "--jobs", 2, "--json")
    assert first.exit_code == 0, first.output
    found = json.loads(first.stdout)
    assert [one["name"] for one in found] == ["turn", "polarised", "Kuhn"]
    assert [one["board"] for one in found] == ["Qs7h2d3c", "Ks9d6h3c2s", None]
    assert "batch of 3 jobs: 3 to solve, 2 at once" in first.stderr
    assert "available" in first.stderr
    for one, file in zip(found, files, strict=True):
        assert list(one) == BATCH_FIELDS
        assert one["folder"] == str(tmp_path / "all" / one["name"])
        assert (one["converged"], one["skipped"], one["same_as"], one["error"]) == (True, False, None, None)
        alone = good_json("solve", file, "--out", tmp_path / "alone" / one["name"])
        assert list(alone) == SOLVE_FIELDS
        assert untimed(one) == untimed(alone)

    again = spewy(*args, "--json")
    assert "3 done before, 0 to solve" in again.stderr
    assert "sweep" not in again.stderr
    assert json.loads(again.stdout) == [one | {"skipped": True} for one in found]

    text = good(*args)
    lines = text.splitlines()
    header = "name board converged sweeps exploitability EV oop EV ip value time note"
    assert " ".join(lines[0].split()) == header
    assert [line.split()[0] for line in lines[1:]] == ["turn", "polarised", "Kuhn"]
    assert all(line.endswith("done before") for line in lines[1:])


def test_boards(tmp_path):
    """Three boards, two of them one game: two solves, three answers; each folder is that of the job with its board."""
    job = write(tmp_path, BOARDS.replace("0.5%", "0.02%"))
    result = spewy("solve", job, "--out", tmp_path / "out", "--jobs", 1, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [one["board"] for one in found] == ["Qs7h2d3c", "Qh7s2d3c", "Kh9d6s2c"]
    assert [one["same_as"] for one in found] == [None, "Qs7h2d3c", None]
    assert [Path(one["folder"]).name for one in found] == ["Qs7h2d3c", "Qs7h2d3c", "Kh9d6s2c"]
    assert {one["name"] for one in found} == {"turns"}
    assert untimed(found[0]) == untimed(found[1]) != untimed(found[2])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["Kh9d6s2c", "Qs7h2d3c"]
    assert "1 the same as another up to suits, 2 to solve" in result.stderr
    assert "same as Qs7h2d3c up to suits" in good("solve", job, "--out", tmp_path / "out")

    mirrored = write(tmp_path, one_board("Qh 7s 2d 3c").replace("0.5%", "0.02%"), "one.toml")
    alone = good_json("solve", mirrored, "--out", tmp_path / "mirrored")
    assert alone["ev"] == pytest.approx(
        found[1]["ev"], abs=4 * 0.02
    )  # each is within 2 · 0.02 chips of the truth
    assert alone["equity"] == pytest.approx(found[1]["equity"], abs=1e-12)

    own = write(tmp_path, one_board("Kh 9d 6s 2c"), "own.toml")
    manifest = Job.load(own).manifest()
    with open_store(tmp_path / "out" / "Kh9d6s2c", read_only=True) as store:
        assert dict(store.manifest) == manifest
    again = good_json("solve", own, "--out", tmp_path / "out" / "Kh9d6s2c")
    assert again["sweeps"] == found[2]["sweeps"]


def test_another_order_finds_the_same_folders(tmp_path):
    """The board that was solved stays the one that is solved, whichever is named first later."""
    good("solve", write(tmp_path, BOARDS), "--out", tmp_path / "out", "--jobs", 1)
    turned = BOARDS.replace('"Qs 7h 2d 3c", "Qh 7s 2d 3c"', '"7s Qh 2d 3c", "Qh 7s 2d 3c", "Qs 7h 2d 3c"')
    found = good_json("solve", write(tmp_path, turned), "--out", tmp_path / "out")
    assert [one["same_as"] for one in found] == ["Qs7h2d3c", "Qs7h2d3c", None, None]
    assert all(one["skipped"] for one in found)


def test_default_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    boards, kuhn = write(tmp_path, BOARDS, "b.toml"), write(tmp_path, KUHN, "k.toml")
    entries = Batch.load([boards]).entries
    assert [entry.folder.as_posix() for entry in entries][::2] == [
        "results/turns/Qs7h2d3c",
        "results/turns/Kh9d6s2c",
    ]
    both = Batch.load([boards, kuhn], out=Path("all")).entries
    assert [entry.folder.as_posix() for entry in both][2:] == ["all/turns/Kh9d6s2c", "all/Kuhn"]
    assert [entry.same_as for entry in Batch.load([kuhn, boards]).entries] == [None, None, 1, None]


def test_one_board_in_a_list_is_a_batch(tmp_path):
    text = one_board("x").replace('board = "x"', 'boards = ["Qs 7h 2d 3c"]')
    found = good_json(
        "solve", write(tmp_path, text), "--out", tmp_path / "out", "--set", "solve.max_sweeps=1"
    )
    assert [one["board"] for one in found] == ["Qs7h2d3c"]


@pytest.mark.parametrize(
    ("a", "b", "change", "same"),
    [
        ("Qs 7h 2d 3c", "Qh 7s 2d 3c", ("", ""), True),
        ("Qs 7h 2d 3c", "2d Qs 7h 3c", ("", ""), True),
        ("Qs 7h 2d 3c", "Qs 7h 3c 2d", ("", ""), False),
        ("Qs 7h 2d 3c", "Qs 7s 2d 3c", ("", ""), False),
        ("Qs 7h 2d 3c", "Qh 7s 2d 3c", ("AA,KQs", "AA,KsQs"), False),
        ("Qs 7h 2d 3c", "Qh 7s 2d 3c", ("AA,KQs", "AA,KdQd"), True),
        ("Qs 7h 2d 3c", "Qh 7s 2d 3c", ("AA,KQs", "AA,KQs,Qs7s:0.5,Qh7h:0.4"), True),  # dead on both
        ("Qs 7h 2d 3c", "Qh 7s 2d 3c", ("AA,KQs", "AA,KJs,KsJs:0.5,KhJh:0.4"), False),
        ("Qs 7h 2d 3c", "Qh 7s 2d 3c", ("[solve]", "[solve]\nsymmetry = false"), False),
        ("Qs 7h 2d 3c", "7h Qs 2d 3c", ("[solve]", "[solve]\nsymmetry = false"), True),
        ("Qs 7h 2d 3c", "Qh 7s 2d 3c", ("[solve]", LOCK), False),  # a lock may name hands
        ("Qs 7h 2d 3c", "7h Qs 2d 3c", ("[solve]", LOCK), True),
    ],
)
def test_same_up_to_suits(a, b, change, same):
    text = BOARDS.replace(*change)
    assert same_up_to_suits(of(a, text), of(b, text)) is same
    assert same_up_to_suits(of(b, text), of(a, text)) is same


def test_another_target(tmp_path):
    """A lower target goes on; a higher one is reached already, and nothing is solved for it."""
    args = ["solve", write(tmp_path, BOARDS), "--out", tmp_path / "out", "--jobs", 1]
    first = good_json(*args)
    lower = good_json(*args, "--set", "solve.target=0.1%")
    assert [one["skipped"] for one in lower] == [False] * 3
    assert all(after["sweeps"] > before["sweeps"] for before, after in zip(first, lower, strict=True))
    higher = good_json(*args, "--set", "solve.target=1%")
    assert [one["skipped"] for one in higher] == [True] * 3
    assert [untimed(one) for one in higher] == [untimed(one) for one in lower]
    fewer = good_json(*args, "--set", "solve.target=0%", "--set", "solve.max_sweeps=1")
    assert [(one["skipped"], one["converged"]) for one in fewer] == [(True, False)] * 3


class StopAt:
    """Set after a number of questions."""

    def __init__(self, questions):
        self.left = questions

    def is_set(self):
        self.left -= 1
        return self.left < 0


def test_a_result_lasts_until_the_next_sweep(tmp_path):
    double = "solve.precision=double"
    job = Job.load(write(tmp_path, TURN), ["solve.max_sweeps=10", "solve.target=0%", double])
    assert look(job, tmp_path / "out").sweeps == 0

    def solve(job, **options):
        session = Session(job, tmp_path / "out", save_every=3600)  # which asks at every check whether to stop
        try:
            return session.solve(**options)
        finally:
            session.close()

    result = solve(job)
    stored = look(job, tmp_path / "out")
    assert finished(job, stored) == stored.result == result
    further = Job.load(tmp_path / "job.toml", ["solve.max_sweeps=1000", "solve.target=0%", double])
    assert finished(further, stored) is None
    assert solve(further, stop=StopAt(9)).interrupted
    after = look(job, tmp_path / "out")
    assert after.sweeps > 10
    assert after.result is None
    measured = solve(job)
    assert measured.sweeps == after.sweeps
    assert finished(job, look(job, tmp_path / "out")) == measured


FOUR = BOARDS.replace('"Kh 9d 6s 2c"]', '"Kh 9d 6s 2c", "Kh 9d 6s 2d"]')


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    return good_json("solve", write(folder, FOUR), "--out", folder / "out", *LONG, "--jobs", 1)


@pytest.mark.parametrize(
    "group", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["terminal", "kill"]
)
def test_interrupt_and_go_on(group, uninterrupted, tmp_path):
    """Ctrl-C from a terminal, which workers get too, or a signal to the parent alone."""
    args = ["solve", write(tmp_path, FOUR), "--out", tmp_path / "out", *LONG, "--json"]
    with started(*args, "--jobs", "2") as running:
        assert says(running, ": sweep ")
        (os.killpg if group else os.kill)(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "the same command continues" in err
    assert "Traceback" not in err
    assert "Warning" not in err
    stopped = json.loads(out)
    assert [one["interrupted"] for one in stopped] == [True] * 4
    assert stopped[0]["sweeps"] > 0
    assert (stopped[3]["sweeps"], stopped[3]["exploitability"]) == (0, None)  # was not reached
    resumed = good_json(*args, "--jobs", 1)
    assert [one["sweeps"] for one in resumed] == [400] * 4
    for mine, theirs in zip(resumed, uninterrupted, strict=True):
        assert mine["exploitability"] == pytest.approx(theirs["exploitability"], rel=1e-12)
        assert mine["ev"] == pytest.approx(theirs["ev"], rel=1e-12)


def test_one_fails(tmp_path, monkeypatch):
    """The others finish; the one that failed is named with its error; the exit code is 1."""
    solve = Session.solve

    def breaks(self, listener=None, stop=None):
        if self.job.name == "two":
            raise ZeroDivisionError("oh")
        return solve(self, listener, stop)

    monkeypatch.setattr(Session, "solve", breaks)
    files = [write(tmp_path, rename(KUHN, "Kuhn", name), f"{name}.toml") for name in ("one", "two", "three")]
    result = spewy("solve", *files, "--out", tmp_path / "out", "--jobs", 1, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert [one["converged"] for one in found] == [True, False, True]
    assert list(found[1]) == BATCH_FIELDS
    assert found[1]["error"] == "unexpected ZeroDivisionError: oh"
    assert (found[1]["interrupted"], found[1]["sweeps"], found[1]["exploitability"]) == (False, 0, None)
    assert result.stderr.splitlines()[-1] == "Error: two: unexpected ZeroDivisionError: oh"
    again = spewy("solve", *files, "--out", tmp_path / "out", "--jobs", 1)
    assert again.exit_code == 1
    assert "2 done before, 1 to solve" in again.stderr


class Killer:
    """Kills every worker as soon as one job is heard of."""

    def __init__(self, number):
        self.number = number

    def __call__(self, event):
        if isinstance(event, JobChecked) and event.number == self.number:
            for task in Path("/proc/self/task").iterdir():
                for child in (task / "children").read_text().split():
                    if "joblib.externals.loky.backend.popen" in Path(f"/proc/{child}/cmdline").read_text():
                        os.kill(int(child), signal.SIGKILL)


@pytest.mark.slow
def test_a_process_dies(tmp_path):
    """The jobs that run beside the one that always dies are submitted again, and done."""
    files = [write(tmp_path, rename(TURN, "turn", name), f"{name}.toml") for name in ("good", "bad", "last")]
    batch = Batch.load(files, [option for option in LONG if option != "--set"], tmp_path / "out")
    outcomes = run_batch(batch, Killer(1), 2)
    assert [outcome.done for outcome in outcomes] == [True, False, True]
    assert "the worker process of this job was ended by SIGKILL" in outcomes[1].error


@pytest.mark.parametrize("heard", [False, True])
def test_a_job_to_be_solved_again_is_until_an_attempt_has_begun_to_save(tmp_path, heard):
    job, folder = Job.load(write(tmp_path, KUHN)), tmp_path / "out"
    good("solve", tmp_path / "job.toml", "--out", folder)
    parent = SimpleNamespace(heard=heard, tell=lambda news: None, is_set=lambda: False)
    outcome = solve_task(parent, job_text(job), folder, None, True, estimate_job(job, ""))
    assert outcome.skipped is heard  # what the folder holds is what the attempt before has saved


def test_processes(tmp_path, monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    batch = Batch.load([write(tmp_path, BOARDS)], (), tmp_path / "out")
    assert processes(batch) == 2  # no more than there are to solve
    assert processes(batch, 1) == 1
    four = Batch.load([tmp_path / "job.toml"], ["solve.workers=8"], tmp_path / "out")
    assert processes(four) == 1
    assert processes(four, 2) == 2
    assert memory_at_once([1, 5, 3], 2) - memory_at_once([], 2) - (memory_at_once([0, 0], 2)) == 8


def test_memory_bounds_the_default(tmp_path, monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    monkeypatch.setattr("spewy.batch.solve_batch.available_memory", lambda: 2**20)
    result = spewy("solve", write(tmp_path, BOARDS), "--out", tmp_path / "out", "--set", "solve.max_sweeps=1")
    assert result.exit_code == 0
    assert "2 to solve, 1 at once" in result.stderr
    assert "MORE THAN 1.0 MiB available" in result.stderr


LISTS = {
    "both": ('boards = ["Qs 7h 2d 3c"]\nboard = "Qs 7h 2d 3c"', "found both"),
    "empty": ("boards = []", "at least one board"),
    "text": ('boards = "Qs 7h 2d 3c"', "spot.boards"),
    "numbers": ("boards = [1, 2]", "spot.boards"),
    "a board that cannot be": ('boards = ["Qs 7h 2d 3c", "Qs 7h 2d Qs"]', "number 2"),
    "a board that ends no round": ('boards = ["Qs 7h"]', "number 1"),
    "a board that leaves a range empty": ('boards = ["Qs 7h 2d 3c", "Ah Ad 2d 3c"]', "number 2"),
    "neither": ("", "spot.board"),
}


@pytest.mark.parametrize("kind", LISTS)
def test_wrong_lists(kind, tmp_path):
    boards, named = LISTS[kind]
    text = TURN.replace('board = "Qs 7h 2d 3c"', boards).replace("AhAd,KdQd,JcTc", "AhAd")
    line = refused("solve", write(tmp_path, text), "--out", tmp_path / "out")
    assert named in line
    assert "job.toml" in line
    assert not (tmp_path / "out").exists()


def test_an_estimate_of_a_list_sums_up_its_boards(tmp_path):
    singles = {
        board.replace(" ", ""): good_json("estimate", write(tmp_path, one_board(board), "one.toml"))
        for board in ("Qs 7h 2d 3c", "Kh 9d 6s 2c")
    }
    job = write(tmp_path, BOARDS)
    found = good_json("estimate", job)
    for name in ("information_sets", "kept_bytes", "seconds_per_sweep"):
        assert found[name] == pytest.approx(sum(each[name] for each in singles.values()))
    assert found["same"] == {"Qh7s2d3c": "Qs7h2d3c"}
    assert {name: each["chunks"] for name, each in found["by_board"].items()} == {
        name: each["chunks"] for name, each in singles.items()
    }
    largest = max(each["memory_bytes"] for each in singles.values())
    assert found["memory_bytes"] > largest * found["at_once"] / 2
    assert (found["name"], found["fits"]) == ("turns", True)
    told = good("estimate", job)
    assert "boards            3, 1 the same as another up to suits" in told
    assert " for the largest, within the " in told
    assert " for 100 sweeps on one core" in told
    assert "kept" not in told
    assert "MORE THAN the 30 KiB allowed for each" in good("estimate", job, "--set", "solve.memory=30 KiB")
    assert "spot.boards" in refused("tree", job)  # a list where one is expected


def test_disk_is_that_of_rounds_that_are_dropped_too_while_they_are_solved(tmp_path):
    """Of boards that keep their first round alone those that are solved at once are whole."""
    job = write(tmp_path, BOARDS)
    everything = good_json("estimate", job)
    little = good_json("estimate", job, "--set", "save.rounds=turn")
    assert little["kept_bytes"] < little["disk_bytes"] <= everything["disk_bytes"]
    whole = [each["disk_bytes"] - each["kept_bytes"] for each in little["by_board"].values()]
    at_once = sorted(whole)[-little["at_once"] :]
    assert little["disk_bytes"] == little["kept_bytes"] + sum(at_once)


def test_wrong_among_several(tmp_path):
    """Whatever is wrong with one is told before any starts."""
    fine = write(tmp_path, KUHN, "fine.toml")
    args = ["--out", tmp_path / "out"]
    assert "nothing.toml" in refused("solve", fine, tmp_path / "nothing.toml", *args)
    bad = write(tmp_path, TURN.replace("Qs 7h 2d 3c", "Qs 7h"), "bad.toml")
    assert "bad.toml" in refused("solve", fine, bad, *args)
    greedy = write(tmp_path, TURN.replace("[solve]", '[solve]\nmemory = "10 KiB"'), "greedy.toml")
    line = refused("solve", fine, greedy, "--jobs", 1, *args)
    assert "turn: solve.memory" in line
    assert not (tmp_path / "out").exists()


def test_shared_folders(tmp_path):
    one = write(tmp_path, KUHN, "one.toml")
    two = write(tmp_path, rename(TURN, "turn", "Kuhn"), "two.toml")
    nested = write(tmp_path, rename(BOARDS, "turns", "Kuhn"), "nested.toml")
    for other, first, second in ((two, one, two), (nested, nested, one)):
        line = refused("solve", first, second, "--out", tmp_path / "out")
        assert "one.toml" in line
        assert other.name in line
    assert refused("solve", one, one)
    assert not (tmp_path / "out").exists()


def test_folders_of_something_else(tmp_path):
    job = write(tmp_path, KUHN, "kuhn.toml")
    good("solve", job, "--out", tmp_path / "out" / "turn")
    turn = write(tmp_path, TURN, "turn.toml")
    assert "another job" in refused("solve", turn, job, "--out", tmp_path / "out")
    (tmp_path / "out" / "Kuhn").mkdir()
    (tmp_path / "out" / "Kuhn" / "thesis.txt").touch()
    other = write(tmp_path, rename(TURN, "turn", "other"), "other.toml")
    assert "thesis.txt" in refused("solve", other, job, "--out", tmp_path / "out")
    (tmp_path / "out" / "other").touch()
    assert "found a file" in refused("solve", other, job, "--out", tmp_path / "out")
    with pytest.raises(InputError, match="at least one job"):
        Batch.load([])


def test_a_job_far_too_large_is_refused_before_processes_start(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "spewy.system.processes.LocalPool._submit", lambda *args: pytest.fail("a process was started")
    )
    small = write(tmp_path, TURN, "small.toml")
    large = write(tmp_path, 'name = "large"\n[game]\nfile = "holdem.limit.2p.reverse_blinds"\n', "large.toml")
    line = refused("solve", small, large, "--jobs", "2", "--out", tmp_path / "out")
    assert "large: solve.memory: this job needs at least" in line
    assert not (tmp_path / "out").exists()
