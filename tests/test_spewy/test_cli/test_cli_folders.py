"""Commands on folders that are not those of one whole solve: batches, and whole games with a part missing."""

import shutil

import pytest
from cli_runs import TURN, good, good_json, refused, spewy, write
from dealt_jobs import DEALT_LEDUC

import spewy as library


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batch")
    job = library.Job.load(write(folder, TURN)).replace(max_sweeps=5)
    library.solve_batch(job, ["Qs 7h 2d 3c", "Qs 7h 2d 4c"], folder / "out", jobs=1)
    return folder / "out"


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A whole game with board buckets: its job file and its folder."""
    folder = tmp_path_factory.mktemp("leduc")
    job = write(folder, DEALT_LEDUC)
    good("solve", job, "--out", folder / "out", "--set", "solve.max_sweeps=100")
    return job, folder / "out"


@pytest.fixture
def copied(batch, tmp_path):
    return shutil.copytree(batch, tmp_path / "batch")


@pytest.fixture
def whole(solved, tmp_path):
    return shutil.copytree(solved[1], tmp_path / "whole")


def test_every_board_of_a_batch_is_checked(copied):
    boards = sorted(path for path in copied.iterdir() if path.is_dir())
    assert good("check", copied) == "".join(f"{board}: healthy\n" for board in boards)
    (copied / "boards.csv").write_text("board,weight\nQs7h2d3c,1\nQs7h2d4c,1\nQs7h2d5c,1\n")
    done = spewy("check", copied)
    assert (done.exit_code, f"{copied}: not solved yet: Qs7h2d5c" in done.stderr) == (0, True)
    data = boards[1] / "lockers.mdb"
    data.write_bytes(data.read_bytes()[:8192])
    done = spewy("check", copied)
    assert (done.exit_code, str(boards[1]) in done.stdout) == (1, True)


def test_rounds_are_dropped_from_every_board_of_a_batch(copied):
    boards = sorted(path for path in copied.iterdir() if path.is_dir())
    dropped = good_json("drop", copied, "--round", "river")
    assert [each["folder"] for each in dropped] == list(map(str, boards))
    assert all(each["dropped"] == ["river"] for each in dropped)
    table = good("drop", copied, "--round", "river").splitlines()
    assert [line.split("  ")[0] for line in table] == [board.name for board in boards]
    assert all("river dropped, freed 0 B of" in line for line in table)


def test_work_that_needs_one_solve_names_the_solves_of_a_batch(batch, tmp_path):
    for command in (
        ("match", "call", batch),
        ("package", "acpc", batch, tmp_path / "package"),
        ("play", "acpc", "localhost", 1, "--lockers", batch),
    ):
        error = refused(*command)
        assert f"folder {batch} is a batch of several solves; give the folder of one solve: " in error
        assert f"{batch}/Qs7h2d3c, {batch}/Qs7h2d4c" in error


def test_a_strategy_locker_alone_is_checked(whole):
    for path in (*whole.glob("*.mdb"), whole / "manifest.json"):
        path.unlink()
    done = spewy("check", whole)
    assert done.exit_code == 0
    assert done.stdout == f"{whole}: healthy\n"
    assert f"{whole}: has only a strategy locker; a further solve would start from scratch" in done.stderr
    data = whole / "play" / "lockers.mdb"
    data.write_bytes(data.read_bytes()[:8192])
    assert spewy("check", whole).exit_code == 1


@pytest.mark.parametrize("store", [".", "play", "judged"])
def test_a_missing_manifest_is_found(whole, store):
    good("exploit", whole, "--workers", 1)
    (whole / store / "manifest.json").unlink()
    done = spewy("check", whole)
    assert done.exit_code == 1
    assert f"{whole / store}: expected manifest.json beside lockers.mdb, found none\n" in done.stdout
    assert "has only a strategy locker" not in done.stderr


def test_a_missing_manifest_of_a_board_is_found(copied):
    (copied / "Qs7h2d3c" / "manifest.json").unlink()
    finding = f"{copied}/Qs7h2d3c: expected manifest.json beside lockers.mdb, found none\n"
    for _ in ("both boards", "this board alone"):
        done = spewy("check", copied)
        assert (done.exit_code, done.stdout) == (1, finding)
        shutil.rmtree(copied / "Qs7h2d4c", ignore_errors=True)


def test_a_missing_strategy_locker_is_found_and_written_again(solved, whole):
    shutil.rmtree(whole / "play")
    done = spewy("check", whole)
    assert done.exit_code == 1
    assert f"{whole}: the strategy locker is missing" in done.stdout
    assert "the strategy locker is missing" in refused("drop", whole, "--regrets")
    good("solve", solved[0], "--out", whole, "--set", "solve.max_sweeps=100")
    assert good("check", whole) == f"{whole}: healthy\n"


@pytest.mark.parametrize("is_copy", [False, True], ids=["in its folder", "as a copy"])
def test_a_strategy_locker_alone_has_no_regrets_to_drop(whole, is_copy):
    for path in (*whole.glob("*.mdb"), whole / "manifest.json"):
        path.unlink()
    folder = whole / "play" if is_copy else whole
    error = refused("drop", folder, "--regrets")
    assert f"folder {folder} has only a strategy locker, and no rounds, regrets or strategy sums" in error


def test_a_drop_of_regrets_is_repeated_without_harm(whole):
    assert "give --regrets instead" in refused("drop", whole, "--round", "flop")
    assert good_json("drop", whole, "--regrets")["dropped"] == ["regrets", "sums"]
    good("drop", whole, "--regrets")
    assert good("check", whole) == f"{whole}: healthy\n"
