"""Commands that deal and play: `spewy dealer` and `spewy play acpc`."""

import json
import logging
import signal
import subprocess
import sys
import time

import pytest
from acpc_tables import LIMIT, SOON, Heard, Seat, Task, client, table
from cli_runs import COMMAND, LEDUC, good, refused, spewy, write
from stand_ins import fail

import spewy as spewy_package
from spewy.bot.options import Options
from spewy.bot.resolving import subgame
from spewy.competitions.acpc.dealer import Dealer, accept_both
from spewy.errors import PeerError, SolveError
from spewy.game.gamefile import load_game
from spewy.match.acpc_text import parse_logged
from spewy.match.connection import Listener, connect


class Process:
    def __init__(self, folder, *args):
        command = [*COMMAND, "dealer", *(str(arg) for arg in args)]
        self.child = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.ports = [int(word) for word in self.child.stdout.readline().split()]

    def end(self):
        out, told = self.child.communicate(timeout=60)
        assert "Traceback" not in told
        return self.child.returncode, out, told


def head(game, seed, players="Alice|Bob"):
    return [
        f"# name/game/hands/seed a {game} 5 {seed}",
        "#--t_response 600000",
        "#--t_hand 600000",
        "#--t_per_hand 7000",
        f"# players {players}, rules 2.0.0, seats swap",
    ]


def test_a_dealer_deals_and_logs(tmp_path):
    dealer = Process(tmp_path, "a", LIMIT.name, 5, 0, "Alice", "Bob", "-T")
    clients = [client(port, Seat(LIMIT, seed=n)) for n, port in enumerate(dealer.ports)]
    code, out, told = dealer.end()
    assert (code, [task.result().hands for task in clients]) == (0, [5, 5])
    lines = (tmp_path / "a.log").read_text().splitlines()
    assert lines[:5] == head(LIMIT.name, 0)
    assert [parse_logged(LIMIT, line).number for line in lines[5:-1]] == list(range(5))
    assert out == f"{lines[-1]}\n"
    assert told.startswith("STARTED at ")
    assert f"{lines[-1]}\n" in told
    assert "TO 1 at " in told
    assert "FROM 2 at " in told
    actions = (tmp_path / "a.tlog").read_text()
    assert actions.splitlines()[:5] == lines[:5]
    again = Process(tmp_path, "a", LIMIT.name, 5, 0, "Alice", "Bob", "-T", "-a", "-q")
    for port in again.ports:
        client(port, Seat(LIMIT))
    code, out, told = again.end()
    assert (code, out, told) == (0, f"{lines[-1]}\n", f"{lines[-1]}\n")
    assert (tmp_path / "a.log").read_text().splitlines() == lines
    assert (tmp_path / "a.tlog").read_text() == actions


