"""Commands in a process of their own, which tests wait for, interrupt and kill."""

import subprocess
import time
from contextlib import contextmanager

from cli_runs import COMMAND


@contextmanager
def started(*args, **options):
    """A command in a process group of its own, which ends with the ``with`` block at the latest."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen([*COMMAND, *map(str, args)], **pipes | options) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(holds, process):
    """Wait until something holds, which a command shall bring about."""
    while not holds():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


def says(process, text):
    """Read what a command says on stderr until it says this; False if it ends before."""
    return any(text in line for line in process.stderr)
