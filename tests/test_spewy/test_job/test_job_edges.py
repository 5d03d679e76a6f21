"""Job files and arguments at the edges of what there is: one line and exit code 2, also from Python."""

import os
import subprocess

import pytest
from cli_runs import COMMAND, POLARISED, TURN, good, good_json, refused, spewy, write
from dealt_jobs import DEALT_LEDUC
from jobs import EXAMPLES, parsed_job, solved

from lockers.files import write_manifest
from spewy.batch.solve_batch import solve_batch
from spewy.errors import InputError
from spewy.game.gamefile import format_game, load_game
from spewy.job.job import Job
from spewy.job.load import MOST_EXPLAINED
from spewy.run.session import Session
from spewy.system.textfile import parse_toml

LONG = "Q" * 5000
GAME = {"file": "holdem.nolimit.2p.reverse_blinds"}


def test_texts_and_comments_are_no_keys():
    """Only keys count, not the words between quotes or after a #."""
    words = "a." * 30 + "a"
    text = f'x = "{words}" # {words}\ny = \'{words}\'\nz = """\n"{words}\\""""\n{{}} = 1 # "'
    data = parse_toml(text.format("spot.board"), "job")
    assert (data["x"], data["y"], data["spot"]) == (words, words, {"board": 1})
    with pytest.raises(InputError, match="keys of at most 16 names"):
        parse_toml(text.format(words), "job")


def test_of_many_unknown_keys_the_first_are_told():
    """To look for the nearest known key of each would take a second for some hundred."""
    with pytest.raises(InputError, match=r"unknown key k00000; .*; 2,980 more keys are wrong$") as error:
        Job.of({f"k{n:05}": 1 for n in range(3000)} | {"name": "a", "game": GAME})
    assert str(error.value).count("unknown key") == MOST_EXPLAINED == 20


def test_an_override_with_a_key_of_many_names(tmp_path):
    value = "{" + "a." * 12_000 + "a = 1}"
    assert "found '{a.a." in refused("tree", write(tmp_path, TURN), "--set", f"spot.pot={value}")


TOO_LARGE = "expected a number less than or equal to 1000000000"
NAMES = "expected keys of at most 16 names"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name = " + "[" * 5000 + "]" * 5000, "expected a few nested brackets"),
        ("name = 1" + "0" * 5000, "expected numbers of a few digits, found a number of thousands"),
        (TURN.replace("pot = 100", "pot = 1" + "0" * 400), f"spot.pot: {TOO_LARGE}"),
        (TURN.replace("pot = 100", "pot = 0x" + "f" * 5000), f"spot.pot: {TOO_LARGE}"),
        (TURN.replace("stack = 100", f"stack = {2**64}"), f"spot.stack: {TOO_LARGE}"),
        (TURN.replace("stack = 100", f"stack = {2**63 - 1}"), "spot.stack"),
        (TURN.replace("[solve]", f"[tree]\nmin_bet = {2**40}\n[solve]"), "tree.min_bet"),
        (TURN + "leaves = 'stored'\niterations = 1_000_000_000_000", "solve.iterations"),
        (TURN + f"check_every = {10**400}", "solve.check_every: expected a number of at most 922337203685"),
        (TURN + f"workers = {10**400}", "solve.workers: expected a number of at most"),
        (DEALT_LEDUC.replace("= 3000", f"= {10**400}"), "solve.max_sweeps: expected a number of at most"),
        ("a." * 200_000 + "a = 1", f"{NAMES}, such as spot.board, found more"),
        ('"a"' + ' . "a"' * 16 + " = 1", NAMES),
        ("[" + "a." * 20 + "a]", NAMES),
        ('x = ["""a"""", {' + "a." * 20 + "a = 1}]", NAMES),
        ("x = " + "{a.b = " * 20 + "1" + "}" * 20, "expected at most 20 nested tables and lists"),
        ("x = " + "[" * 300 + "]" * 300, "expected at most 20 nested tables and lists"),
        ("x = [" + "0," * 400_001 + "]", "expected at most 400,000 keys and values, found 400,003"),
        ("#" * 4_000_001, "expected at most 4,000,000 characters, found 4,000,001"),
        (TURN.replace('name = "turn"', f'name = "{"n" * 300}"'), "name: expected at most 255 bytes"),
        (TURN.replace('name = "turn"', f'name = "{"ö" * 128}"'), "name: expected at most 255 bytes"),
    ],
    ids=range(21),
)
def test_too_much_of_something(text, named, tmp_path):
    line = refused("tree", write(tmp_path, text))
    assert named in line
    assert len(line) < 500


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (TURN.replace("pot = 100", "pot = 16,4"), "column 9): 'pot = 16,4'"),
        (TURN.replace("pot = 100", "pot 16"), "column 5): 'pot 16'"),
        (TURN.replace("pot = 100", "pot = 016"), "column 8): 'pot = 016'"),
        (TURN.replace("pot = 100", "[bets.river"), "): '[bets.river'"),
        (TURN.replace("pot = 100", f"'{LONG}' x"), "characters)"),
    ],
    ids=range(5),
)
def test_toml_errors_name_the_line(text, place, tmp_path):
    number = TURN.splitlines().index("pot = 100") + 1
    line = refused("tree", write(tmp_path, text))
    assert "expected TOML, found: " in line
    assert f"(at line {number}, " in line
    assert place in line
    assert len(line) < 500


