"""Tests whether batches (several solves by one command) behave correctly when processes or a Dask scheduler fail.

    python -m benchmarks.studies.failures [--solves 8] [--kills 3] [--quick]

The table has a line for each kind of trial: how often it ran, and how often it ended as it should. The exit code is 1
if a trial ended otherwise. The kinds are:

- *killed*: a batch of three turns runs on two workers, and three times a worker that runs a job gets SIGKILL. The
  result of the batch must be the result of an undisturbed batch.
- *interrupted*: a batch gets Ctrl-C. It must end within two seconds with exit code 130, with everything saved.
- *parent killed*: a batch gets SIGKILL. After three seconds none of its workers may be alive, and ``/dev/shm`` may have
  none of its files.
- *vanished*: the scheduler of a Dask cluster is killed during a batch. The batch must end within ten seconds with an
  error message of one line.
- *silent*, *gigabytes*: the address of the scheduler belongs to a program that sends nothing, or endless data. The
  batch must refuse the address within ten seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from lockers import open_store
from spewy.records.progress import saved_sweeps
from spewy.records.status import STATUS

JOB = """
name = "turns"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
boards = ["Qs 7h 2d 3c", "Kh 9d 6s 2c", "Jh 9d 6s 2c"]
pot = 20
stack = 60
oop = "AA-99,AKs,KQs,JTs"
ip = "KK-88,AQs,87s"
[bets.turn]
bet = "50%, a"
raise = "a"
[solve]
target = "0 chips"
max_sweeps = 400
check_every = 20
precision = "double"
"""
PATIENCE = 180.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--solves", type=int, default=8, help="number of batches in which workers are killed")
    parser.add_argument("--kills", type=int, default=3, help="number of workers to kill in each batch")
    parser.add_argument(
        "--quick", action="store_true", help="run a short test: one batch with one kill, and no clusters"
    )
    args = parser.parse_args(argv)
    if args.quick:
        args.solves = args.kills = 1
    with TemporaryDirectory(prefix="spewy-") as scratch:
        trials = _Trials(Path(scratch))
        kills = sum(trials.killed(args.kills) for _ in range(args.solves))
        print(f"({kills} kills in {args.solves} solves)")
        for delay in (0.5, 2.0, 4.0)[: 1 if args.quick else 3]:
            trials.interrupted(delay)
            trials.parent_killed(delay)
        if not args.quick:
            trials.vanished()
            for kind in ("silent", "gigabytes"):
                trials.nobody(kind)
    return trials.told()


class _Trials:
    def __init__(self, scratch: Path) -> None:
        self._scratch, self._number = scratch, 0
        self._counts: dict[str, list[bool]] = {}
        (scratch / "job.toml").write_text(JOB)
        code, out, _ = self._ended(self._begun("--jobs", "1"))
        assert code == 0, out
        self._whole = _figures(out)

    def killed(self, kills: int) -> int:
        """Send SIGKILL to workers of a batch while they run jobs; return how many workers were killed."""
        running, done, rng = self._begun("--jobs", "2"), 0, random.Random(self._number)
        while done < kills and running.poll() is None:
            time.sleep(rng.uniform(0.5, 1.5))
            busy = [worker for worker in _workers(running.pid) if _seconds(worker) > 0.5]
            if busy:
                with suppress(OSError):
                    os.kill(rng.choice(busy), signal.SIGKILL)
                    done += 1
        code, out, err = self._ended(running)
        self._count("killed", code == 0 and _figures(out) == self._whole, err)
        return done

    def interrupted(self, delay: float) -> None:
        """Send Ctrl-C to a batch after ``delay`` seconds; check its exit code, its time, and that all is saved."""
        running = self._begun("--jobs", "2", "--set", "solve.max_sweeps=1000000")
        self._wait_for_jobs(running, delay)
        begun = time.monotonic()
        os.killpg(running.pid, signal.SIGINT)
        code, out, err = self._ended(running)
        took = time.monotonic() - begun
        good = code == 130 and took < 2 and "Traceback" not in err and _is_saved(out)
        self._count("interrupted", good, f"{took:.1f} s, {out} {err}")

    def parent_killed(self, delay: float) -> None:
        """Send SIGKILL to a batch after ``delay`` seconds, and check that its workers end and leave no files."""
        before = set(os.listdir("/dev/shm"))
        running = self._begun("--jobs", "2", "--set", "solve.max_sweeps=1000000")
        self._wait_for_jobs(running, delay)
        workers = _workers(running.pid)
        running.kill()
        running.wait()
        time.sleep(3.0)
        left = [worker for worker in workers if _is_alive(worker)]
        mine = {name for name in set(os.listdir("/dev/shm")) - before if f"-{running.pid}-" in name}
        self._count("parent killed", not left and not mine, f"left: {left} {mine}")

    def vanished(self) -> None:
        """Kill the Dask scheduler during a batch, and check that the batch ends with an error message."""
        with _cluster(self._scratch / "cluster") as (address, scheduler):
            running = self._begun("--dask", address, "--set", "solve.max_sweeps=1000000")
            time.sleep(8.0)
            scheduler.kill()
            begun = time.monotonic()
            code, _, err = self._ended(running)
            took = time.monotonic() - begun
        last = err.strip().splitlines()[-1]
        good = code == 1 and took < 10 and last.startswith("Error: Dask scheduler") and "Traceback" not in err
        self._count("vanished", good, f"{took:.1f} s, {err}")

    def nobody(self, kind: str) -> None:
        """Give a batch an address at which no Dask scheduler runs, and check that the batch refuses the address.

        Args:
            kind: "silent": a program at the address sends nothing; "gigabytes": it sends endless data.
        """
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=_answer, args=(server, kind), daemon=True).start()
            begun = time.monotonic()
            code, _, err = self._ended(self._begun("--dask", f"tcp://127.0.0.1:{server.getsockname()[1]}"))
            took = time.monotonic() - begun
        self._count(
            kind, code == 2 and took < 10 and "expected a Dask scheduler" in err, f"{took:.1f} s, {err}"
        )

    def told(self) -> int:
        """Print how often each trial ran and ended as it should; return the exit code."""
        print("| trial | runs | ended as it should |\n|---|---|---|")
        for name, ends in self._counts.items():
            print(f"| {name} | {len(ends)} | {sum(ends)} |")
        return int(not all(map(all, self._counts.values())))

    def _begun(self, *options: str) -> subprocess.Popen[str]:
        self._number += 1
        arguments = [
            "solve",
            self._scratch / "job.toml",
            "--out",
            self._scratch / str(self._number),
            "--json",
        ]
        return subprocess.Popen(
            [sys.executable, "-m", "spewy", *map(str, arguments), *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _ended(self, running: subprocess.Popen[str]) -> tuple[int, str, str]:
        try:
            out, err = running.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            out, err = running.communicate()
            err += f"\nthe batch was still running after {PATIENCE:.0f} s"
        return running.returncode, out, err

    def _wait_for_jobs(self, running: subprocess.Popen[str], delay: float) -> None:
        folder = self._scratch / str(self._number)
        while len(list(folder.glob(f"*/{STATUS}"))) < 2 and running.poll() is None:
            time.sleep(0.05)
        time.sleep(delay)

    def _count(self, name: str, good: bool, why: str) -> None:
        self._counts.setdefault(name, []).append(good)
        print(f"{name}: {'as it should' if good else f'NOT as it should: {why}'}", flush=True)


def _figures(out: str) -> list[tuple[int, float]]:
    return [(row["sweeps"], row["exploitability"]) for row in json.loads(out)]


def _is_saved(out: str) -> bool:
    """Whether a batch with JSON output ``out`` has made sweeps, and each job's folder has all sweeps of the job."""
    begun = [row for row in json.loads(out or "[]") if row["sweeps"]]
    for row in begun:
        with open_store(ROOT / row["folder"], read_only=True) as store:
            if saved_sweeps(store) != row["sweeps"]:
                return False
    return bool(begun)


def _workers(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if above == parent and "popen_loky" in (folder / "cmdline").read_text():
                found.append(int(folder.name))
    return found


def _seconds(process: int) -> float:
    """Return the processor time of a process in seconds; 0 if it has ended."""
    with suppress(OSError, IndexError):
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _is_alive(process: int) -> bool:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def _answer(server: socket.socket, kind: str) -> None:
    with suppress(OSError):
        connection, _ = server.accept()
        while kind == "gigabytes":
            connection.sendall(b"\x01" * (1 << 20))
        time.sleep(PATIENCE)


@contextmanager
def _cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    folder.mkdir()
    file = folder / "scheduler.json"
    processes = []
    for command, options in (("scheduler", ("--port", "0")), ("worker", ("--no-nanny", "--nthreads", "2"))):
        own = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{command}", *own, *options],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
    try:
        while not file.exists() or not file.stat().st_size:
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"], processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    as_command(main)
