"""Who can be asked to a match: opponents by name, folders, clients of the ACPC's protocol, Local Best Response."""

import os
import shutil
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runs import LEDUC, good, refused, spewy, write
from dealt_jobs import DEALT_LEDUC
from match_tables import CLIENT, clients_at, logs, play

from spewy.bot.options import Options
from spewy.errors import InputError, PeerError
from spewy.game.gamefile import load_game
from spewy.match.entrant import Entrant, parse_entrant, parse_named
from spewy.match.match import Match, play_match

LIMIT_NAME = "holdem.limit.2p.reverse_blinds"
LIMIT, LEDUC_GAME = load_game(LIMIT_NAME), load_game("leduc")


CALL, EQUITY, RAISE = (Entrant("rule", name) for name in ("call", "equity", "raise"))


def Folder(path, options=None, called=""):
    return Entrant("folder", str(path), options, called)


def client(wish):
    return Entrant("cmd", f"{sys.executable} -S -E {CLIENT} {wish}")


def limit_match(folder, first, second=CALL, hands=6, seconds=None):
    """A match of hold'em with one seed."""
    return play(Match(LIMIT, (first, second), hands, (1,), False, seconds), folder)


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leduc")
    good("solve", write(folder, LEDUC), "--out", folder / "leduc")
    return folder / "leduc"


def test_a_path_that_is_there_has_no_name_before_it(leduc, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stack=400").symlink_to(leduc)
    (tmp_path / "400").symlink_to(leduc)
    assert parse_entrant("stack=400") == Folder(Path("stack=400"))
    assert parse_entrant("deep=400") == Folder(Path("400"), called="deep")
    assert parse_named("stack=400") == (None, "stack=400")
    assert parse_named("stack=400", tmp_path / "400") == ("stack", "400")


def test_words(leduc):
    assert parse_entrant("equity") == EQUITY
    assert parse_entrant("lbr:fcpa") == Entrant("lbr", "fcpa")
    assert parse_entrant("cmd:./start me") == Entrant("cmd", "./start me")
    assert parse_entrant("tcp:20001") == Entrant("tcp", "20001")
    assert parse_entrant(str(leduc), Options("never")) == Folder(leduc, Options("never"))


def test_a_name_before_the_word_names_the_bot(leduc):
    for word, own in (
        ("equity", "equity"),
        ("lbr:56", "lbr-56"),
        (str(leduc), "leduc"),
        (f"stored:{leduc}", "stored-leduc"),
        ("tcp:5", "tcp-5"),
        ("cmd:/a/b.sh x", "b.sh"),
        ("cmd:python3 -u /bots/deep.py x=1", "deep"),
        ("cmd:/usr/bin/python3.13 -W ignore -m rival.bot", "rival.bot"),
        ("cmd:env PYTHONPATH=x python3 rival.py", "rival"),
        ("cmd:python3 -c 'import rival'", "python3"),
    ):
        assert parse_entrant(word).name == own
        assert parse_entrant(f"mine={word}") == replace(parse_entrant(word), called="mine")
        assert parse_entrant(f"mine={word}").name == "mine"
    with pytest.raises(InputError, match="expected NAME=BOT"):
        parse_entrant("mine=")


@pytest.mark.parametrize("text", ["stored:nobody", "results/nobody", "mine=results/nobody"])
def test_missing_folders(text):
    with pytest.raises(InputError, match=f"bot '{text}': expected a folder, and (results/)?nobody is none"):
        parse_entrant(text)


@pytest.mark.parametrize("text", ["nobody", "cmd:", "tcp:x", "tcp:99999", "lbr", "", "stored:"])
def test_words_without_meaning(text):
    with pytest.raises(InputError, match="expected one of random, call, raise"):
        parse_entrant(text)


def test_clients_play_the_same_match_as_bots(tmp_path):
    here = limit_match(tmp_path / "a", CALL, EQUITY)
    there = limit_match(tmp_path / "b", client("call"), EQUITY)
    assert there.faults == ((), ())
    assert there.results == here.results


def test_a_client_goes_on_where_it_stopped(tmp_path):
    """Whatever it does by a hand's number, as our own client does with what it draws."""
    whole = limit_match(tmp_path, client("odd")), logs(tmp_path)
    log = tmp_path / "seed-1.log"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-4]))  # three hands are left
    assert (limit_match(tmp_path, client("odd")), logs(tmp_path)) == whole


def test_a_client_that_talks_nonsense_calls(tmp_path):
    found = limit_match(tmp_path, client("nonsense"), hands=2)
    assert found.complete
    assert len(found.faults[0]) == 4 * 2 * 2
    assert "expected c, r, found 'z'" in found.faults[0][0]


