"""Small matches for tests: entrants that other processes can open, and how they are played."""

import importlib
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spewy.match.match import run_match


@dataclass(frozen=True)
class StandIn:
    """A bot of `stand_ins`, by the name of its function."""

    name: str
    needs_other: bool = False
    alone: bool = False

    @property
    def identity(self):
        return {"bot": self.name}

    def open(self, game, other=None, begun=0, seconds=None, log=None):
        return getattr(importlib.import_module("stand_ins"), self.name)(game)


def entrants(*names):
    return tuple(StandIn(name) for name in names)


CLIENT = Path(__file__).with_name("acpc_client.py")


@contextmanager
def clients_at(port):
    """Clients that call at a port of this machine, one after the other."""
    command, over = [sys.executable, CLIENT, "call", "127.0.0.1", str(port)], threading.Event()

    def start():
        while not over.wait(0.1):
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False, timeout=60)

    thread = threading.Thread(target=start, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(60)


def quietly(done, total):
    pass


def play(match, folder, workers=1):
    return run_match(match, folder, quietly, workers)


def logs(folder):
    """All logs of a match, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