TEXTS = {
    "job.toml": (TURN.replace("pot = 100", "pot = 100\n# Müller"), ["tree", "job.toml"]),
    "kuhn.game": (format_game(load_game("kuhn")), ["tree", "game.toml"]),
    "range.txt": ("AK,99", ["tree", "turn.toml", "--set", "spot.oop=@range.txt"]),
    "hands.phh": ("variant = 'NT'", ["review", "hands.phh", "--lockers", "nothing"]),
}
"""Contents of text files by their names, and commands that read the files."""


@pytest.mark.parametrize("name", TEXTS)
def test_the_mark_of_utf_8_is_skipped_and_utf_16_is_named(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    game = "name = 'kuhn'\ngame = { file = 'kuhn.game' }\nsolve = { target = '5 mbb' }"
    for file, content in (("turn.toml", TURN), ("game.toml", game)):
        (tmp_path / file).write_text(content)
    content, command = TEXTS[name]
    text = content.encode()
    (tmp_path / name).write_bytes(text)
    right = spewy(*command)
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    marked = spewy(*command)
    assert (marked.exit_code, marked.output) == (right.exit_code, right.output)
    if name == "hands.phh":
        return
    assert right.exit_code == 0
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        (tmp_path / name).write_bytes(content.encode(encoding))
        assert "found UTF-16; save the file as UTF-8" in refused(*command)
    (tmp_path / name).write_bytes(b"\n#\n# M\xfcller\n" + text)
    line = refused(*command)
    assert f"{name}, line 3: expected text in UTF-8, found the byte 0xfc" in line.replace("'", "")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("stack", "100.0"),
        ("pot", "1e2"),
        ("board", "'qs 7H 2d 3c'"),
        ("board", "'Qs, 7h, 2d | 3c'"),
        ("board", "'Q♠ 7♥ 2♦ 3♣'"),
    ],
)
def test_spellings_of_one_job_are_one_job(key, text, tmp_path):
    job = write(tmp_path, TURN)
    plain = Job.load(job)
    other = Job.load(job, [f"spot.{key}={text}"])
    assert other.manifest() == plain.manifest()
    assert str(other.manifest()) == str(plain.manifest())


