"""Running the command line in tests: in this process, or in one of its own."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import click
from click.testing import CliRunner

from spewy.cli import main

COMMAND = [sys.executable, "-m", "spewy"]

SOLVE_FIELDS = [
    *("name", "converged", "interrupted", "sweeps", "exploitability", "exploitability_pct"),
    *("exploitability_mbb", "ev", "equity", "value", "value_bracket", "seconds", "peak_rss_mib", "trace"),
    *("process_mib", "variant", "choice", "quick"),
]
"""Fields of `spewy solve --json`."""

KUHN = """
name = "Kuhn"
[game]
file = "kuhn"
[solve]
variant = "cfr+"
target = "0.001 chips"
check_every = 50
"""

LEDUC = """
name = "Leduc"
[game]
file = "leduc"
[solve]
variant = "cfr+"
leaves = "stored"
symmetry = false
target = "0 chips"
max_sweeps = 30
check_every = 5
"""

# Value: three kings. Air: three jack-highs that never win a showdown. Between them a pair of aces that beats air only.
# No hand shares a card with another, so every pair of hands is equally likely. The only bet is all-in, the pot.
PARTIAL = """
name = "partial"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "2s 3h 5d 7c 9s"
pot = 100
stack = 100
oop = "AA,QQ,JJ"
ip = "KK"
[bets.river]
oop = { bet = "a" }
[solve]
variant = "dcfr"
target = "0.001%"
max_sweeps = 20000
check_every = 100
"""
"""Oop holds aces for value, and queens and jacks as air; ip holds kings. The only bet is all-in, the pot.

No hand shares a card with one of the other player's, and 6 combos of each meet 6 kings.
"""
POLARISED = """
name = "polarised"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Ks 9d 6h 3c 2s"
pot = 100
stack = 100
oop = "KhKd,JcTc,JhTh,JdTd"
ip = "AhAd"
[bets.river]
oop = { bet = "a" }
[solve]
target = "0.001%"
max_sweeps = 20000
check_every = 100
"""

TURN = """
name = "turn"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs 7h 2d 3c"
pot = 100
stack = 100
oop = "AhAd,KdQd,JcTc"
ip = "KhKc,8s7s"
[bets.turn]
bet = "50%"
[solve]
target = "0.5%"
"""


def spewy(*args):
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


def subcommands(command):
    """List the commands of a group of commands; other commands have none."""
    context = click.Context(command)
    names = command.list_commands(context) if isinstance(command, click.Group) else ()
    return [command.get_command(context, name) for name in names]


def good(*args):
    """Run a command that shall succeed; its stdout."""
    result = spewy(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def good_json(*args):
    """Run a command that shall succeed; the object on its stdout."""
    return json.loads(good(*args, "--json"))


def refused(*args):
    """Run a command that shall find its input bad; its one line on stderr."""
    result = spewy(*args)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert result.stderr.splitlines()[-1:] == lines, result.stderr
    assert "Traceback" not in result.stderr
    return lines[0]


def process(*args, **options):
    """Run a command in a process of its own."""
    command = [*COMMAND, *(str(arg) for arg in args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def on_a_terminal(*args, lines=30, columns=100, **environment):
    """Run a command on a pseudo terminal; what it shows."""
    ours, theirs = pty.openpty()
    terminal = {"LINES": str(lines), "COLUMNS": str(columns), "TERM": "dumb"}
    command = [*COMMAND, *map(str, args)]
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, stdin=theirs, env={**os.environ, **terminal, **environment}
    ) as running:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert running.returncode == 0, shown
    return shown.decode()


def write(folder: Path, text: str, name: str = "job.toml") -> Path:
    """Write a job file."""
    path = folder / name
    path.write_text(text)
    return path
