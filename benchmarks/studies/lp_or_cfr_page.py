"""Results of `lp_or_cfr`: their tables, their CSV file, and their picture for ``docs/research/lp-or-cfr.md``."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from spewy.errors import InputError
from spewy.look.chunk_game import OneChunk

TARGETS = (1.0, 0.1, 0.01, 0.001)  # % of the pot
COLOURS = {"cfr": "#8c8c8c", "lcfr": "#c98bdb", "pcfr+": "#2a9d8f", "cfr+": "#1f77b4", "dcfr": "#d1495b"}
LP = {"simplex": "highs-ds", "interior point": "highs-ipm"}


@dataclass(frozen=True)
class CfrRun:
    """Measured times and accuracy of a CFR variant on a chunk.

    Attributes:
        iterations: number of iterations to each target (in % of the pot); None: the target was not reached.
        seconds: seconds to each target (in % of the pot); None: the target was not reached.
        trace: pairs (iterations, local exploitability in % of the pot).
    """

    iterations: dict[float, int | None]
    seconds: dict[float, float | None]
    trace: list[tuple[int, float]]

    @property
    def pace(self) -> float:
        """Seconds that one iteration takes, from the longest timed run."""
        timed = [
            (n, s) for n, s in zip(self.iterations.values(), self.seconds.values(), strict=True) if n and s
        ]
        return timed[-1][1] / timed[-1][0] if timed else float("nan")


@dataclass(frozen=True)
class LpRun:
    """Seconds, local exploitability in % of the pot (accuracy) and iterations of an LP method on a chunk."""

    seconds: float
    accuracy: float
    iterations: int


@dataclass
class Measured:
    """A chunk, and the results of the CFR variants and LP methods that solved it, by their names."""

    chunk: OneChunk
    cfr: dict[str, CfrRun] = field(default_factory=dict)
    lp: dict[str, LpRun] = field(default_factory=dict)

    @property
    def held(self) -> tuple[int, int]:
        """Number of rows with weight in each player's range; rows without weight cost a linear program no time."""
        first, second = (int(np.sum(weights > 0)) for weights in self.chunk.ranges)
        return first, second

    @property
    def size(self) -> float:
        """Geometric mean of both players' numbers of rows with weight (`held`)."""
        return float(np.sqrt(self.held[0] * self.held[1]))


def main_table(measured: Measured) -> list[str]:
    chunk = measured.chunk
    rows = " and ".join(str(n) for n in dict.fromkeys(chunk.chunk.n_rows))
    lines = [
        f"The chunk has {rows} rows, of which oop's range holds {measured.held[0]} and ip's range {measured.held[1]}; "
        f"its pot is {chunk.pot:g} chips, and its betting has {len(chunk.decisions)} decisions and "
        f"{len(chunk.leaves)} leaves. The table has the time (and in brackets the number of iterations) in which each "
        "method reaches a local exploitability, the exploitability inside the chunk, in % of the pot. An LP has its "
        'result only at the end, so its time is the same for all accuracies (").',
        "",
        "| method | time per iteration | "
        + " | ".join(f"to {goal:g} %" for goal in TARGETS)
        + " | lowest exploitability reached |",
        "|---" * (len(TARGETS) + 3) + "|",
    ]
    for name, run in measured.cfr.items():
        cells = [
            "–" if s is None else f"{duration(s)} ({n:,})"
            for n, s in zip(run.iterations.values(), run.seconds.values(), strict=True)
        ]
        best = min(found for _, found in run.trace)
        lines.append(f"| {name} | {duration(run.pace)} | {' | '.join(cells)} | {best:.2g} % |")
    for name, lp in measured.lp.items():
        once = [f"{duration(lp.seconds)} ({lp.iterations:,})", *['"'] * (len(TARGETS) - 1)]
        lines.append(f"| LP {name} | | {' | '.join(once)} | {lp.accuracy:.0e} % |")
    return [*lines, ""]


def scaling_table(found: dict[str, Measured]) -> list[str]:
    goals = TARGETS[:3]
    lines = [
        "The table has the times of `dcfr`, `cfr+` and the LP methods (with sparse arrays) to a local exploitability "
        "(the exploitability inside the chunk) in % of the pot, by the number of rows. The last three columns divide "
        "the time of the faster LP method by the time of `dcfr` (21 means that `dcfr` is 21 times as fast).",
        "",
        "| rows (in the range of oop × ip) | "
        + " | ".join(f"dcfr to {goal:g} %" for goal in goals)
        + " | cfr+ to 0.1 % | LP simplex | LP interior point | "
        + " | ".join(f"LP / dcfr to {goal:g} %" for goal in goals)
        + " |",
        "|---" * (len(goals) + 7) + "|",
    ]
    for rows, measured in found.items():
        dcfr, plus = measured.cfr["dcfr"], measured.cfr["cfr+"]
        lps = [measured.lp.get(f"{name}, sparse") for name in LP]
        best = min((lp.seconds for lp in lps if lp), default=None)
        cells = [duration(dcfr.seconds[goal]) for goal in goals] + [duration(plus.seconds[0.1])]
        cells += [duration(lp.seconds if lp else None) for lp in lps]
        for goal in goals:
            seconds = dcfr.seconds[goal]
            cells.append("–" if best is None or not seconds else ratio_text(best / seconds))
        held = " × ".join(map(str, measured.held))
        lines.append(f"| {rows} ({held}) | " + " | ".join(cells) + " |")
    return [*lines, ""]