def test_folders_from_before_go_on(tmp_path):
    """Older manifests have 100.0 in place of whole amounts, and no tree.max_raises."""
    job = Job.load(write(tmp_path, TURN))
    Session(job, tmp_path / "out").close()
    manifest = job.manifest()
    assert (
        not {"max_raises", "lines", "allin_from", "short_allins", "check_down"}
        & manifest["job"]["tree"].keys()
    )
    manifest["job"]["spot"]["stack"] = 100.0
    write_manifest(tmp_path / "out", manifest)
    command = ("solve", tmp_path / "job.toml", "--out", tmp_path / "out")
    good(*command, "--set", "solve.max_sweeps=1")
    good("show", tmp_path / "out")
    line = refused(*command, "--set", "tree.max_raises=2")
    assert "job.tree.max_raises: expected 2, found nothing" in line
    manifest["job"]["spot"]["stack"] = 100.5
    write_manifest(tmp_path / "out", manifest)
    assert "job.spot.stack: expected 100, found 100.5" in refused(*command)


def test_the_largest_amounts_are_solved(tmp_path):
    text = TURN.replace("= 100", f"= {10**9}").replace('"turn"', f'"{"n" * 255}"')
    job = write(tmp_path, text.replace('"50%"', '"50%, a"'))
    assert "all-in 1000000000" in good("tree", job)
    good("solve", job, "--out", tmp_path / ("n" * 255))


@pytest.mark.parametrize("key", ["add_allin", "force_allin", "merge"])
def test_thresholds_without_end_are_all_in(key, tmp_path):
    told = good("tree", write(tmp_path, TURN), "--set", f"tree.{key}=1e308")
    assert ("all-in 100" in told) == (key != "merge")


def test_all_in_from_a_share_of_the_stack_counts_all_rounds(tmp_path):
    """With 100 chips, 60 % are 60: a bet of 25 on the turn stays, one of 38 on the river, 63 in all, is all-in."""
    job = write(tmp_path, TURN)
    sizes = ("--set", "bets.turn.bet=25%", "--set", 'bets.river={bet="25%"}')
    plain = good("tree", job, *sizes)
    told = good("tree", job, *sizes, "--set", "tree.allin_from=0.6")
    assert "bet 38" in plain
    assert "bet 38" not in told
    assert "bet 25" in told
    assert "expected a number less than or equal to 1" in refused("tree", job, "--set", "tree.allin_from=67")


def test_no_all_in_below_the_smallest_raise(tmp_path):
    """With 100 chips, a bet of 60 cannot be raised to 120, so only a bet of 50 or less can be raised all-in."""
    job = write(tmp_path, TURN)
    sizes = ("--set", 'bets.turn={bet="50%, 60%", raise="a"}')
    for more, raised in (((), 2), (("--set", "tree.short_allins=false"), 1)):
        root = good_json("tree", job, *sizes, *more)["root"]
        bets = [root["actions"][f"bet {chips}"]["actions"] for chips in (50, 60)]
        assert sum("all-in 100" in actions for actions in bets) == raised
        assert "all-in 100" in bets[0]


@pytest.mark.parametrize("field", ["stack", "blind", "raiseSize"])
def test_games_of_too_many_chips(field, tmp_path):
    rows = {"stack": "9 9", "blind": "1 2", "raiseSize": "2"}
    rows[field] = " ".join(["9" * 5000] * len(rows[field].split()))
    lines = [f"{key} = {value}" for key, value in rows.items()]
    game = ["GAMEDEF", "limit", "numPlayers = 2", "numRounds = 1", *lines, "numSuits = 1", "numRanks = 3"]
    text = "\n".join([*game, "numHoleCards = 1", "numBoardCards = 0", "END GAMEDEF"])
    job = write(tmp_path, f'name = "x"\n[game]\ntext = """{text}"""')
    assert f"{field}: expected a whole number" in refused("tree", job)
    job.write_text(job.read_text().replace("9" * 5000, str(10**9 + 1)))
    assert f"{field}: expected" in refused("tree", job)


