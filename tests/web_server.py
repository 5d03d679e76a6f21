"""A server of pages for tests: ``spewy serve`` in a process of its own, on a free port."""

import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from cli_runs import COMMAND

# Three rounds, with ranges of a few hands.
FLOP = """
name = "flop"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs 7h 2d"
pot = 100
stack = 200
oop = "AhAd,KdQd,JcTc,7s7c"
ip = "KhKc,8s7s,QhJh:0.5"
[bets.flop]
bet = "50%"
[solve]
target = "0.01%"
max_sweeps = 12
"""


@dataclass
class Server:
    """A running server.

    Attributes:
        process: its process.
        address: address that it printed.
    """

    process: subprocess.Popen
    address: str

    @property
    def port(self) -> int:
        return urlsplit(self.address).port

    def ask(self, path: str, **query: str) -> dict:
        """Ask a question that the server must answer; the JSON object."""
        status, body = self.status(path, **query)
        assert status == 200, body
        return body

    def status(self, path: str, **query: str) -> tuple[int, dict]:
        """Ask a question; the status of the answer and its JSON object."""
        return self._answer(f"{self.address}{path}?{urlencode(query)}")

    def _answer(self, request: str | urllib.request.Request) -> tuple[int, dict]:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def send(self, path: str, **content: object) -> tuple[int, dict]:
        """Send a request that may change something; the status of the answer and its JSON object."""
        request = urllib.request.Request(
            f"{self.address}{path}",
            json.dumps(content).encode(),
            {"Content-Type": "application/json", "Origin": self.address.rstrip("/")},
        )
        return self._answer(request)

    def raw(self, request: bytes) -> bytes:
        """Send bytes as they are; all bytes of the answer until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Send a signal; the exit code and everything that the server wrote to stderr."""
        self.process.send_signal(number)
        _, text = self.process.communicate(timeout=30)
        return self.process.returncode, text


@contextmanager
def serving(*arguments: str | Path):
    """Run ``spewy serve`` on a free port; yields a `Server`, and ends it."""
    process = subprocess.Popen(
        [*COMMAND, "serve", *map(str, arguments), *(() if "--port" in arguments else ("--port", "0"))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), process.communicate(timeout=30)
        yield Server(process, address)
    finally:
        process.kill()
        process.communicate()
