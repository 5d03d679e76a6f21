"""Bad input: one line that says what, where and what was expected; exit code 2; never a traceback."""

import errno
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_runs import POLARISED, TURN, good, process, refused, spewy, write
from without_rights import without_rights

from buckets.cards import parse_cards
from lockers import open_store
from spewy.errors import InputError
from spewy.look.solution import Solution
from spewy.records.keys import STRATEGY

CLEARED = chr(27) + "[2J"
"""Control characters that clear a terminal."""


def test_control_characters_from_outside_never_reach_the_terminal(tmp_path, capsys):
    from spewy.cli.tables import facts, say, table_text

    for told in (
        refused("show", tmp_path / f"no{CLEARED}folder"),
        refused("solve", write(tmp_path, f"name = 'a'\n[{CLEARED}")),
        refused("solve", tmp_path / "job.toml", "--set", f"a{CLEARED}=1"),
        refused("match", CLEARED, "call", "--game", "kuhn"),
        facts([("bot", f"a{CLEARED}")]),
        table_text(["name"], [[f"b{CLEARED}"]]),
    ):
        assert chr(27) not in told
        assert r"\x1b" in told or "TOML" in told
    say(f"two lines\nof {CLEARED}")
    assert capsys.readouterr().err == "two lines\nof \\x1b[2J\n"


WRONG = {  # what is changed in TURN, and what the error must name
    "not TOML": (("[solve]", "[solve"), "TOML"),
    "unknown key": (('name = "turn"', 'name = "turn"\ncolour = 1'), "colour"),
    "unknown key in a section": (("stack = 100", "stack = 100\nstax = 100"), "spot.stax"),
    "unknown section": (("[solve]", "[solver]"), "solver"),
    "missing key": (("pot = 100\n", ""), "spot.pot"),
    "wrong type": (("pot = 100\n", 'pot = "100"\n'), "spot.pot"),
    "duplicate cards": (("Qs 7h 2d 3c", "Qs 7h 2d Qs"), "Qs"),
    "two cards": (("Qs 7h 2d 3c", "Qs 7h"), "spot.board"),
    "six cards": (("Qs 7h 2d 3c", "Qs 7h 2d 3c 4c 5c"), "spot.board"),
    "no card": (("Qs 7h 2d 3c", "Qs 7h 2d 1c"), "1c"),
    "dead range": (('"KhKc,8s7s"', '"QsJs,QsTs"'), "spot.ip"),
    "empty range": (('"KhKc,8s7s"', '""'), "spot.ip"),
    "ranges that share every card": (('"AhAd,KdQd,JcTc"\nip = "KhKc,8s7s"', '"AhAd"\nip = "AdAc"'), "spot"),
    "bad range token": (('"KhKc,8s7s"', '"KhKc,XYs"'), "XYs"),
    "weight above 100 percent": (('"KhKc,8s7s"', '"KhKc:150"'), "150"),
    "negative weight": (('"KhKc,8s7s"', '"KhKc:-1"'), "-1"),
    "no pot": (("pot = 100", "pot = 0"), "spot.pot"),
    "negative pot": (("pot = 100", "pot = -5"), "spot.pot"),
    "no stack": (("stack = 100", "stack = 0"), "spot.stack"),
    "negative stack": (("stack = 100", "stack = -1"), "spot.stack"),
    "bad size": (('bet = "50%"', 'bet = "fifty"'), "bets.turn"),
    "sizes that make no legal action": (('bet = "50%"', 'donk = "50%"'), "bets.turn"),
    "a round before the spot that is none": (("[bets.turn]", "[bets.ocean]"), "ocean"),
    "unknown game": (("holdem.nolimit.2p.reverse_blinds", "omaha"), "omaha"),
    "spot of a small game": (("holdem.nolimit.2p.reverse_blinds", "leduc"), "spot"),
    "bad variant": (('target = "0.5%"', 'target = "0.5%"\nvariant = "magic"'), "solve.variant"),
    "bad target": (('target = "0.5%"', 'target = "half"'), "solve.target"),
    "target in another's unit": (('target = "0.5%"', 'target = "1 mbb"'), "solve.target"),
    "bad memory": (('target = "0.5%"', 'target = "0.5%"\nmemory = "much"'), "solve.memory"),
    "too little memory": (('target = "0.5%"', 'target = "0.5%"\nmemory = "1 KiB"'), "solve.memory"),
    "endless memory": (('target = "0.5%"', 'target = "0.5%"\nmemory = "1e300 TiB"'), "solve.memory"),
    "no rows": (("[solve]", "[rows]\nriver = 0\n[solve]"), "rows.river"),
    "a line break in a value": (('name = "turn"', 'name = "turn"\n"two\\nlines" = 1'), r"two\nlines"),
}