@pytest.mark.parametrize(
    "override",
    [
        f"name={'[' * 5000}",
        f"spot.board={LONG}",
        f"spot.oop={LONG}",
        f"spot.oop=AA:{LONG}",
        f"bets.turn.bet={LONG}",
        f"bets.turn.bet={'9' * 5000}e",
        f"bets.{LONG}.bet=a",
        f"game.file={LONG}",
        f"game={{text = '{LONG}'}}",
        f"solve.variant={LONG}",
        f"solve.target={LONG}",
        f"solve.{LONG}=1",
        f"rows.clustering={LONG}",
        LONG,
    ],
    ids=range(14),
)
def test_what_is_found_is_told_in_short(override, tmp_path):
    line = refused("tree", write(tmp_path, TURN), "--set", override)
    assert LONG[:400] not in line
    assert len(line) < 900


@pytest.mark.parametrize(
    "arguments",
    [["drop", "results", "--round", LONG], ["export", "results", f"x.{LONG}"], ["show", f"a/{LONG}"]],
)
def test_arguments_are_told_in_short(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good("solve", write(tmp_path, TURN), "--out", "results", "--set", "solve.max_sweeps=1")
    assert len(refused(*arguments)) < 1000


def test_a_long_path_leaves_the_ends_of_the_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = refused("show", "/".join(["n" * 200] * 18))
    assert line.startswith("Error: folder nnn")
    assert line.endswith("(3,617 characters) does not exist")
    assert len(line) < 1000


def test_a_job_is_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "expected a file, found a pipe" in refused("solve", tmp_path / "pipe")
    assert "expected a job file, such as job.toml, found a folder" in refused("solve", tmp_path)
    assert "expected a file, found a device" in refused("solve", "/dev/null")
    assert "expected a readable text file" in refused("solve", tmp_path / LONG)
    (tmp_path / "binary").write_bytes(b"\xff\xd8")
    assert "line 1: expected text in UTF-8, found the byte 0xff" in refused("solve", tmp_path / "binary")
    os.mkfifo(tmp_path / "pipe.game")
    job = write(tmp_path, TURN.replace(GAME["file"], "pipe.game"))
    assert "pipe.game': expected a file, found a pipe" in refused("tree", job)


def test_names_that_no_folder_can_have(tmp_path):
    line = refused("solve", write(tmp_path, TURN), "--out", tmp_path / ("n" * 300))
    assert "is too long: a name may have 255 bytes" in line
    assert len(refused("solve", write(tmp_path, TURN), "--out", "n/" * 2500)) < 1000


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["solve", "--foo"], "No such option '--foo'"),
        (["--foo"], "No such option '--foo'"),
        (["solve"], "Missing argument 'JOB.toml...'"),
        (["nonesuch"], "No such command 'nonesuch'"),
        (["buckets", "QsJh2h", "--rows", "0"], "--rows"),
        (["solve", "x", "--jobs", LONG], "--jobs"),
        (["solve", "x", "--save-every", "nan"], "'nan' is not a finite number of seconds"),
        (["solve", "x", "--save-every", "inf"], "'inf' is not a finite number of seconds"),
        (["solve", "x", "--save-every", "-1"], "--save-every"),
        (["match", "call", "raise", "--seconds", "1e10"], "'1e10' is more than 1,000,000,000 seconds"),
        (["play", "acpc", "localhost", "1", "--lockers", "x", "--wait", "1e300"], "'1e300' is more than"),
    ],
    ids=range(11),
)
def test_usage_errors_are_one_line(args, named):
    result = spewy(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert named in result.stderr
    assert "--help tells more)" in result.stderr
    assert len(result.stderr) < 500


@pytest.mark.parametrize(
    ("shell", "named"),
    [
        ('"$@" tree job.toml >&-', "stdout is closed"),
        ('mkdir gone; cd gone; rmdir ../gone; "$@" solve ../job.toml', "the working directory was deleted"),
    ],
)
def test_nowhere_to_be(shell, named, tmp_path):
    write(tmp_path, TURN)
    command = ["sh", "-c", shell, "sh", *COMMAND]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith(f"Error: {named}")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "job: expected a table of sections, found []"),
        (None, "job: expected a table of sections, found None"),
        ({"name": "x", "game": []}, "game"),
        ({"name": "x", "game": GAME, "spot": []}, "spot"),
        ({"name": "x", "game": GAME, "solve": []}, "solve"),
        ({"name": "x", "game": GAME, "bets": {"flop": []}}, "bets.flop"),
        ({"name": "x", "game": GAME, "bets": {5: {}}}, "bets.5"),
        ({"name": "x", "game": GAME, "lock": [[]]}, "lock 1"),
        ({"name": "x", "game": GAME, 5: 5}, "5"),
        ({"name": "x", "game": GAME, "rows": "hands"}, "rows"),
        ({"name": "x", "game": {"file": "kuhn"}, "solve": {"target": "0.3%"}}, "expected mbb or chips"),
    ],
    ids=range(11),
)
def test_what_is_no_job(data, message):
    with pytest.raises(InputError) as error:
        Job.of(data)
    assert message in str(error.value)