def test_lines_out_of_turn_are_told_and_change_nothing(tmp_path):
    found = limit_match(tmp_path / "a", client("stray"), hands=2)
    assert found.plain == limit_match(tmp_path / "b", CALL, hands=2).plain
    assert len(found.faults[0]) == 11 * 2 * 2  # ten lines of a hand, and the number of the others
    told = r"seed-1.log, hand 0: ignored a line that does not answer the last state: '\x1b[2J'"
    assert found.faults[0][0] == told
    assert found.faults[0][10] == "seed-1.log, hand 0: ignored 38 more lines"


@pytest.mark.parametrize(("wish", "seconds"), [("leave", 20.0), ("silent", 1.5)])
def test_a_client_that_is_gone_folds_to_the_end_and_is_ended(tmp_path, monkeypatch, wish, seconds):
    """Also where an answer may take less than a process has for its end."""
    monkeypatch.setenv("SILENT_CLIENTS", str(tmp_path / "silent"))
    started = time.monotonic()
    found = limit_match(tmp_path / "logs", client(wish), RAISE, 20, seconds)
    assert found.complete
    assert [len(faults) for faults in found.faults] == [2, 0]  # one in each run
    assert time.monotonic() - started < 55  # it would sleep for 60 seconds in each hand
    if wish == "silent":
        pids = [int(line) for line in (tmp_path / "silent").read_text().split()]
        assert len(pids) == 2
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


@pytest.mark.parametrize(
    ("entrant", "error", "text"),
    [
        (client("version"), PeerError, "expected VERSION:2.0.0, found 'VERSION:x'"),
        (client("old"), PeerError, "uses VERSION:1.0.0 of the protocol, and only VERSION:2.0.0 is supported"),
        (client("mute"), PeerError, "expected VERSION:2.0.0 as its first line, found the conn"),
        (Entrant("cmd", "true"), PeerError, "ended with exit code 0 before it connected"),
        (Entrant("cmd", "/nothing/here"), InputError, "cannot be run: No such file"),
        (Entrant("cmd", "'"), InputError, "cannot be run: No closing quotation"),
    ],
)
def test_clients_that_cannot_be_had(tmp_path, entrant, error, text):
    with pytest.raises(error, match=text):
        limit_match(tmp_path, entrant, hands=2, seconds=20.0)


