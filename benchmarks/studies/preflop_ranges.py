"""Makes the shipped ranges before the flop of heads-up no-limit hold'em, from solves of whole games.

    python -m benchmarks.studies.preflop_ranges solve FOLDER [--depths 10,20,50,100,200] [--deals 15000]
    python -m benchmarks.studies.preflop_ranges write FOLDER [--flops 6] [--seed 1]

"solve" solves a whole game for each depth (the stack of both players in big blinds) in a folder of its own; after an
interruption the same command continues. The betting trees have bets of the pot and all-in; on turn and river
all-in is the only raise, before the flop the raises are those of `RAISES`.

"write" measures the exploitability of the solves, and writes their ranges and presets into `spewy/presets/preflop` and
their figures into `docs/how-to/preflop-ranges.md`. A range has the weight with which each of the 169 starting hands
takes all actions of one player along a line. Weights are rounded to `STEP`.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import numpy as np

import spewy
from benchmarks.command import as_command
from benchmarks.paths import ROOT
from buckets.cards import Deck, hand_index, parse_hand
from spewy.game.ranges import Range, format_range
from spewy.system.interrupts import INTERRUPTED

DATA, PAGE = ROOT / "spewy/presets/preflop", ROOT / "docs/how-to/preflop-ranges.md"
BIG_BLIND = 100
BUTTON = 1
STEP = 0.05
FEWEST = 20.0
"""Sum of the weights below which a range is left out, with all that follows: few deals have improved it."""
RAISES = {10: ("2x", "3x"), 20: ("2x", "3x"), 50: ("2.5x", "4x"), 100: ("2.5x", "4x"), 200: ("2.5x", "4x")}
"""Raises of the button and of the big blind before the flop, by depth; both can also go all-in."""
NAMES = {
    "c": "btn-limps",
    "r": "btn-raises",
    "a": "btn-jams",
    "cc": "bb-checks",
    "cr": "bb-raises-limp",
    "ca": "bb-jams-limp",
    "rc": "bb-calls-raise",
    "rr": "bb-3bets",
    "ra": "bb-jams-raise",
    "ac": "bb-calls-jam",
    "crc": "btn-limp-calls-raise",
    "crr": "btn-limp-reraises",
    "cra": "btn-limp-jams",
    "cac": "btn-limp-calls-jam",
    "rrc": "btn-calls-3bet",
    "rrr": "btn-4bets",
    "rra": "btn-jams-3bet",
    "rac": "btn-calls-3bet-jam",
    "crac": "bb-raise-calls-jam",
    "rrrc": "bb-calls-4bet",
    "rrra": "bb-jams-4bet",
    "rrac": "bb-3bet-calls-jam",
    "rrrac": "btn-4bet-calls-jam",
}
"""Names of ranges by their line: ``c`` checks, limps or calls, ``r`` raises, ``a`` goes all-in."""
DEEPEST = 20
"""Largest stack in pots for which there is a preset; deeper trees need too much memory from the flop on."""
SPOTS = {"cc": "limped", "rc": "srp", "crc": "limp-raised", "rrc": "3bet", "rrrc": "4bet"}
"""Names of presets by the line that leads to the flop."""
JOB = """\
name = "preflop-{depth:03}bb"

[game]
text = \"\"\"
GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = {chips} {chips}
blind = 100 50
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
\"\"\"

[bets]
preflop = {{ oop = {{ raise = "{bb}, a" }}, ip = {{ raise = "{button}, a" }} }}
flop = {{ bet = "100%, a", raise = "100%, a" }}
turn = {{ bet = "100%, a", raise = "a" }}
river = {{ bet = "100%, a", raise = "a" }}

[tree]
force_allin = 0.25

[boards]
flop = 60
turn = 90
river = 120

[rows]
flop = 20
turn = 20
river = 20