HINTS = {
    "solve.target=0.1": 'solve.target: expected a unit and quotes, such as "0.1%"; found 0.1',
    "solve.memory=2": 'solve.memory: expected a unit and quotes, such as "2 GiB"; found 2',
    "bets.turn.bet=33": 'bets.turn.bet: expected a unit and quotes, such as "33%"; found 33',
    'bets.turn.bet="33"': "(\"33%\" is 33 % of the pot), found '33'",
    "target=0.1%": "unknown key target (nearest: solve.target)",
    "solve.traget=0.1%": "unknown key solve.traget (nearest: solve.target)",
    "sovle.target=0.1%": "unknown key sovle (nearest: solve)",
    "bets.turm.bet=33%": "expected the sections [bets.preflop], [bets.flop], [bets.turn], [bets.river]; "
    "found 'turm' (nearest: turn)",
    "bets.bet=33%": "found 'bet'",
    "spot.oop=AK:50,QQ:0.5": "expected weights from 0 to 1, or all in percent, found 50 and 0.5; write 50%",
    "spot.oop=AK:0,5": "expected a point in the weight, AK:0.5, found 'AK:0,5'",
    "spot.oop=A10s": "a ten is T, not 10",
    "spot.board=Qs 7h 2d 10c": "a ten is T",
    "solve.symmetry=yes": "solve.symmetry: expected true or false, found 'yes'",
    "solve.max_sweeps=many": "solve.max_sweeps: expected a whole number, found 'many'",
    "solve.max_sweeps=0": "solve.max_sweeps: expected",
}
"""Values of keys, and what the error suggests."""


@pytest.mark.parametrize("override", HINTS)
def test_errors_say_what_to_write(override, tmp_path):
    line = refused("estimate", write(tmp_path, TURN), "--set", override)
    assert HINTS[override] in line
    assert "valid" not in line


def test_a_wrong_key_is_told_once(tmp_path):
    line = refused("estimate", write(tmp_path, TURN.replace("[bets.turn]", "[bets]")))
    assert line.count("bets.bet:") == line.count("found 'bet'") == 1


def test_missing_folders_name_the_nearest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job = write(tmp_path, TURN)
    for name in ("T1", "river"):
        good("solve", job, "--out", f"results/{name}", "--set", "solve.max_sweeps=1")
    for name, near in {"results/T2": "results/T1", "river": "results/river"}.items():
        for command in ("show", "status", "check", "exploit"):
            assert refused(command, name) == f"Error: folder {name} does not exist (nearest: {near})"
    assert refused("show", "zzz").startswith("Error: folder zzz does not exist; solves are in results/T1, ")
    assert refused("show", ".").startswith("Error: folder . holds no solve")


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_jobs(kind, tmp_path):
    (old, new), named = WRONG[kind]
    assert old in TURN
    line = refused("solve", write(tmp_path, TURN.replace(old, new)), "--out", tmp_path / "out")
    assert named in line
    assert not (tmp_path / "out").exists()


def test_a_folder_with_another_job(tmp_path):
    good("solve", write(tmp_path, TURN), "--out", tmp_path / "out")
    line = refused("solve", write(tmp_path, TURN.replace("pot = 100", "pot = 90")), "--out", tmp_path / "out")
    assert "another job" in line
    assert "job.spot.pot: expected 90, found 100" in line
    assert line.endswith("; --out FOLDER solves this job in another folder")


def test_a_folder_with_something_else(tmp_path):
    job = write(tmp_path, TURN)
    assert "job.toml" in refused("solve", job, "--out", tmp_path)
    assert str(job) in refused("solve", job, "--out", job)


