"""Ranges in files of their own."""

import pytest
from cli_runs import POLARISED, good, good_json, refused, write

from spewy import Job
from spewy.errors import InputError
from spewy.game.ranges import parse_range

OOP = '"KhKd,JcTc,JhTh,JdTd"'
TEXT = "# what the value is\nKhKd,\n\nJcTc,  # and air\n[100]JhTh, JdTd[/100]\n"


def with_file(folder, given, text=TEXT):
    """A job whose first range is somewhere else; job and range lie in a folder of their own."""
    (folder / "jobs").mkdir()
    (folder / "jobs" / "oop.txt").write_text(text)
    return write(folder / "jobs", POLARISED.replace(OOP, given))


@pytest.mark.parametrize("given", ['"@oop.txt"', '{ file = "oop.txt" }', '"@ oop.txt"'])
def test_a_range_is_read_from_a_file_beside_the_job(tmp_path, given):
    job = Job.load(with_file(tmp_path, given))
    assert job.spot.oop == "KhKd,JcTc,[100]JhTh, JdTd[/100]"
    assert job.ranges[0] == parse_range("KhKd,JcTc,JhTh,JdTd")


def test_a_folder_needs_the_file_no_more(tmp_path):
    job = with_file(tmp_path, '"@oop.txt"')
    good("solve", job, "--out", tmp_path / "out")
    (tmp_path / "jobs" / "oop.txt").unlink()
    assert "KhKd" in good_json("show", tmp_path / "out")["hands"]


CARDS = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
PIO = [CARDS[high] + CARDS[low] for high in range(52) for low in range(high)]
HELD = {"KdKh": 1, "KhKd": 1, "TcJc": 0.5, "JcTc": 0.5}
NUMBERS = "\n".join(str(HELD.get(name, 0)) for name in PIO)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ('"@oop.txt"', f"order = pio\n{NUMBERS}\n"),
        ('"@oop.txt"', f"# from a script\nset_range OOP {NUMBERS}"),
        ('{ file = "oop.txt", order = "pio" }', NUMBERS),
        ('"""order = pio\n' + NUMBERS + '"""', ""),
    ],
)
def test_a_list_names_its_order(tmp_path, given, text):
    assert Job.load(with_file(tmp_path, given, text)).ranges[0] == parse_range("KdKh,TcJc:0.5")


def test_a_list_without_an_order_is_refused_where_it_comes_in(tmp_path):
    job = with_file(tmp_path, '"@oop.txt"', NUMBERS)
    expected = "range: expected the order of the 1,326 numbers"
    assert f"spot.oop: file oop.txt: {expected}" in refused("estimate", job)
    assert f"spot.oop: {expected}" in refused("estimate", job, "--set", f"spot.oop={NUMBERS}")
    assert "order = gto" in refused("estimate", job, "--set", 'spot.oop={file="oop.txt", order="gto"}')


@pytest.mark.parametrize("head", ["set_range OOP", "# from there\norder = pio"])
def test_a_list_names_its_order_once(tmp_path, head):
    job = with_file(tmp_path, '{ file = "oop.txt", order = "pio" }', f"{head} {NUMBERS}")
    said = "file oop.txt: range: the file names the order of its numbers; remove order = 'pio'"
    assert said in refused("estimate", job)


@pytest.mark.parametrize("comment", [False, True])
def test_folders_from_before_lists_had_an_order_go_on(tmp_path, comment):
    """Their manifest has the numbers alone, in Spewy's order."""
    ours = sorted(PIO, key=lambda name: sorted(map(CARDS.index, (name[:2], name[2:]))))
    numbers = ",".join(str(HELD.get(name, 0)) for name in ours)
    if comment:
        numbers = f"# from before\n {numbers}"
    file = with_file(tmp_path, '"@oop.txt"', f"order = spewy\n{numbers}")
    job = Job.load(file, [f"spot.oop=order = spewy, {numbers}"] if comment else [])
    assert job.ranges[0] == parse_range("KdKh,TcJc:0.5")
    manifest = job.manifest()
    assert manifest["job"]["spot"]["oop"] == numbers
    stored = Job.stored(manifest["job"], "folder")
    assert stored.ranges[0] == job.ranges[0]
    assert stored.manifest() == manifest
    assert Job.of(stored.model_dump(by_alias=True)).manifest() == manifest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("KhKd\nJcTc, KX\n", "range, line 2, position 6: expected a group such as QQ+"),
        ("KhKd,\n[50]JcTc\n", "range, line 2, position 0: expected [/50] after [50]"),
        ("# nothing\n", "range: expected at least one group of hands, found nothing"),
    ],
)
def test_an_unreadable_range_file_is_told_with_its_line(tmp_path, text, message):
    job = with_file(tmp_path, '"@oop.txt"', text)
    assert f"spot.oop: file oop.txt: {message}" in refused("estimate", job)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('"@none.txt"', "spot.oop: file none.txt: expected a readable text file, found: No such file"),
        ('"@"', "spot.oop: file : expected a file, found a folder"),
        ('{ file = "none.txt" }', "spot.oop: file none.txt: expected a readable text file"),
        ('{ path = "oop.txt" }', "spot.oop: expected a text between quotes"),
        ('{ file = "oop.txt", order = 1 }', "spot.oop: expected a text between quotes"),
    ],
)
def test_a_range_file_that_is_not_there(tmp_path, given, message):
    assert message in refused("estimate", with_file(tmp_path, given))


def test_a_job_given_in_python_reads_files_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.txt").write_text("AA")
    spot = {"board": "Ks 9d 6h 3c 2s", "pot": 10, "stack": 10, "oop": {"file": "r.txt"}, "ip": "QQ"}
    data = {"name": "x", "game": {"file": "doyle"}, "spot": spot, "bets": {"river": {"bet": "a"}}}
    assert Job.of(data).spot.oop == "AA"
    assert data["spot"]["oop"] == {"file": "r.txt"}
    (tmp_path / "r.txt").write_text("AX")
    with pytest.raises(InputError, match=r"file r\.txt: range, position 0"):
        Job.of(data)