[solve]
target = "1 mbb"
max_sweeps = {deals}
check_every = "24 h"
cfr_br = 0.25
workers = 1
memory = "2 GiB"
"""


class Taken(NamedTuple):
    """A range: the hands with which a player takes the last action of a line.

    Attributes:
        line: the betting in letters: c (check or call), r (raise), a (all-in).
        words: the betting in words.
        player: the player who takes the last action.
        level: the larger of both players' chips in the pot.
        weights: ``[hand]``, probability that the player takes all own actions of the line.
        share: how often the player takes the action at the last decision of the line, from 0 to 1.
    """

    line: str
    words: str
    player: int
    level: int
    weights: np.ndarray
    share: float

    @property
    def rounded(self) -> np.ndarray:
        """The weights, rounded to multiples of 0.05."""
        return np.round(np.round(self.weights / STEP) * STEP, 2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    each = commands.add_parser("solve", help="solve a whole game for each depth")
    each.add_argument("folder", type=Path, help="folder of the solves")
    each.add_argument(
        "--depths", default=",".join(map(str, RAISES)), help="depths in big blinds, with commas between them"
    )
    each.add_argument("--deals", type=int, default=15_000, help="number of deals of each solve")
    each = commands.add_parser("write", help="write the ranges, the presets and the tables of the page")
    each.add_argument("folder", type=Path, help="folder of the solves")
    each.add_argument("--flops", type=int, default=6, help="number of random flops that measure a solve")
    each.add_argument("--seed", type=int, default=1, help="seed of the random flops")
    args = parser.parse_args()
    if args.command == "solve":
        for depth in map(int, args.depths.split(",")):
            solve(args.folder, depth, args.deals)
    else:
        write(args.folder, args.flops, args.seed)


def solve(folder: Path, depth: int, deals: int) -> None:
    """Solve the whole game of a depth, or continue its solve, in a folder inside of ``folder``."""
    button, bb = RAISES[depth]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{depth:03}bb.toml"
    file.write_text(JOB.format(depth=depth, chips=depth * BIG_BLIND, bb=bb, button=button, deals=deals))
    solution = spewy.solve(file, file.with_suffix(""))
    print(f"{depth} big blinds: {solution.sweeps:,} deals", flush=True)
    if solution.sweeps < deals:
        print("interrupted; the same command continues", file=sys.stderr)
        sys.exit(INTERRUPTED)


def write(folder: Path, flops: int, seed: int) -> None:
    """Write a file of ranges and presets for each solve in ``folder``, and the tables of the page."""
    solves, actions = [], []
    for depth in RAISES:
        where = folder / f"{depth:03}bb"
        if not where.exists():
            print(f"{where}: no solve, so nothing is written for {depth} big blinds")
            continue
        with spewy.Solution.open(where) as solution:
            ranges = kept(walk(solution, solution.node(ev=False)))
            deals = solution.sweeps
            measured = solution.exploitability(flops=flops, seed=seed, workers=1)
        assert measured.sample is not None  # a whole game with board buckets
        gap = f"{measured.exploitability_mbb:.0f} ± {measured.sample.stderr_mbb or 0.0:.0f}"
        DATA.mkdir(exist_ok=True)
        (DATA / f"hu-{depth:03}bb.toml").write_text(_file(depth, deals, gap, flops, ranges))
        solves.append(f"| {depth} | {deals:,} | {gap} | {len(ranges)} |")
        actions += _rows(depth, ranges)
        print(solves[-1], flush=True)
    _fill("solves", ["| big blinds | deals | exploitability, mbb | ranges |", "|---|---|---|---|", *solves])
    _fill("actions", ["| big blinds | the button | the big blind after a raise |", "|---|---|---|", *actions])


def kept(every: Iterable[Taken]) -> list[Taken]:
    """Return the ranges with a name and enough hands, unless the range of the line's previous action is left out."""
    out: list[Taken] = []
    for taken in every:  # a range comes after the range before it
        before = not taken.line[:-1] or any(each.line == taken.line[:-1] for each in out)
        if before and taken.line in NAMES and taken.rounded.sum() >= FEWEST:
            out.append(taken)
    return out


