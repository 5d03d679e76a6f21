"""A bot as a folder that can be sent away."""

import os
import shlex
import socket
import subprocess
import sys

import pytest
from acpc_tables import Heard, Seat, Task, client, table
from cli_runs import LEDUC, good, refused, spewy, write
from without_rights import without_rights

import spewy as spewy_package
from lockers import open_store
from spewy.competitions.acpc.dealer import Dealer, accept_both
from spewy.competitions.acpc.package import package_acpc
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.match.connection import Listener


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leduc")
    good("solve", write(folder, LEDUC), "--out", folder / "out", "--set", "solve.max_sweeps=5")
    return folder / "out"


@pytest.fixture
def any_bot(monkeypatch):
    bot = Seat(load_game("leduc"))
    monkeypatch.setattr(spewy_package, "open_bot", lambda *args, **options: bot, raising=False)


def test_a_package_has_all_that_a_bot_needs(solved, tmp_path, any_bot):
    out = tmp_path / "sent"
    told = good("package", "acpc", solved, out, "--resolve", "never")
    assert f"{out}/startme.sh HOST PORT" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sent"]
    names = {path.name for path in out.iterdir()}
    assert names == {"startme.sh", "README.txt", "requirements.txt", "code", "lockers"}
    with open_store(solved, read_only=True) as before, open_store(out / "lockers", read_only=True) as copy:
        assert copy.manifest == before.manifest
        assert list(copy.keys("strategy")) == list(before.keys("strategy"))
        assert copy.check() == []
    assert not list(out.rglob("__pycache__"))
    needed = (out / "requirements.txt").read_text()
    assert "numpy" in needed
    assert "pytest" not in needed
    for name in ("startme.sh", "README.txt"):
        assert "--resolve never --time-per-hand 7s --menu lean --flops stored\n" in (out / name).read_text()
    assert str(tmp_path) not in "".join((out / name).read_text() for name in ("startme.sh", "README.txt"))


@pytest.mark.parametrize(
    ("options", "per_hand", "seconds"),
    [
        ((), 7.0, 1.0),
        (("--resolve", "always", "--safe", "--time-per-hand", "0.5 s", "--threads", "3"), 0.5, 1.0),
        (("--budget", "0.123456789", "--menu", "job", "--safe", "cfr-d"), None, 0.123456789),
    ],
)
def test_a_package_starts_with_the_options_that_were_given(
    options, per_hand, seconds, solved, tmp_path, monkeypatch
):
    opened = []

    def opens(folder, options, ready=True):
        opened.append((options, ready))
        return Seat(load_game("leduc"))

    monkeypatch.setattr(spewy_package, "open_bot", opens, raising=False)
    good("package", "acpc", solved, tmp_path / "sent", *options)
    words = shlex.split((tmp_path / "sent" / "startme.sh").read_text().splitlines()[-1])
    given = words[words.index("--lockers") :]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    spewy("play", "acpc", "127.0.0.1", port, *given, "--wait", 0)
    (packaged, is_ready), (played, _) = opened
    assert not is_ready
    assert packaged == played
    assert (played.seconds_per_hand, played.seconds) == (per_hand, seconds)


def test_a_package_starts_from_its_own_code(solved, tmp_path, any_bot):
    out = tmp_path / "sent with spaces"
    good("package", "acpc", solved, out)
    (out / "code" / "spewy" / "bot" / "agent.py").write_text(
        "from spewy.match.opponents import opponent\nfrom spewy.game.gamefile import load_game\n"
        "def open_bot(folder, *how, **more):\n    print(folder)\n    return opponent('call', load_game('leduc'))\n"
    )
    front = out / "code" / "spewy" / "__init__.py"
    front.write_text(front.read_text() + "\nfrom spewy.bot.agent import open_bot\n")
    match, heard = table(load_game("leduc"), 3), Heard()
    settings = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": ""}
    with Listener("127.0.0.1", (0, 0)) as doors:

        def dealing():
            lines = accept_both(doors, match)
            with lines[0], lines[1]:
                return Dealer(match, lines, heard.logs).play()

        dealer = Task(dealing)
        other = client(doors.ports[0], Seat(match.game))
        command = [out / "startme.sh", "127.0.0.1", str(doors.ports[1])]
        started = subprocess.run(
            command, env=settings, capture_output=True, text=True, timeout=120, check=False
        )
        assert started.stderr == ""
        assert started.returncode == 0
        dealer.result()
        other.result()
    assert started.stdout.startswith(f"{out}/lockers\n")
    assert "hands    3\n" in started.stdout
    wrong = subprocess.run([out / "startme.sh"], capture_output=True, text=True, timeout=60, check=False)
    assert (wrong.returncode, wrong.stderr) == (2, "startme.sh: expected HOST PORT, found 0 arguments\n")


def test_nothing_is_left_of_a_package_that_cannot_be_made(solved, tmp_path, any_bot):
    (tmp_path / "there").mkdir()
    for folder, out, told in (
        (solved, "there", "expected the name of a new folder in an existing folder"),
        (solved, "no/where", "expected the name of a new folder"),
        (tmp_path, "new", "holds no solve"),
    ):
        assert told in refused("package", "acpc", folder, tmp_path / out)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_folder_that_may_not_be_written_is_bad_input(solved, tmp_path, any_bot):
    target = tmp_path / "target"
    target.mkdir()

    def work():
        told = refused("package", "acpc", solved, target / "bot")
        assert "target/bot: the folder cannot be made: Permission denied" in told

    without_rights(target, work)
    assert list(target.iterdir()) == []


def test_what_cannot_be_played_from_is_not_packed(solved, tmp_path, monkeypatch):
    def refusing(*args, **options):
        raise InputError("folder x: expected a whole game")

    monkeypatch.setattr(spewy_package, "open_bot", refusing, raising=False)
    assert "folder x: expected a whole game" in refused("package", "acpc", solved, tmp_path / "new")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_a_failure(solved, tmp_path, any_bot, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    result = spewy("package", "acpc", solved, tmp_path / "new")
    assert (result.exit_code, list(tmp_path.iterdir())) == (1, [])
    with pytest.raises(OSError, match="No space left"):
        package_acpc(solved, tmp_path / "new", ["--resolve", "never"])
