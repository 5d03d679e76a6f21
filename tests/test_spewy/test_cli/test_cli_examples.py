"""``spewy examples``: the files that come with the package, listed and copied."""

from cli_runs import good, refused

from spewy import Job
from spewy.job.shipped import FOLDER


def test_examples_are_listed_with_what_they_are():
    text = good("examples")
    assert "T1.toml" in text
    assert "A turn spot, a row per hand: exact." in text
    assert len(text.splitlines()) == sum(file.is_file() for file in FOLDER.rglob("*"))


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
