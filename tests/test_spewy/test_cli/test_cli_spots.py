"""``spewy new --from`` and ``--to``: spots of other programs in and out of job files."""

import json
from pathlib import Path

import pytest
from cli_runs import good, good_json, refused, spewy

FOREIGN = Path(__file__).parents[2] / "data" / "foreign"


def tree(path):
    return json.loads(good("tree", path, "--json"))


@pytest.mark.parametrize(
    "source", ["pioviewer/09-rake.txt", "texassolver/04-river.txt", "postflop/05-thresholds.json"]
)
def test_a_spot_becomes_a_job_and_a_text_of_pioviewer(tmp_path, source):
    job, text, again = (tmp_path / name for name in ("job.toml", "spot.txt", "again.toml"))
    good("new", job, "--from", FOREIGN / source)
    good("new", text, "--from", job, "--to", "pioviewer")
    good("new", again, "--from", text)
    assert tree(again) == tree(job)
    assert f"the spot of {source.partition('/')[2]}, of " in job.read_text()


def test_options_replace_values_of_the_spot():
    out = good(
        *(
            "new",
            "--from",
            FOREIGN / "postflop" / "02-configurations.json",
            "--board",
            "Ks7h2d",
            "--oop",
            "QQ+",
        ),
        *("--ip", "AKs", "--pot", "60", "--name", "mine", "--set", "solve.target=1%"),
    )
    for words in ('name = "mine"', 'board = "Ks 7h 2d"', 'oop = "QQ+"', "pot = 60", 'target = "1%"'):
        assert words in out


def test_what_has_no_counterpart_is_told_on_stderr():
    result = spewy("new", "--from", FOREIGN / "texassolver" / "10-overridden.txt")
    assert result.exit_code == 0
    assert "10-overridden.txt: line 3: set_effective_stack is 380 here, and 400 on line 2" in result.stderr
    assert "line 20: dump_result has no counterpart" in result.stderr
    assert "dump_result" not in result.stdout


def test_a_preset_becomes_a_script():
    result = spewy("new", "--preset", "srp-btn-bb", "--board", "Ks7h2d5c9s", "--to", "texassolver")
    assert result.stdout.startswith("set_pot 550\nset_effective_stack 9750\nset_board Ks,7h,2d,5c,9s\n")
    assert result.exit_code == 0


def test_bad_files_and_options(tmp_path):
    path = tmp_path / "spot.txt"
    assert "spot.txt: expected a readable text file" in refused("new", "--from", path)
    path.write_text("hello")
    assert "expected a spot of PioViewer, TexasSolver, WASM Postflop" in refused("new", "--from", path)
    path.write_text("#Range0#AA\n#Pot#1")
    assert "expected the board, the stack, ip's range, found none" in refused("new", "--from", path)
    assert "--preset has no effect with --from" in refused("new", "--from", path, "--preset", "srp-btn-bb")
    assert "--flop-bet has no effect with --from" in refused("new", "--from", path, "--flop-bet", "50%")
    assert "--subset has no effect with --to" in refused(
        "new", "--preset", "srp-btn-bb", "--subset", "3", "--to", "pioviewer"
    )
    assert "scripts of TexasSolver have no lines" in refused(
        "new", "--from", FOREIGN / "pioviewer" / "10-lines.txt", "--to", "texassolver"
    )
    many = _river(tmp_path).with_name("many.toml")
    many.write_text(_river(tmp_path).read_text().replace('board = "', 'boards = ["Ks7h2d5c9s"] # "'))
    assert "several boards; choose one with --board" in refused("new", "--from", many, "--to", "pioviewer")
    told = good("new", "--from", many, "--to", "pioviewer", "--board", "Ks7h2d5c9s")
    assert "#Board#Ks 7h 2d" in told
    assert good_json("estimate", _river(tmp_path))["betting_nodes"] > 3


def _river(tmp_path):
    job = tmp_path / "river.toml"
    good("new", job, "--from", FOREIGN / "texassolver" / "04-river.txt", "--force")
    return job
