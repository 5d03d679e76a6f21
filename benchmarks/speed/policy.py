"""Time in which `open_policy` returns the frequencies of one hand: the first time, and later in the same process.

    python -m benchmarks.speed.policy [--jobs T1,F1] [--sweeps 10] [--processes 15] [--answers 200] [--quick]

Each job is solved for a few sweeps. Then each of several processes opens the folder and asks for the frequencies of one
hand at a random decision of the last round; "open and first" is the time of both. Later questions of the process are
for one hand each: "same" with the line into the last round and the board of the first question, "new board" with a
board that the process has not asked for yet, "new line" with a new line into the last round, "new both" with both new.
The table has medians over all processes in ms.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from itertools import combinations
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from buckets.cards import Deck, cards_name, hand_name, hands
from spewy import Job, solve
from spewy.game.nodes import Node, entry_line

HANDS = hands(Deck(), 2).tolist()
ASK = """
import json, sys, time
import spewy
from spewy.look.folder import open_policy
folder, first, *portions = json.loads(sys.stdin.read())
started = time.perf_counter()
policy = open_policy(folder)
policy.frequencies(*first)
out = [[time.perf_counter() - started]]
for portion in portions:
    times = []
    for question in portion:
        started = time.perf_counter()
        policy.frequencies(*question)
        times.append(time.perf_counter() - started)
    out.append(times)
print(json.dumps(out))
"""
KINDS = ("open and first", "same", "new board", "new line", "new both")
"""Kinds of measured questions; the docstring of the module explains them."""
LIMITS_MS = (50.0, 1.0, 1.0, 1.0, 1.0)
"""Goal of the project for the time of each kind of question, in ms."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--jobs", default="T1,F1", help="names of the jobs to solve, with commas between them"
    )
    parser.add_argument("--sweeps", type=int, default=10, help="number of sweeps of each solve")
    parser.add_argument(
        "--processes",
        type=int,
        default=15,
        help="number of processes that open the folder and ask for frequencies",
    )
    parser.add_argument(
        "--answers",
        type=int,
        default=200,
        help="number of questions of each kind after the first, in all processes together",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run a short benchmark: only T1, 2 sweeps, 3 processes, 30 questions",
    )
    options = parser.parse_args()
    if options.quick:
        options.jobs, options.sweeps, options.processes, options.answers = "T1", 2, 3, 30
    print("| job | " + " | ".join(f"{kind} ms" for kind in KINDS) + " |")
    print("|---|" + "---|" * len(KINDS))
    for name in options.jobs.split(","):
        with TemporaryDirectory() as folder:
            job = Job.load(ROOT / f"examples/{name}.toml", [f"solve.max_sweeps={options.sweeps}"])
            solve(job, folder)
            times = measured(job, folder, options.processes, -(-options.answers // options.processes))
        print(f"| {name} | " + " | ".join(f"{1e3 * median(kind):.3f}" for kind in times) + " |", flush=True)
    print("| goal | " + " | ".join(f"{limit:g}" for limit in LIMITS_MS) + " |")


def measured(job: Job, folder: str, processes: int, answers: int) -> list[list[float]]:
    """Measure how long a folder's policy takes to return the frequencies of one hand.

    Args:
        job: job of the folder.
        folder: folder of the solved job.
        processes: number of processes that open the folder, one after another.
        answers: number of questions of each kind in each process; besides, each process has one first question.

    Returns:
        The seconds of all questions of all processes, a list for each kind: "open and first", "same", "new board",
        "new line", "new both".
    """
    out: list[list[float]] = [[] for _ in KINDS]
    for seed in range(processes):
        for all_times, times in zip(out, ask(questions(job, folder, answers, seed)), strict=True):
            all_times += times
    return out


def questions(job: Job, folder: str, answers: int, seed: int) -> list:
    """Draw the questions of one process: lists [line, board, hand], for the hand's frequencies after the line.

    Returns:
        The folder, the first question, and a list of questions for each of "same", "new board", "new line", "new both".
    """
    rng = random.Random(seed)
    last = job.rules.num_rounds - 1
    lines: dict[str, list[Node]] = {}
    for node in job.betting_tree.nodes():
        if node.kind == "decision" and node.round == last:
            lines.setdefault(entry_line(node.line), []).append(node)
    remaining = [card for card in job.rules.deck.cards if card not in job.board]
    boards = list(combinations(remaining, sum(job.rules.num_board_cards) - len(job.board)))
    answers = min(answers, len(lines) // 2)
    base, *rounds = rng.sample(list(lines), 2 * answers)
    dealt, *new = rng.sample(boards, 2 * answers)

    def question(line: str, more: tuple[int, ...]) -> list:
        node, board = rng.choice(lines[line]), [*job.board, *more]
        held = [
            h for h, cards in enumerate(HANDS) if job.weights[node.player][h] > 0 and not {*cards} & {*board}
        ]
        return [node.line, cards_name(board), hand_name(HANDS[rng.choice(held)])]

    return [
        folder,
        question(base, dealt),
        [question(base, dealt) for _ in range(answers)],
        [question(base, more) for more in new[: answers - 1]],
        [question(line, dealt) for line in rounds[: answers - 1]],
        [question(*pair) for pair in zip(rounds[answers:], new[answers:], strict=True)],
    ]


def ask(process_input: list) -> list[list[float]]:
    """Run a process that opens a folder and asks for the frequencies of hands.

    Args:
        process_input: the folder and the questions, as `questions` returns them.

    Returns:
        The seconds of each answer, a list for each kind of question: first "open and first", then as in `questions`.
    """
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps(process_input),
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )
    return json.loads(run.stdout)


if __name__ == "__main__":
    as_command(main)