def dealt(tmp_path, monkeypatch, begun, *args):
    """The result of a dealer whom nobody joins, in this process, with a transaction log from before."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tlog").write_text(begun)
    return spewy("dealer", "a", *args, "--start_timeout", 200)


def test_what_was_dealt_is_not_written_again(tmp_path, monkeypatch):
    """Whoever is killed while they go on has lost nothing."""
    begun = "\n".join([*head("kuhn", 0, "A|B"), "c 0 1.5 2.5", "c 0 2.5 3.5", ""])
    result = dealt(tmp_path, monkeypatch, f"{begun}c 0 3.", "kuhn", 5, 0, "A", "B", "-T", "-a", "-q")
    assert (result.exit_code, (tmp_path / "a.tlog").read_text()) == (1, begun)
    assert result.stderr == "Error: seat 1 (A) has not connected in time\n"
    assert "SCORE" not in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize(
    ("options", "found", "expected"),
    [
        (("kuhn", 5, 1, "A", "B"), "a kuhn 5 0", "a kuhn 5 1"),
        (("leduc", 5, 0, "A", "B", "-l"), "a kuhn 5 0", "a leduc 5 0"),
        (("kuhn", 5, 0, "A", "C"), "players A|B, rules 2.0.0", "players A|C, rules 2.0.0, seats swap"),
        (("kuhn", 5, 0, "A", "B", "-f"), "seats swap", "fixed seats"),
        (("kuhn", 5, 0, "A", "B", "--t_hand", 5), "t_hand 600000", "t_hand 5"),
        (("kuhn", 5, 0, "A", "B"), None, "does not say which match it has"),
    ],
)
def test_a_match_goes_on_with_its_own_cards_players_and_rules(
    tmp_path, monkeypatch, options, found, expected
):
    begun = "\n".join([*(head("kuhn", 0, "A|B") if found else ()), "c 0 1.5 2.5", ""])
    result = dealt(tmp_path, monkeypatch, begun, *options, "-T", "-a")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: transaction log a.tlog " in result.stderr
    assert expected in result.stderr
    if found:
        assert f"{expected}', found '#" in result.stderr
        assert found in result.stderr
        assert "play with the arguments of that match" in result.stderr
    assert (tmp_path / "a.tlog").read_text() == begun
    assert not (tmp_path / "a.log").exists()


def test_ctrl_c_keeps_what_was_dealt(tmp_path):
    dealer = Process(tmp_path, "a", LIMIT.name, 1000, 0, "A", "B", "-q")
    with (
        connect("127.0.0.1", dealer.ports[0], SOON) as first,
        connect("127.0.0.1", dealer.ports[1], SOON) as second,
    ):
        for lines in (first, second):
            lines.send("VERSION:2.0.0")
        state = second.receive(time.monotonic() + SOON).decode()
        second.send(f"{state}:f")
        for _ in range(3):
            first.receive(time.monotonic() + SOON)
        dealer.child.send_signal(signal.SIGINT)
        assert dealer.end()[0] == 130
    assert "STATE:0:f:" in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("a", "chess", 5, 0, "A", "B"), "game 'chess': expected a .game file or one of"),
        (("a\nb", "kuhn", 5, 0, "A", "B"), "match: expected a name on one line, found 'a\\nb'"),
        (("", "kuhn", 5, 0, "A", "B"), "match: expected a name on one line, found ''"),
        (("a", "kuhn", 0, 0, "A", "B"), "Invalid value for 'HANDS'"),
        (("a", "kuhn", 5, -1, "A", "B"), "-1"),
        (("a", "kuhn", 5, 2**32, "A", "B"), "Invalid value for 'SEED'"),
        (("a", "kuhn", 5, 0, "A:", "B"), "player's name: expected"),
        (("a", "kuhn", 5, 0, "A", "B", "-p", "1"), "ports: expected two numbers"),
        (("a", "kuhn", 5, 0, "A", "B", "-p", "70000,70001"), "ports: expected numbers up to 65535"),
        (("a", "kuhn", 5, 0, "A", "B", "-p", "7001,7001"), "ports: expected two different numbers"),
        (("a", "kuhn", 5, 0, "A", "B", "--bind", "256.0.0.1"), "'256.0.0.1': expected one of this machine"),
        (("a", "kuhn", 5, 0, "A", "B", "--bind", "192.0.2.1"), "'192.0.2.1': expected one of this machine"),
        (("a", "kuhn", 5, 0, "A", "B", "--bind", ""), "the address to listen at is empty"),
        (("a", "kuhn", 5, 0, "A", "B", "-a"), "-a continues from a transaction log, which -T writes; add -T"),
        (("no/folder/a", "kuhn", 5, 0, "A", "B", "-T", "-a"), "log no/folder/a.tlog: expected a readable"),
        (("no/folder/a", "kuhn", 5, 0, "A", "B"), "file no/folder/a.log cannot be written"),
    ],
)
def test_dealers_that_are_refused(args, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert told in refused("dealer", *args)


def test_a_port_that_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Listener("127.0.0.1", (0,)) as taken:
        result = spewy("dealer", "a", "kuhn", 5, 0, "A", "B", "-p", f"{taken.ports[0]},0")
    assert result.exit_code == 1
    assert result.stderr.endswith("is not free: Address already in use\n")


class Warns(Seat):
    """A bot that logs, and fails now and then."""

    closed = False

    def act(self, hand):
        logging.getLogger("spewy.bot").info("it took long")
        logging.getLogger("spewy.bot").warning("hard\nto say")
        if len(self.begun) == 2:
            raise ValueError("no idea")
        return super().act(hand)

    def close(self):
        self.closed = True


def seated(game, hands, *args):
    """The result of ``spewy play acpc`` at a dealer's table, against a bot that plays at random."""
    match, heard = table(game, hands), Heard()
    with Listener("127.0.0.1", (0, 0)) as doors:

        def dealing():
            lines = accept_both(doors, match)
            with lines[0], lines[1]:
                return Dealer(match, lines, heard.logs).play()

        dealer, other = Task(dealing), client(doors.ports[0], Seat(game))
        result = spewy("play", "acpc", "127.0.0.1", doors.ports[1], *args)
        dealer.result()
        other.result()
    return result


def test_a_bot_plays_at_a_dealers_table(tmp_path, monkeypatch):
    bot, asked = Warns(LIMIT), []

    def opened(*args, **options):
        asked.append((args, options))
        return bot

    monkeypatch.setattr(spewy_package, "open_bot", opened, raising=False)
    log = tmp_path / "said.txt"
    how = ("--resolve", "always", "--safe", "--budget", 3, "--threads", 2)
    result = seated(LIMIT, 3, "--lockers", tmp_path, *how, "--log", log)
    assert (result.exit_code, bot.closed) == (0, True), result.output
    options = Options("always", safe="mixed", seconds=3.0, threads=2)
    assert asked == [((tmp_path, options), {})]
    rows = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert (rows["hands"], set(rows)) == ("3", {"hands", "faults", "answers", "start", "memory"})
    said = log.read_text().splitlines()
    assert said[0].endswith(" TO VERSION:2.0.0")
    assert any(line.endswith("INFO it took long") for line in said)
    assert "it took long" not in result.stderr
    assert any(line.endswith("WARNING hard to say") for line in said)
    assert any(line.endswith("ERROR: the bot failed: ValueError: no idea") for line in said)
    assert "ERROR: the bot failed: ValueError: no idea" in result.stderr


