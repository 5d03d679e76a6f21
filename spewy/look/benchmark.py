"""Benchmark games for papers: rivers, turns and a flop with exact values, as jobs and as files of other programs.

`write_matrices` writes a game in sequence form (von Stengel 1996) as a NumPy file, `write_efg` its whole tree in the
format of Gambit, which OpenSpiel reads too (``efg_game``). Values and payoffs are chips of the game between the two
players, in which each of them has put half of the pot: oop's EV is the value plus half of the pot.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from buckets.cards import hand_name
from solvers.game import Hands, LiveGame
from solvers.matrix.lp import live_form
from solvers.tree import DECISION, FOLD, Floats, ForestArrays
from spewy.chunks.layout import Layout
from spewy.errors import InputError, path_text, shown
from spewy.job.job import Job, SpotJob
from spewy.job.shipped import FOLDER as EXAMPLES
from spewy.system.tools import as_path

FOLDER = EXAMPLES / "benchmark"
MOST_NODES = 100_000
"""Largest number of nodes of a game tree that is written as a file of Gambit."""
MOST_PAYOFFS = 4_000_000
"""Largest number of payoffs that are written as a matrix: hands of oop × hands of ip × leaves × boards."""


@dataclass(frozen=True)
class BenchmarkGame:
    """A game of the benchmark.

    Attributes:
        about: description of the game.
        text: the job file.
        value: chips that oop wins from ip on average if both play perfectly and each has put in half of the pot; the
            error is at most ``within``.
        method: how the value was computed: ``"lp"``, a linear program, or ``"cfr"``, bounded by both players' best
            responses.
    """

    name: str
    about: str
    text: str
    value: float
    within: float
    method: str

    @property
    def job(self) -> SpotJob:
        job = Job.load(FOLDER / f"{self.name}.toml")
        assert isinstance(job, SpotJob)
        return job


@cache
def benchmark_games() -> tuple[BenchmarkGame, ...]:
    """Return all games of the benchmark, rivers first.

    >>> [game.name for game in benchmark_games()][:3]
    ['river-small', 'river-medium', 'river-wide']
    """
    values: Mapping[str, Mapping[str, Any]] = json.loads((FOLDER / "values.json").read_text("utf-8"))
    texts = {name: (FOLDER / f"{name}.toml").read_text("utf-8") for name in values}
    return tuple(
        BenchmarkGame(
            name, texts[name].partition("\n")[0].removeprefix("# Benchmark: "), texts[name], **value
        )
        for name, value in values.items()
    )


def write_benchmark(folder: str | Path) -> Iterator[Path]:
    """Write all games into a folder: a job for each, small games also as matrices and as a tree, and all values.

    Yields:
        The path of each file, when it is written.

    Raises:
        InputError: a file of the folder differs from the job of the same name.
    """
    where = as_path(folder, "folder")
    if where.exists() and not where.is_dir():
        raise InputError(f"folder {path_text(where)}: expected a folder, found a file; give another name")
    texts = {f"{game.name}.toml": game.text for game in benchmark_games()}
    texts["values.json"] = (FOLDER / "values.json").read_text("utf-8")
    for name, text in texts.items():
        file = where / name
        if file.exists() and file.read_bytes() != text.encode():
            raise InputError(
                f"file {path_text(file)} exists and differs from the example; give another folder, or move it away"
            )
    where.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (where / name).write_text(text, encoding="utf-8")
        yield where / name
    for game in benchmark_games():
        live = _zero_sum_game(game.job)
        if n_payoffs(live) <= MOST_PAYOFFS:
            yield write_matrices(game.job, where / f"{game.name}.npz")
        if len(live.rounds) == 1 and n_nodes(live) <= MOST_NODES:
            yield write_efg(game.job, where / f"{game.name}.efg")


def n_payoffs(live: LiveGame) -> int:
    """Return the number of payoffs of a game in sequence form; pairs of hands that share a card count, too."""
    return sum(
        r.n_boards
        * int(np.sum(r.forest.arrays.kind != DECISION))
        * r.hands[0].row.shape[1]
        * r.hands[1].row.shape[1]
        for r in live.rounds
    )


def n_nodes(live: LiveGame) -> int:
    """Return the number of nodes of the tree of a one-round game; pairs of hands that share a card count, too."""
    r = live.rounds[0]
    return r.forest.n_nodes * int(r.hands[0].n_hands[0]) * int(r.hands[1].n_hands[0])


def write_matrices(job: Job, path: str | Path) -> Path:
    """Write a spot in sequence form into a NumPy file: oop maximises, and ip minimises, ``x @ A @ y``.

    The realisation plans x of oop and y of ip satisfy ``E @ x = e``, ``F @ y = f`` and are at least 0. A sparse matrix
    is three arrays, for example ``A_row``, ``A_column`` and ``A_value``, and ``A_shape``. In a game of one round, entry
    ``s * n + h`` of the plan of a player with n hands belongs to hand h (of ``oop_hands`` or ``ip_hands``) and
    sequence s: s = 0 is no action yet, and s = a + 1 is action a of ``oop_actions`` or ``ip_actions``. Later rounds
    have a block of entries for each board.

    Raises:
        InputError: the job is no spot, or has rake or locks.
    """
    live = _zero_sum_game(job)
    form = live_form(live, pairs=True)
    arrays: dict[str, Any] = {}
    matrices = {"A": form.payoff / live.deal_weight, "E": form.flow[0], "F": form.flow[1]}
    for name, matrix in matrices.items():
        entries = sparse.coo_matrix(matrix)
        arrays |= {f"{name}_row": entries.row, f"{name}_column": entries.col, f"{name}_value": entries.data}
        arrays[f"{name}_shape"] = np.array(entries.shape)
    arrays |= {"e": form.inflow[0], "f": form.inflow[1]}
    betting = Layout.of(_lp_job(job).problem).betting[0]
    for p, seat in enumerate(("oop", "ip")):
        arrays[f"{seat}_hands"] = np.array(_names(live.rounds[0].hands[p]))
        arrays[f"{seat}_actions"] = np.array(
            [
                f"{node.line} {action.label}".strip()
                for node in betting.nodes
                if node.kind == "decision" and node.player == p
                for action in node.actions
            ]
        )
    where = as_path(path, "file")
    with where.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return where


def write_efg(job: Job, path: str | Path) -> Path:
    """Write the tree of a spot of one round in the format of Gambit: both hands are dealt, then the players bet.

    Raises:
        InputError: the job is no river, has rake or locks, or its tree has more than `MOST_NODES` nodes.
    """
    live = _zero_sum_game(job)
    if len(live.rounds) > 1:
        raise InputError(
            f"job {job.name}: expected a river; trees with cards to come are too large for this format"
        )
    if n_nodes(live) > MOST_NODES:
        raise InputError(
            f"job {job.name}: expected a tree of at most {MOST_NODES:,} nodes, found {n_nodes(live):,}; "
            "give narrower ranges or fewer bets"
        )
    where = as_path(path, "file")
    nodes = Layout.of(_lp_job(job).problem).betting[0].nodes
    labels = [[action.label for action in node.actions] for node in nodes]
    text = "\n".join(_Tree(live, labels).lines(job.name))
    where.write_text(f"{text}\n", encoding="utf-8")
    return where


class _Tree:
    """The tree of a game of one round, node by node in the order of Gambit's format.

    Args:
        labels: the names of the actions of each node.
    """

    def __init__(self, live: LiveGame, labels: Sequence[Sequence[str]]) -> None:
        r = live.rounds[0]
        self._arrays: ForestArrays = r.forest.arrays
        self._labels, self._hands, self._outcomes = labels, r.hands, 0
        self._sets: tuple[dict[tuple[int, int], int], ...] = ({}, {})
        self._names = _names(r.hands[0]), _names(r.hands[1])
        first, second = (
            each.cards[0, : len(names)] for each, names in zip(r.hands, self._names, strict=True)
        )
        apart = ~(first[:, None, :, None] == second[None, :, None, :]).any(axis=(2, 3))
        weights: Floats = live.reach[0][0][:, None] * live.reach[1][0][None, :] * apart
        self._probability = weights / weights.sum()

    def lines(self, name: str) -> Iterator[str]:
        pairs = [(int(i), int(j)) for i, j in np.argwhere(self._probability > 0)]
        deals = " ".join(
            f'"{self._names[0][i]} {self._names[1][j]}" {float(self._probability[i, j])!r}' for i, j in pairs
        )
        yield f'EFG 2 R "{name}" {{ "oop" "ip" }}'
        yield '""'
        yield f'c "deal" 1 "" {{ {deals} }} 0'
        for pair in pairs:
            yield from self._node(0, pair)

    def _node(self, n: int, pair: tuple[int, int]) -> Iterator[str]:
        a = self._arrays
        if a.kind[n] == DECISION:
            p, hand = int(a.player[n]), pair[int(a.player[n])]
            actions = " ".join(f'"{label}"' for label in self._labels[n])
            known = self._sets[p]  # OpenSpiel needs the numbers of a player's information sets without a gap
            number = known.setdefault((n, hand), len(known) + 1)
            yield f'p "" {p + 1} {number} "{self._names[p][hand]} {n}" {{ {actions} }} 0'
            for k in range(int(a.n_actions[n])):
                yield from self._node(int(a.first_child[n]) + k, pair)
            return
        self._outcomes += 1
        strength = [int(self._hands[p].strength[0, pair[p]]) for p in (0, 1)]
        share = 1 if a.kind[n] == FOLD else np.sign(strength[0] - strength[1])
        chips = float(a.stake[n] * share) + 0.0
        yield f't "" {self._outcomes} "" {{ {chips:g} {-chips + 0.0:g} }}'


def _names(hands: Hands) -> list[str]:
    return [hand_name(cards) for cards in hands.cards[0, : int(hands.n_hands[0])]]


def _lp_job(job: Job) -> Job:
    """Return the job with a linear program as its method, so that boards that are equal up to suits are not merged."""
    if not isinstance(job, SpotJob):
        raise InputError(f"job {shown(job.name)}: expected a spot, found a whole game")
    if job.problem.locks or (job.spot is not None and job.spot.rake is not None):
        raise InputError(f"job {job.name}: expected a game without rake and locks, whose value is defined")
    return job.replace(method="lp", variant=None)


def _zero_sum_game(job: Job) -> LiveGame:
    return Layout.of(_lp_job(job).problem).live
