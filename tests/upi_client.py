"""A server of UPI in this process, and the commands with which clients of other authors start it."""

import io
import stat
import sys
from pathlib import Path

import numpy as np

from spewy.bridges.upi import UpiServer


class Upi:
    """Sends lines to a server, and returns its answers as lists of lines."""

    def __init__(self):
        self.out = io.StringIO()
        self.server = UpiServer(self.out)
        self.ask("set_end_string END")

    def ask(self, line):
        """The answer to a line, without the end string and what a solve says later."""
        self.out.seek(0)
        self.out.truncate()
        self.server.answer(line)
        lines = self.out.getvalue().splitlines()
        return lines[: lines.index("END")]

    def do(self, *lines):
        """Send lines that must succeed."""
        for line in lines:
            (answer,) = self.ask(line)[-1:] or [""]
            assert answer == f"{line.split()[0]} ok!", answer

    def rows(self, line):
        """The answer to a line as numbers: ``[row, hand]``."""
        return np.array([row.split() for row in self.ask(line)], dtype=float)

    def refused(self, line):
        """The error that answers a line."""
        (answer,) = self.ask(line)
        assert answer.startswith("ERROR: "), answer
        return answer.removeprefix("ERROR: ")


def executable(folder):
    """An executable file that starts ``spewy upi``, under the name that clients expect."""
    path = Path(folder) / "PioSOLVER3-edge.exe"
    path.write_text(f"#!/bin/sh\nexec {sys.executable} -m spewy upi\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