def ratio_text(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"


def duration(seconds: float | None) -> str:
    if seconds is None or seconds != seconds:
        return "–"
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size or unit == "µs":
            number = seconds / size
            return f"{number:.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"
    return "–"


def write_page(page: Path, table: str, name: str = "whole games") -> None:
    """Write a table into a page, between two comments with its name."""
    text = page.read_text()
    begin, end = (f"<!-- {name}: {edge} -->" for edge in ("begin", "end"))
    if begin not in text or end not in text:
        raise InputError(f"{page}: expected the lines {begin} and {end}, found none")
    between = f"{begin}\n\n{table}\n{end}"
    page.write_text(re.sub(f"{begin}.*?{end}", lambda _: between, text, flags=re.DOTALL))


def write_csv(path: Path, chunks: list[tuple[str, dict[str, Measured]]]) -> None:
    """Write a row for each measured time; its seconds are empty if CFR did not reach the accuracy."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("chunk", "rows", "method", "accuracy_pct", "seconds", "iterations"))
        for title, found in chunks:
            for label, measured in found.items():
                for name, run in measured.cfr.items():
                    for goal, seconds in run.seconds.items():
                        cells = ("", "") if seconds is None else (f"{seconds:.3g}", run.iterations[goal])
                        rows.writerow((title, label, name, f"{goal:g}", *cells))
                for name, lp in measured.lp.items():
                    cells = (f"{lp.accuracy:.0e}", f"{lp.seconds:.3g}", lp.iterations)
                    rows.writerow((title, label, f"LP {name}", *cells))


def draw(pictures: list[tuple[str, dict[str, Measured]]], main: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    for (title, found), (left, right) in zip(pictures, axes, strict=True):
        _draw_accuracy(left, f"{title}, {main} rows: accuracy against time", found[main])
        _draw_scaling(right, f"{title}: time against rows", found)
    figure.savefig(path, dpi=110)


def _draw_accuracy(axis, title: str, measured: Measured) -> None:
    for name in COLOURS:
        run = measured.cfr[name]
        n, accuracy = np.array(run.trace).T
        axis.loglog(n * run.pace * 1e3, accuracy, color=COLOURS[name], label=name, linewidth=1.6)
    for (name, _), style in zip(LP.items(), ("-", "--"), strict=True):
        lp = measured.lp.get(f"{name}, sparse")
        if lp:
            axis.axvline(lp.seconds * 1e3, color="black", linestyle=style, linewidth=1.2, label=f"LP, {name}")
    axis.set(title=title, xlabel="time (ms)", ylabel="local exploitability (% of the pot)", ylim=(5e-4, 30))
    axis.grid(alpha=0.25)
    axis.legend(fontsize=8, loc="lower left")


def _draw_scaling(axis, title: str, found: dict[str, Measured]) -> None:
    for goal, style in zip(TARGETS[:3], (":", "--", "-"), strict=True):
        points = [(m.size, m.cfr["dcfr"].seconds[goal]) for m in found.values()]
        points = [(k, s * 1e3) for k, s in points if s]
        axis.loglog(
            *zip(*points, strict=True),
            "o",
            linestyle=style,
            color=COLOURS["dcfr"],
            markersize=4,
            label=f"dcfr to {goal:g} %",
        )
    for (name, _), style in zip(LP.items(), ("-", "--"), strict=True):
        points = [
            (m.size, m.lp[f"{name}, sparse"].seconds * 1e3)
            for m in found.values()
            if f"{name}, sparse" in m.lp
        ]
        if points:
            axis.loglog(
                *zip(*points, strict=True),
                "s",
                linestyle=style,
                color="black",
                markersize=4,
                label=f"LP, {name}",
            )
    sizes = [m.size for m in found.values()]
    axis.set(title=title, xlabel="rows held by a player (geometric mean)", ylabel="time (ms)")
    axis.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
    axis.minorticks_off()
    axis.grid(alpha=0.25)
    axis.legend(fontsize=8, loc="upper left")