@pytest.mark.parametrize("args", [["show"], ["exploit"], ["check"], ["export", "x.csv"]])
def test_folders_without_a_solve(args, tmp_path):
    command, *rest = args
    (tmp_path / "empty").mkdir()
    with open_store(tmp_path / "chess", {"game": "chess"}) as store:
        store.transact(lambda txn: txn.put("payoff", b"k|", np.eye(2)))
    for name in ("none", "empty") if command == "check" else ("none", "empty", "chess"):
        assert f"{name}" in refused(command, tmp_path / name, *(tmp_path / each for each in rest))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chess", "empty"]


@pytest.mark.parametrize(
    ("line", "board", "named"),
    [
        ("r30", None, "r30"),
        ("y", None, "'y'"),
        ("ccc", None, "ccc"),
        ("cc", None, "decision"),
        ("r50f", None, "decision"),
        ("cc/", None, "board"),
        ("", "Qs 7h 2d", "board"),
        ("", "Qs 7h 2d 4c", "board"),
        ("", "Qs 7h 2d Zz", "board"),
        ("cc/", "Qs 7h 2d 3c", "board"),
        ("cc/", "Qs 7h 2d 3c 3c", "3c"),
        ("cc/", "Qs 7h 2d 3c Qs", "Qs"),
        ("cc/", "As 7h 2d 3c 5h", "board"),
    ],
)
def test_wrong_places(line, board, named, small):
    args = [] if board is None else ["--board", board]
    assert named in refused("show", small / "turn", "--line", line, *args)


def test_a_card_that_the_game_lacks(small):
    assert "2c" in refused("show", small / "leduc", "--line", "cc/", "--board", "2c")


def test_files_that_no_export_can_write(small, tmp_path):
    for name in ("out", "out.csv.gz", ".csv"):
        assert "expected a name that ends in" in refused("export", small / "turn", tmp_path / name)
    refused("export", small / "turn", tmp_path / "none" / "x.csv")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.csv").mkdir()
    refused("export", small / "turn", tmp_path / "x.csv")


def damage(folder: Path, kind: str) -> None:
    data = folder / "lockers.mdb"
    content = bytearray(data.read_bytes())
    if kind == "truncated":
        data.write_bytes(content[: len(content) // 2 // 4096 * 4096])
    elif kind == "emptied":
        data.write_bytes(b"")
    elif kind == "lost":
        data.unlink()
    elif kind == "bit-flipped":
        with open_store(folder, read_only=True) as store:
            payloads = [
                array.tobytes() for key in store.keys(STRATEGY) if (array := store.get(STRATEGY, key)).size
            ]
        for payload in payloads:  # in old pages too
            start = content.find(payload)
            while start >= 0:
                content[start + 3] ^= 0x10
                start = content.find(payload, start + 1)
        data.write_bytes(content)
    elif kind == "manifest":
        path = folder / "manifest.json"
        path.write_text(path.read_text().replace('"pot": 100', '"pot": 101'))


@pytest.mark.parametrize("kind", ["truncated", "emptied", "lost", "bit-flipped", "manifest"])
def test_damaged_lockers(kind, small, tmp_path):
    folder = tmp_path / "polarised"
    shutil.copytree(small / "polarised", folder)
    damage(folder, kind)
    refused("show", folder)
    refused("exploit", folder, "--json")
    refused("export", folder, tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()
    refused("solve", small / "polarised.toml", "--out", folder, "--json")
    audit = spewy("check", folder)
    assert audit.exit_code == 1
    assert audit.stdout
    assert "healthy" not in audit.stdout


def test_nowhere_to_write(tmp_path, monkeypatch):
    def read_only(self, *args, **options):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "mkdir", read_only)
    assert "Read-only" in refused("solve", write(tmp_path, TURN), "--out", tmp_path / "out")


def test_read_only_folder(small, tmp_path):
    folder = tmp_path / "turn"
    shutil.copytree(small / "turn", folder)
    job = shutil.copy(small / "turn.toml", tmp_path)

    def work():
        assert "can be written" in refused("solve", job, "--out", folder)

    without_rights(folder, work)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("show", "x", "--wide"), "--wide has no effect without --csv; remove it"),
        (("show", "x", "--digits", 2), "--digits has no effect without --csv; remove it"),
        (("show", "x", "--size", "screen"), "--size has no effect without --plot; remove it"),
        (("show", "x", "--json", "--hands"), "--hands has no effect with --json"),
        (("show", "x", "--json", "--heat", "EV"), "--heat has no effect with --json"),
        (("compare", "x", "y", "--size", "page"), "--size has no effect without --plot"),
        (("compare", "x", "y", "--json", "--sort", "hand"), "--sort has no effect with --json"),
        (("report", "x", "--ascending"), "--ascending has no effect without --sort"),
        (("report", "x", "--digits", 3), "--digits has no effect without --csv"),
        (("evaluate", "x", "--lock", ": check", "--player", "oop"), "--player has no effect without --hands"),
        (("exploit", "x", "--flops", "all", "--seed", 3), "--seed has no effect with --flops all"),
        (("buckets", "--precompute", "flops", "--rows", 9), "--rows has no effect with --precompute"),
        (("buckets", "Ks 7d 2c", "--workers", 2), "--workers has no effect without --precompute"),
        (("new", "--board", "Ks7h2d", "--cards", 3), "--cards has no effect with --board"),
        (("new", "--preset", "srp-btn-bb", "--force"), "--force has no effect without FILE.toml"),
        (("review", "x", "--lockers", "y", "--json", "--top", 3), "--top has no effect with --json"),
        (("serve", "x", "--export", "x.html", "--port", 80), "--port has no effect with --export"),
    ],
)
def test_options_without_effect_are_refused(args, message):
    assert message in refused(*args)


