"""Time of one decision from a folder: opened and asked in a fresh process, then asked again in the same one.

    python -m benchmarks.speed.policy [--jobs T1,F1] [--sweeps 10] [--processes 15] [--answers 200] [--quick]

Solves each job for a few sweeps into a folder of its own. "open and first" is `open_policy` and one hand's
frequencies at a random decision of the last round, in a process that has imported it and done nothing else. The
rest are later answers there, each for one hand: "same" in the same betting round on the same board, "new board" on
one that was not asked for before, "new line" in a betting round that was not, "new both". Medians in ms over all
processes.
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
"""Print the row of one job; the goals are those of the project."""
LIMITS_MS = (50.0, 1.0, 1.0, 1.0, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", default="T1,F1")
    parser.add_argument("--sweeps", type=int, default=10)
    parser.add_argument("--processes", type=int, default=15)
    parser.add_argument(
        "--answers", type=int, default=200, help="number of answers of each kind, in all processes"
    )
    parser.add_argument("--quick", action="store_true", help="T1 alone, 2 sweeps, 3 processes, 30 answers")
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
        print(f"| {name} | " + " | ".join(f"{1e3 * median(found):.3f}" for found in times) + " |", flush=True)
    print("| at most | " + " | ".join(f"{limit:g}" for limit in LIMITS_MS) + " |")


def measured(job: Job, folder: str, processes: int, answers: int) -> list[list[float]]:
    """Seconds of each kind of answer."""
    out: list[list[float]] = [[] for _ in KINDS]
    for seed in range(processes):
        for found, times in zip(out, ask(questions(job, folder, answers, seed)), strict=True):
            found += times
    return out


def questions(job: Job, folder: str, answers: int, seed: int) -> list:
    """Return the input of a process: the folder, its first question, and a number of further questions of each kind."""
    rng = random.Random(seed)
    last = job.rules.num_rounds - 1
    lines: dict[str, list[Node]] = {}
    for node in job.betting_tree.nodes():
        if node.kind == "decision" and node.round == last:
            lines.setdefault(entry_line(node.line), []).append(node)
    left = [card for card in job.rules.deck.cards if card not in job.board]
    boards = list(combinations(left, sum(job.rules.num_board_cards) - len(job.board)))
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


def ask(told: list) -> list[list[float]]:
    """Return the times that a fresh process measures."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )
    return json.loads(run.stdout)


if __name__ == "__main__":
    main()