def walk(
    solution: spewy.Solution, node: spewy.NodeView, line: str = "", words: str = "", level: int = BIG_BLIND
) -> Iterator[Taken]:
    """Yield the range of each action before the flop other than a fold, from ``node`` on.

    Args:
        solution: the solve.
        node: a decision before the flop.
        line: the betting before the decision in letters: c (check or call), r (raise), a (all-in).
        words: the betting in words.
        level: the larger of both players' chips in the pot.
    """
    reach = float(node.reach.sum())
    numbers = hand_index(Deck(), np.array([parse_hand(name) for name in node.hands]))
    steps = [step for step in node.children if step.name != "fold"]
    for step in steps:
        name = step.name.partition(" ")[0]
        letter = {"all-in": "a", "raise": "r"}.get(name, "c")
        now = int(step.name.rpartition(" ")[2]) if letter != "c" else level
        weights = np.zeros(len(numbers))
        weights[numbers] = node.reach * node.strategy[node.actions.index(step.name)]
        player = "the button" if node.player == BUTTON else "the big blind"
        told = f"{words}{', ' if words else ''}{player} {_verb(line, letter, name, now)}"
        share = float(weights.sum()) / reach if reach else 0.0
        yield Taken(line + letter, told, node.player, now, weights, share)
        if step.kind == "decision" and len(line) < max(map(len, NAMES)):
            yield from walk(solution, solution.node(step.line, ev=False), line + letter, told, now)


def _verb(line: str, letter: str, name: str, level: int) -> str:
    if letter == "a":
        return "goes all-in"
    if letter == "r":
        return f"{'re-raises' if 'r' in line else 'raises'} to {level / BIG_BLIND:g}"
    return "checks" if name == "check" else "calls" if line else "limps"


def _file(depth: int, deals: int, gap: str, flops: int, ranges: list[Taken]) -> str:
    """Return the text of the file with a depth's ranges and presets; ``gap`` is the exploitability in mbb, as text."""
    head = (
        f"Ranges before the flop of heads-up no-limit hold'em with {depth} big blinds. Deals of the solve: {deals:,}. "
        f"In its own betting tree, without buckets, the whole strategy is exploitable for {gap} mbb (thousandths of a "
        f"big blind) per hand; {flops} random flops were measured. Weights are rounded to {STEP}. "
        "Written by: python -m benchmarks.studies.preflop_ranges write"
    )
    parts = [fill(head, 118, initial_indent="# ", subsequent_indent="# ")]
    texts = {taken.line: f"hu-{depth}bb-{NAMES[taken.line]}" for taken in ranges}
    for taken in ranges:
        about = f"Heads-up, {depth} big blinds: {taken.words}."
        parts.append(f'[ranges.{texts[taken.line]}]\nabout = "{about}"\nrange = """\n{_text(taken)}\n"""')
    for taken in ranges:
        if taken.line not in SPOTS or depth * BIG_BLIND - taken.level > DEEPEST * 2 * taken.level:
            continue
        pair = {taken.player: texts[taken.line], 1 - taken.player: texts[taken.line[:-1]]}
        big, behind = taken.level / BIG_BLIND, depth - taken.level / BIG_BLIND
        raises = taken.line.count("r")
        raiser = f'raiser = "{("oop", "ip")[1 - taken.player]}"\n' if raises else ""
        parts.append(
            f"[presets.hu-{depth}bb-{SPOTS[taken.line]}]\n"
            f'about = "heads-up, {depth} big blinds, solved: {taken.words}"\n'
            f'pot = {2 * big:g}\nstack = {behind:g}\noop = "{pair[0]}"\nip = "{pair[1]}"\n{raiser}'.rstrip()
        )
    return "\n\n".join(parts) + "\n"


def _text(taken: Taken) -> str:
    groups = format_range(Range(taken.rounded)).replace(",", ", ")
    return fill(groups, 110, break_on_hyphens=False).replace(", ", ",").replace(",\n", "\n")


def _rows(depth: int, ranges: list[Taken]) -> list[str]:
    """Return a list of one Markdown row: how often the button, and the big blind after a raise, takes each action.

    An action whose range is not in ``ranges`` counts as a fold.
    """
    share = {taken.line: taken.share for taken in ranges}

    def cell(actions: dict[str, str]) -> str:
        known = {words: share.get(line, 0.0) for line, words in actions.items()}
        mixes = [f"{words} {often:.0%}" for words, often in known.items() if often >= 0.005]
        return ", ".join([f"fold {1 - sum(known.values()):.0%}", *mixes])

    button = cell({"c": "limp", "r": "raise", "a": "all-in"})
    return [f"| {depth} | {button} | {cell({'rc': 'call', 'rr': 're-raise', 'ra': 'all-in'})} |"]


def _fill(name: str, rows: list[str]) -> None:
    """Replace a table of the page, between the two comments with its name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(before + begin + "\n\n" + "\n".join(rows) + "\n\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    as_command(main)