def test_options_without_effect_on_one_job_or_spot_are_refused(small, tmp_path):
    job, out = write(tmp_path, POLARISED), tmp_path / "out"
    said = refused("solve", job, "--out", out, "--jobs", 4)
    assert "--jobs has no effect for one job on one board, whose threads solve.workers sets" in said
    said = refused("solve", job, "--out", out, "--set", "solve.method=lp", "--save-every", 3)
    assert "--save-every has no effect for one linear program, which is saved at its end" in said
    assert not out.exists()
    said = refused("play", "terminal", "--lockers", small / "polarised", "--budget", 3)
    assert "--budget has no effect in spots, whose strategy is exact; remove it" in said
    with Solution.open(small / "polarised") as solution:
        for name, value in {"flops": 3, "seed": 1, "workers": 99, "listener": print}.items():
            with pytest.raises(InputError, match=rf"{name} has no effect without \[boards\]; remove it"):
                solution.exploitability(**{name: value})


def test_a_job_is_a_toml_file(tmp_path):
    assert "job -: a job is not read from stdin; write it into a file" in refused("solve", "-")
    file = tmp_path / "job.json"
    file.write_text('{"name": "x"}')
    assert refused("solve", file).endswith("job.json: expected TOML, found JSON")


def test_a_picture_needs_no_backend_of_matplotlib(small, tmp_path):
    picture, environment = tmp_path / "a.png", {**os.environ, "MPLBACKEND": "nonsense"}
    found = process("show", small / "polarised", "--plot", picture, env=environment)
    assert (found.returncode, picture.is_file()) == (0, True), found.stderr


def test_arguments_of_a_wrong_type_are_named(small):
    with Solution.open(small / "polarised") as solution:
        node = solution.node()
        cards = [int(card) for card in parse_cards("KhKd")]
        assert node.action_probabilities(cards) == node.action_probabilities("KdKh")
        for call, message in (
            (lambda: node.action_probabilities(7), "hand: expected text such as 'AsKh', or cards' numbers"),
            (lambda: node.action_probabilities("AsK"), "hand: card 'K' at position 2"),
            (lambda: node.heat_map(7), "heat map: expected the name of a quantity, such as 'EV', found 7"),
            (lambda: solution.evaluate([7]), r"locks: expected a list of texts such as \["),
            (lambda: solution.evaluate(": check"), r"locks: expected a list of texts such as \["),
            (lambda: solution.evaluate([": check"], player=0), "player has no effect without against"),
        ):
            with pytest.raises(InputError, match=message):
                call()