def test_one_text_is_no_list_of_texts(tmp_path):
    job = Job.load(EXAMPLES / "R1.toml", ["solve.target=1%"])
    with pytest.raises(InputError, match="overrides: expected a list such as"):
        Job.load(EXAMPLES / "R1.toml", "solve.target=1%")
    with pytest.raises(InputError, match="boards: expected a list of boards, found 'Qs Jh 2h 8c 3d'"):
        solve_batch(job, "Qs Jh 2h 8c 3d", tmp_path / "out")


@pytest.fixture(scope="module")
def river():
    return solved(parsed_job(POLARISED))[1]


@pytest.mark.parametrize("board", [["Qs"], [52], [-1], [1.5], 5, "Qs"])
def test_boards_that_are_none(board, river):
    with pytest.raises(InputError, match=r"^board: expected (text such as|5 cards)"):
        river.node("", board)


@pytest.mark.parametrize("override", ["=1", "solve.target", "solve..target=1", "name.first=1"])
def test_errors_of_the_library_name_no_options(override, tmp_path):
    with pytest.raises(InputError, match="override ") as caught:
        Job.load(write(tmp_path, TURN), [override])
    assert "--" not in str(caught.value)


LISTED = TURN.replace('[bets.turn]\nbet = "50%"', '[tree]\nlines = ["x b50 a", "b40"]')


def test_a_job_lists_its_bets(tmp_path):
    job = parsed_job(LISTED)
    assert [action.label for action in job.betting_tree.find("cr50").actions] == [
        "fold",
        "call",
        "all-in 100",
    ]
    assert Job.of(job.model_dump(by_alias=True)).betting_tree.size == job.betting_tree.size
    assert parsed_job(LISTED.replace('"x b50 a", "b40"', '"cr50r100", "r40"')).tree_config == job.tree_config
    assert "bet 40" in good("tree", write(tmp_path, LISTED))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('["x b50 b60"]', "tree.lines, line 'x b50 b60', position 6: there is a bet to raise"),
        ('["raise 20"]', "there is no bet to raise"),
        ('["b5000"]', "action 'r5000' after ''"),
        ('["b50%"]', "expected an amount in chips, found 'b50%'"),
        ('["b"]', "expected an amount in chips, found 'b'"),
        ('["jump"]', "expected an action such as x, c, f, b120, r384 or a, found 'jump'"),
        ('["x x x x x"]', "after 'cc/cc'"),
        ('["x/x"]', "expected an action, found '/' inside a round"),
        ('["cr20r10"]', "tree.lines, line 'cr20r10'"),
        ('"x b50"', "tree.lines"),
        ('["x b50"]\nmerge = 0.1', "tree.merge has no effect beside tree.lines"),
        ('["x b50"]\n[bets.river]\nbet = "a"', "bets.river has no effect beside tree.lines"),
    ],
)
def test_listed_bets_that_are_wrong(tmp_path, lines, told):
    text = LISTED.replace('["x b50 a", "b40"]', lines)
    assert told in refused("tree", write(tmp_path, text))