def test_somebody_else_starts_a_client(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with clients_at(port):  # for both runs
        found = limit_match(tmp_path, Entrant("tcp", str(port)), hands=3)
    assert (found.complete, found.faults) == (True, ((), ()))


@pytest.mark.parametrize("other", [CALL, Entrant("lbr", "all")])
def test_a_folder_and_lbr_play_with_less_luck(tmp_path, leduc, other):
    found = play(Match(LEDUC_GAME, (other, Folder(leduc)), 60, (1,)), tmp_path)
    assert (found.complete, found.faults) == (True, ((), ()))
    assert found.aivat.half < found.plain.half


def test_a_folder_plays_its_game_only(tmp_path, leduc):
    with pytest.raises(InputError, match="expected a strategy for kuhn, found one for leduc"):
        play(Match(load_game("kuhn"), (Folder(leduc), CALL), 50, (1,)), tmp_path)


def test_a_stored_strategy_plays_without_the_settings_of_other_folders(leduc):
    how = Options(resolve="always", seconds=None, iterations=10)
    here, stored = (parse_entrant(f"{word}{leduc}", how) for word in ("", "stored:"))
    assert (stored.word, stored.is_solved, stored.game()) == (f"stored:{leduc}", True, here.game())
    for entrant, resolve in ((here, "always"), (stored, "never")):
        with entrant.open(entrant.game()) as bot:
            assert bot.options.resolve == resolve


@pytest.fixture
def copied(leduc, tmp_path):
    """A copy of the solve, and a match of it whose logs lie in a folder."""
    shutil.copytree(leduc, tmp_path / "leduc")
    return tmp_path / "leduc", tmp_path / "logs"


def play_on(folder, logs, **options):
    return play_match(folder, "call", hands=5, folder=logs, workers=1, **options)


def test_a_score_is_of_one_strategy_with_one_set_of_options(copied, tmp_path):
    folder, logs = copied
    score = play_on(folder, logs, resolve="never")
    for options, text in (
        ({"resolve": "always", "threads": 1}, "leduc had resolve 'never', and has resolve 'always'"),
        ({"resolve": "never", "menu": "job"}, "leduc had menu 'lean', and has menu 'job'"),
        (
            {"resolve": "never", "threads": 2, "rounds": 1},
            "had rounds 2 and threads 1, and has rounds 1 and threads 2",
        ),
        (
            {"resolve": "never", "seconds_per_hand": 7.0},
            "had iterations 400 and deals 4000 and seconds_per_hand None",
        ),
    ):
        with pytest.raises(
            InputError, match=f"seed-1.log has hands of another bot: .*{text}.*; choose another folder"
        ):
            play_on(folder, logs, **options)
    assert play_on(folder, logs, resolve="never") == score
    folder.rename(tmp_path / "moved")
    assert play_on(f"leduc={tmp_path / 'moved'}", logs, resolve="never") == score


@pytest.mark.parametrize("again", [True, False], ids=["solved anew", "goes on"])
def test_a_strategy_that_changed_has_no_hands_in_old_logs(copied, again):
    folder, logs = copied
    play_on(folder, logs, resolve="never")
    options = ["--again"] if again else ["--set", "solve.max_sweeps=40"]
    good("solve", write(folder.parent, LEDUC), "--out", folder, *options)
    changed = "first_check .*, and has first_check" if again else "saved_sweeps 30, and has saved_sweeps 40"
    with pytest.raises(InputError, match=f"seed-1.log has hands of another bot: leduc had {changed}"):
        play_on(folder, logs, resolve="never")


def test_the_deals_of_a_game_with_board_buckets_are_in_the_log(tmp_path):
    job = write(tmp_path, DEALT_LEDUC)
    for deals in (200, 300):
        good("solve", job, "--out", tmp_path / "dealt", "--set", f"solve.max_sweeps={deals}")
        identity = Entrant("folder", str(tmp_path / "dealt")).identity
        assert (identity["saved_deals"], identity["deals"]) == (deals, Options.deals)
    good("solve", job, "--out", tmp_path / "dealt", "--set", "solve.max_sweeps=300")
    good("exploit", tmp_path / "dealt", "--workers", 1)
    good("drop", tmp_path / "dealt", "--regrets")
    shutil.copytree(tmp_path / "dealt" / "play", tmp_path / "copy")
    assert Entrant("folder", str(tmp_path / "copy")).identity == identity


def test_the_command_adds_no_hands_with_other_options(copied):
    folder, logs = copied
    start = ("match", folder, "call", "--hands", 5, "--workers", 1, "--out", logs)
    good(*start, "--budget", 0.5)
    for options, text in (
        (("--time-per-hand", "3s"), "seconds_per_hand None"),
        (("--budget", 0.5, "--menu", "job"), "had menu 'lean', and has menu 'job'"),
        (("--budget", 0.5, "--threads", 2), "had threads 1, and has threads 2"),
    ):
        assert text in refused(*start, *options)


def test_a_match_says_that_a_solve_went_on_meanwhile(copied, monkeypatch):
    folder, _ = copied
    identities = iter(range(100))
    monkeypatch.setattr("spewy.look.folder.solve_identity", lambda folder: {"sweeps": next(identities)})
    result = spewy("match", folder, "call", "--hands", 2, "--workers", 1)
    assert result.exit_code == 0
    assert "leduc had sweeps 0, and has sweeps 1: its solve changed during the match" in result.stderr


@pytest.mark.parametrize("other", [CALL, Entrant("lbr", "fc")])
def test_lbr_needs_a_strategy(tmp_path, other):
    with pytest.raises(InputError, match=r"reveals no strategy|each needs the strategy of the other"):
        play(Match(LEDUC_GAME, (Entrant("lbr", "all"), other), 2, (1,)), tmp_path)


def test_programs_in_workers_end_with_a_match_that_fails(tmp_path):
    """The first one to start plays on for ever, with a process in a session of its own; another one fails."""
    script = tmp_path / "bot.sh"
    script.write_text(
        f"cd {tmp_path}\n"
        "if mkdir first 2> /dev/null; then\n"
        "  setsid sleep 600 & echo $! $$ > started.new; mv started.new started\n"
        f"  exec {sys.executable} {CLIENT} silent $*\n"
        "fi\n"
        "until [ -e started ]; do sleep 0.01; done; exit 3\n"
    )
    result = spewy(
        *("match", f"cmd:sh {script}", "raise", "--game", LIMIT_NAME, "--hands", 5, "--seeds", "1,2"),
        *("--workers", 2, "--seconds", 60, "--out", tmp_path / "logs"),
    )
    assert result.exit_code == 1
    assert "sh ended with exit code 3 before it connected" in result.stderr
    for pid in map(int, (tmp_path / "started").read_text().split()):
        status = Path(f"/proc/{pid}/stat")
        assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_what_a_command_writes_to_stderr_is_logged(tmp_path):
    """Its last words are told where it does not even connect."""
    (tmp_path / "bot.py").write_text(
        "import sys\nprint('a hint', file=sys.stderr)\nraise SystemExit('no tables')\n"
    )
    entrants = Entrant("cmd", f"{sys.executable} {tmp_path / 'bot.py'}", called="mine"), CALL
    with pytest.raises(
        PeerError, match="ended with exit code 1 before it connected; the last line on its stderr: no tables"
    ):
        play(Match(LIMIT, entrants, 2, (1,)), tmp_path / "logs")
    assert (tmp_path / "logs" / "mine.err").read_text() == "a hint\nno tables\n"