@pytest.mark.parametrize("error", [TypeError("a bug"), SolveError("no such luck")])
def test_a_re_solve_that_fails_is_counted_and_the_game_goes_on(tmp_path, monkeypatch, error):
    good("solve", write(tmp_path, LEDUC), "--out", tmp_path / "leduc")
    how = ("--lockers", tmp_path / "leduc", "--resolve", "always")
    if isinstance(error, SolveError):
        whole = json.loads(seated(load_game("leduc"), 10, *how, "--json").stdout)
        assert (whole["hands"], whole["faults"], whole["failures"]) == (10, 0, {})
        assert sum(whole["sources"].values()) == whole["seconds"]["n"] > whole["sources"]["re-solved"] > 1
    monkeypatch.setattr(subgame, "resolve", lambda *args: fail(error))
    log, name = tmp_path / "said.txt", type(error).__name__
    found = json.loads(seated(load_game("leduc"), 20, *how, "--json", "--log", log).stdout)
    assert (found["hands"], found["faults"], found["sources"]["re-solved"]) == (20, 0, 0)
    assert found["sources"]["stored"] > found["failures"][name] > 5
    said = log.read_text()
    assert said.count(f"re-solving failed: {error}") == found["failures"][name]
    assert (" TRACE Traceback" in said) == (f" TRACE {name}: {error}" in said) == (name == "TypeError")
    rows = seated(load_game("leduc"), 20, *how)
    assert f"failed     {found['failures'][name]} {name}\n" in rows.stdout
    assert f"decisions  {found['sources']['stored']} stored\n" in rows.stdout
    assert "Traceback" not in rows.stderr


def test_nobody_listens(tmp_path, monkeypatch):
    bot = Warns(LIMIT)
    monkeypatch.setattr(spewy_package, "open_bot", lambda *args, **options: bot, raising=False)
    with Listener("127.0.0.1", (0,)) as doors:
        port = doors.ports[0]
    result = spewy("play", "acpc", "127.0.0.1", port, "--lockers", tmp_path, "--wait", 0)
    assert (result.exit_code, bot.closed) == (1, True)
    assert f"127.0.0.1:{port}: no program accepts the connection: Connection refused" in result.stderr


def test_ctrl_c_leaves_the_table(tmp_path):
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "import spewy\nfrom acpc_tables import LIMIT, Seat\n"
        "spewy.open_bot = lambda *args, **options: Seat(LIMIT)\n"
        "from spewy.__main__ import main\nsys.argv = ['spewy', *sys.argv[1:]]\nmain()"
    )
    log = tmp_path / "said.txt"
    with Listener("127.0.0.1", (0,)) as doors:
        args = ["play", "acpc", "127.0.0.1", str(doors.ports[0]), "--lockers", "x", "--log", str(log)]
        with (
            subprocess.Popen([sys.executable, "-c", code, *args], stderr=subprocess.PIPE, text=True) as child,
            doors.accept(0, "the client", time.monotonic() + 60) as lines,
        ):
            assert lines.receive(time.monotonic() + 60) == b"VERSION:2.0.0"
            child.send_signal(signal.SIGINT)
            told = child.communicate(timeout=60)[1]
    assert child.returncode == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    assert log.read_text().endswith(" TO VERSION:2.0.0\n")


def test_a_client_waits_for_a_dealer_that_comes_later():
    with Listener("127.0.0.1", (0,)) as doors:
        port = doors.ports[0]
    task = Task(connect, "127.0.0.1", port, SOON)
    time.sleep(0.3)
    with (
        Listener("127.0.0.1", (port,)) as doors,
        doors.accept(0, "the client", time.monotonic() + SOON) as lines,
    ):
        lines.send("hello")
        with task.result() as client:
            assert client.receive(time.monotonic() + SOON) == b"hello"


@pytest.mark.parametrize("host", ["a" * 300, "\x00"])
def test_hosts_that_are_none(host):
    with pytest.raises(
        PeerError, match=r":1: (this is not the name of a host|no program accepts the connection)"
    ):
        connect(host, 1)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("somewhere", 0, "--lockers", "x"), "Invalid value for 'PORT'"),
        (("somewhere", 1), "Missing option '--lockers'"),
        (("somewhere", 1, "--lockers", "x", "--resolve", "now"), "'now' is not one of"),
    ],
)
def test_clients_that_are_refused(args, told):
    assert told in refused("play", "acpc", *args)
