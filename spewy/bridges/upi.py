"""The protocol UPI of PioSOLVER and jesolver: a server that answers one line after another.

    set_end_string END      ->  set_end_string ok! / END
    load_tree results/T1    ->  load_tree ok! / END
    show_strategy r:0:c     ->  a line of 1,326 numbers for each action / END

Each answer ends with the client's end string. What the server cannot do is answered by one line ``ERROR: ...``.
Commands that PioSOLVER has, and that need no work here, are accepted (`ACCEPTED`).
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from shutil import copytree
from time import monotonic
from typing import Any, TextIO

import numpy as np
from joblib import cpu_count

from buckets.cards import card_name
from buckets.errors import CardError
from lockers import LockerError, open_store
from solvers.tree import Floats
from spewy.bridges.pioviewer import pioviewer_text
from spewy.bridges.upi_spot import UpiSpot, lock_entry, range_text
from spewy.bridges.upi_tree import N_HANDS, ROOT, SEATS, HandValues, NodeFacts, UpiTree
from spewy.chunks.locate import Place
from spewy.errors import (
    InputError,
    NotSolvedError,
    SpewyError,
    error_line,
    nearest,
    one_line,
    path_text,
    shown,
)
from spewy.game.ranges.hand_kinds import DRAWS, MADE, kinds_of
from spewy.game.ranges.range import combo_name
from spewy.game.ranges.text import pio_hands
from spewy.job.job import Job, SpotJob
from spewy.look.solution import Solution
from spewy.run.drop import drop
from spewy.run.events import Checked, Event
from spewy.run.session import Session
from spewy.system.folders import scratch_folder
from spewy.system.textfile import read_text
from spewy.system.tools import Closing

VERSION = "3.0.0"
"""Version of the protocol that `show_version` answers."""
BANNER = "Spewy, which speaks UPI"
ACCEPTED = {
    "set_recalc_accuracy": "trees are never recalculated",
    "set_always_recalc": "trees are never recalculated",
    "set_isomorphism": "boards that are equal up to suits are always solved once",
    "set_info_freq": "progress is told once a second",
    "load_all_nodes": "nodes are read when they are asked for",
    "rebuild_forgotten_streets": "dropped rounds are solved again when they are asked for",
    "is_ready": "each line is answered before the next one is read",
    "take_a_break": "the server rests between two lines",
    "reset_tree_info": "`show_tree_info` describes the tree itself",
    "add_info_line": "`show_tree_info` describes the tree itself",
}
"""Commands that are answered with ``ok!`` and need no work, each with the reason."""
REFUSED = {
    "calc_eq_preflop": "trees begin on the flop, turn or river; calc_eq_node has the equities there",
    "eliminate_path": "remove the line with remove_line before build_tree, or lock the node with lock_node",
    "set_equal_strats": "new solves begin with equal frequencies anyway",
    "set_mes": "strategies are averages of all sweeps; calc_results has the values of best responses",
    "solve_all_splits": "solve the whole tree with go",
    "solve_partial": "solve the whole tree with go, or build a smaller tree with the ranges that show_range prints",
}
"""Commands of PioSOLVER that this server does not have, each with what to do instead."""
MOST_SCRIPTS = 8
"""Largest depth of scripts that load further scripts."""
WHILE_RUNNING = ("stop", "wait_for_solver", "is_tree_present", "echo", "show_version", "show_hand_order")
"""Commands that are answered while the solver runs."""
MOST_THREADS = 1024
MOST_OF_LINK = 4096
"""Largest size of a file that names the folder of a solve, in bytes."""
KEPT_ROUNDS = {"full": 3, "no_rivers": 2, "no_turns": 1}
"""The words after ``dump_tree FILE``, each with the last round of the game whose strategies are kept."""


class UpiServer(Closing):
    """Answers the commands of UPI.

    Args:
        out: stream for the answers.
    """

    def __init__(self, out: TextIO) -> None:
        self._out, self._talking = out, threading.RLock()
        self._end: str | None = None
        self._spot = UpiSpot()
        self._job: SpotJob | None = None
        self._tree: UpiTree | None = None
        self._strategies: dict[str, Floats] = {}
        self._work: _Work | None = None
        self._begin: Callable[[], None] | None = None  # begins a solve after the answer to ``go``
        self._depth = 0
        self._commands: dict[str, Callable[[list[str]], Iterable[str]]] = {
            name.removeprefix("_do_"): getattr(self, name) for name in dir(self) if name.startswith("_do_")
        }

    def serve(self, lines: Iterable[str]) -> None:
        """Answer the lines of a client until they end, or until it says ``exit``."""
        self._say(BANNER)
        for line in lines:
            if line.strip() == "exit":
                return
            self.answer(line)

    def answer(self, line: str) -> None:
        """Answer one line; the answer to an empty line and to a comment (``#``) is empty."""
        try:
            answers = list(self._answered(line))
        except (SpewyError, ValueError) as error:  # ValueError: a quotation mark that is not closed
            answers = [f"ERROR: {one_line(str(error))}"]
        self._say(*answers, *([] if self._end is None else [self._end]))
        begin, self._begin = self._begin, None
        if begin is not None:
            begin()

    def close(self) -> None:
        self._end_work()
        self._forget_tree()

    def _answered(self, line: str) -> Iterable[str]:
        words = shlex.split(line) if '"' in line else line.split()
        if not words or words[0].startswith("#"):
            return []
        name, *arguments = words
        if name in ACCEPTED:
            return [f"{name} ok!"]
        if name in REFUSED:
            raise InputError(f"{name}: not here; {REFUSED[name]}")
        command = self._commands.get(name)
        if command is None:
            raise InputError(
                f"{shown(name)}: expected a command of UPI{nearest(name, [*self._commands, *ACCEPTED])}"
            )
        if self._is_running and name not in WHILE_RUNNING:
            raise InputError(f"{name}: the solver is running; stop it (stop), or wait (wait_for_solver)")
        return command(arguments)

    def _say(self, *lines: str) -> None:
        with self._talking:
            self._out.writelines(line + "\n" for line in lines)
            self._out.flush()

    # Commands, each from its arguments to the lines of its answer.

    def _do_set_end_string(self, arguments: list[str]) -> list[str]:
        (self._end,) = _exactly(1, arguments, "set_end_string END")
        return ["set_end_string ok!"]

    def _do_show_version(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "show_version")
        return [VERSION]

    def _do_echo(self, arguments: list[str]) -> list[str]:
        return [" ".join(arguments)]

    def _do_show_hand_order(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "show_hand_order")
        return [" ".join(combo_name(hand) for hand in pio_hands().tolist())]

    def _do_load_script(self, arguments: list[str]) -> Iterator[str]:
        (path,) = _exactly(1, arguments, "load_script FILE")
        if self._depth == MOST_SCRIPTS:
            raise InputError(
                f"load_script: expected at most {MOST_SCRIPTS} scripts that load each other, found more"
            )
        self._depth += 1
        try:
            for line in read_text(Path(path), f"script {path_text(path)}").splitlines():
                yield from self._answered(line)
        finally:
            self._depth -= 1
        yield "load_script ok!"

    def _do_load_script_silent(self, arguments: list[str]) -> list[str]:
        for _ in self._do_load_script(arguments):
            pass
        return ["load_script_silent ok!"]

    def _do_set_range(self, arguments: list[str]) -> list[str]:
        if len(arguments) < 2:
            raise InputError("set_range: expected a player and a range, as in 'set_range OOP AA,KK'")
        self._spot.ranges[_seat(arguments[0])] = range_text(arguments[1:])
        return ["set_range ok!"]

    def _do_set_board(self, arguments: list[str]) -> list[str]:
        self._spot.set_board(arguments)
        return ["set_board ok!"]

    def _do_set_pot(self, arguments: list[str]) -> list[str]:
        self._spot.set_pot(arguments)
        return ["set_pot ok!"]

    def _do_set_eff_stack(self, arguments: list[str]) -> list[str]:
        self._spot.set_stack(arguments)
        return ["set_eff_stack ok!"]

    def _do_set_accuracy(self, arguments: list[str]) -> list[str]:
        self._spot.set_accuracy(arguments)
        return ["set_accuracy ok!"]

    def _do_set_threads(self, arguments: list[str]) -> list[str]:
        (word,) = _exactly(1, arguments, "set_threads 0")
        if not word.isdecimal() or int(word) > MOST_THREADS:
            raise InputError(f"set_threads: expected a number of threads (0: all cores), found {shown(word)}")
        self._spot.threads = int(word)
        return ["set_threads ok!"]

    def _do_set_bet_sizes(self, arguments: list[str]) -> list[str]:
        player, sizes = _exactly(2, arguments, "set_bet_sizes OOP 33,75")
        self._spot.sizes[_seat(player)] = ", ".join(f"{size}%" for size in sizes.split(","))
        return ["set_bet_sizes ok!"]

    def _do_clear_lines(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "clear_lines")
        self._spot.lines.clear()
        return ["clear_lines ok!"]

    def _do_add_line(self, arguments: list[str]) -> list[str]:
        self._spot.add_line(arguments)
        return ["add_line ok!"]

    def _do_remove_line(self, arguments: list[str]) -> list[str]:
        self._spot.remove_line(arguments)
        return ["remove_line ok!"]

    def _do_build_tree(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "build_tree")
        job = self._spot.job()
        job.betting_tree.root  # noqa: B018 - refuses a tree that is too large
        self.close()
        self._spot.locks.clear()
        self._strategies.clear()
        self._job = job
        return ["build_tree ok!"]

    def _do_go(self, arguments: list[str]) -> list[str]:
        job = self._job_to_solve()
        if self._work is None or self._work.job is None or self._work.job.manifest() != job.manifest():
            self.close()
            self._work = _Work()
        done = 0 if self._tree is None else self._tree.solution.sweeps
        self._forget_tree()
        self._begin = partial(self._work.begin, job.replace(_limits(arguments, done)), self._say)
        return ["go ok!"]

    def _do_stop(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "stop")
        if self._work is not None:
            self._work.stop()
        return ["stop ok!"]

    def _do_wait_for_solver(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "wait_for_solver")
        if self._work is not None:
            self._work.wait()
        return ["wait_for_solver ok!"]

    def _do_set_strategy(self, arguments: list[str]) -> list[str]:
        if not arguments:
            raise InputError(
                "set_strategy: expected a node and the frequencies of its actions, found nothing"
            )
        name, *words = arguments
        n_actions = len(self.tree.strategy(self.tree.place(name)))
        try:
            strategy = np.array(words, dtype=np.float64)
        except ValueError:
            strategy = np.array([np.nan])
        if strategy.size != n_actions * N_HANDS or not (strategy >= 0).all():
            raise InputError(
                f"set_strategy {name}: expected {n_actions} times {N_HANDS:,} frequencies of at least 0, those of one "
                f"action after the other, found {len(words):,} words"
            )
        self._strategies[name] = strategy.reshape(n_actions, N_HANDS)
        return ["set_strategy ok!"]

    def _do_lock_node(self, arguments: list[str]) -> list[str]:
        (name,) = _exactly(1, arguments, "lock_node r:0")
        self._lock(name, np.ones(N_HANDS))
        return ["lock_node ok!"]

    def _do_combo_lock_node(self, arguments: list[str]) -> list[str]:
        if len(arguments) != 1 + N_HANDS or not set(arguments[1:]) <= {"0", "1"}:
            raise InputError(
                f"combo_lock_node: expected a node and {N_HANDS:,} numbers, 1 for each hand to lock, else 0; found "
                f"{len(arguments):,} words"
            )
        self._lock(arguments[0], np.array(arguments[1:], dtype=np.float64))
        return ["combo_lock_node ok!"]

    def _do_unlock_node(self, arguments: list[str]) -> list[str]:
        (name,) = _exactly(1, arguments, "unlock_node r:0")
        if self._spot.locks.pop(name, None) is None:
            raise InputError(f"unlock_node: expected a node that lock_node has locked, found {shown(name)}")
        return ["unlock_node ok!"]

    def _do_dump_tree(self, arguments: list[str]) -> list[str]:
        if not 1 <= len(arguments) <= 2 or arguments[1:] not in ([], *([word] for word in KEPT_ROUNDS)):
            raise InputError(f"dump_tree: expected a folder, and one of {', '.join(KEPT_ROUNDS)}")
        solution, target = self.tree.solution, Path(arguments[0])
        if target.exists():
            raise InputError(f"dump_tree: {path_text(target)} exists; name another folder")
        assert solution.folder is not None
        copytree(solution.folder, target)
        last = KEPT_ROUNDS[arguments[1]] if len(arguments) > 1 else 3
        first = solution.job.tree_config.start_round
        if first <= last < 3:
            with open_store(target) as store:
                drop(solution.job, store, last + 1)
        return ["dump_tree ok!"]

    def _do_load_tree(self, arguments: list[str]) -> list[str]:
        if not 1 <= len(arguments) <= 2:
            raise InputError(f"load_tree: expected the folder of a solve, found {len(arguments)} words")
        solution = Solution.open(_folder(arguments[0]))
        try:
            tree = UpiTree(solution)
        except BaseException:
            solution.close()
            raise
        self.close()
        self._spot.locks.clear()
        self._strategies.clear()
        self._tree, self._job = tree, tree.job
        return ["load_tree ok!"]

    def _do_free_tree(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "free_tree")
        self.close()
        self._job = None
        return ["free_tree ok!"]

    def _do_is_tree_present(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "is_tree_present")
        return ["false" if self._job is None else "true"]

    def _do_show_tree_info(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "show_tree_info")
        return pioviewer_text(self.tree.job).splitlines()

    def _do_show_metadata(self, arguments: list[str]) -> list[str]:
        (path,) = _exactly(1, arguments, "show_metadata FOLDER")
        with Solution.open(_folder(path)) as solution:
            return pioviewer_text(UpiTree(solution).job).splitlines()

    def _do_show_settings(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "show_settings")
        spot = self._spot
        return [
            f"threads: {spot.threads or cpu_count()}",
            f"accuracy: {spot.target}",
            f"pot: 0 0 {spot.pot}",
            f"effective stack: {spot.stack}",
            f"locked nodes: {' '.join(spot.locks) or 'none'}",
        ]

    def _do_show_category_names(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "show_category_names")
        return [" ".join(name.replace(" ", "_") for name in names) for names in (MADE, ("no draw", *DRAWS))]

    def _do_show_categories(self, arguments: list[str]) -> list[str]:
        """Answer with two lines, indices in ``show_category_names``: each hand's made hand, and its best draw."""
        board = " ".join(arguments)
        if board.startswith("r"):
            board = self.tree.facts(self.tree.place(board)).board
        try:
            kinds = kinds_of(board)
        except CardError as error:
            raise InputError(f"show_categories: expected a board or a node; {error}") from None
        draws = (kinds.draws * np.arange(1, len(DRAWS) + 1)).max(axis=1)
        return [" ".join(map(str, numbers[pio_hands()].tolist())) for numbers in (kinds.made, draws)]

    def _do_show_effective_stack(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "show_effective_stack")
        return [str(self.tree.job.tree_config.stack)]

    def _do_show_board_no_iso(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "show_board_no_iso")
        return [self.tree.facts(self.tree.root).board]

    def _do_show_all_lines(self, arguments: list[str]) -> Iterator[str]:
        _exactly(0, arguments, "show_all_lines")
        return self.tree.lines()

    def _do_show_node(self, arguments: list[str]) -> list[str]:
        (name,) = _exactly(1, arguments, "show_node r:0")
        return _node_lines(self._facts(name))

    def _do_show_children(self, arguments: list[str]) -> list[str]:
        (name,) = _exactly(1, arguments, "show_children r:0")
        children = [self.tree.root] if name == "r" else self.tree.children(self.tree.place(name))
        out: list[str] = []
        for number, child in enumerate(children):
            out += ["", f"child {number}:"] if number else [f"child {number}:"]
            out += _node_lines(self.tree.facts(child))
        return out

    def _do_show_range(self, arguments: list[str]) -> list[str]:
        player, place = self._hands_at(arguments, "show_range OOP r:0")
        return [_row(self.tree.range(player, place))]

    def _do_show_strategy(self, arguments: list[str]) -> list[str]:
        (name,) = _exactly(1, arguments, "show_strategy r:0")
        return [_row(action) for action in self._strategy(name, self.tree.place(name))]

    def _do_show_strategy_pp(self, arguments: list[str]) -> list[str]:
        (name,) = _exactly(1, arguments, "show_strategy_pp r:0")
        strategy = self._strategy(name, self.tree.place(name))
        return [
            f"{hand}: " + " ".join(f"{share:.9g}" for share in frequencies)
            for hand, frequencies in zip(_hand_names(), strategy.T.tolist(), strict=True)
            if any(frequencies)
        ]

    def _do_calc_ev(self, arguments: list[str]) -> list[str]:
        return _rows(self.tree.evs(*self._hands_at(arguments, "calc_ev OOP r:0")))

    def _do_calc_ev_pp(self, arguments: list[str]) -> list[str]:
        return _by_hand(self.tree.evs(*self._hands_at(arguments, "calc_ev_pp OOP r:0")))

    def _do_calc_eq(self, arguments: list[str]) -> list[str]:
        return _rows(self.tree.equities(*self._hands_at(arguments, "calc_eq OOP")))

    def _do_calc_eq_pp(self, arguments: list[str]) -> list[str]:
        return _by_hand(self.tree.equities(*self._hands_at(arguments, "calc_eq_pp OOP r:0")))

    def _do_calc_eq_node(self, arguments: list[str]) -> list[str]:
        values = self.tree.equities(*self._hands_at(arguments, "calc_eq_node OOP r:0"))
        return [*_rows(values), f"{values.mean:.9g}"]

    def _do_calc_matchups_line(self, arguments: list[str]) -> list[str]:
        return [f"{self.tree.matchups(self._place(arguments, 'calc_matchups_line r:0')):.9g}"]

    def _do_calc_global_freq(self, arguments: list[str]) -> list[str]:
        return [f"{self.tree.frequency(self._place(arguments, 'calc_global_freq r:0:c')):.9g}"]

    def _do_calc_line_freq(self, arguments: list[str]) -> list[str]:
        return [f"{self.tree.line_frequency(self._place(arguments, 'calc_line_freq r:0:c')):.9g}"]

    def _do_calc_results(self, arguments: list[str]) -> list[str]:
        _exactly(0, arguments, "calc_results")
        solution = self.tree.solution
        totals, gap = solution.totals(), solution.exploitability()
        half, chips = self.tree.pot / 2, solution.job.amounts.chips
        seconds = 0.0 if solution.result is None else solution.result.seconds["total"]
        responses = [half + net * chips for net in gap.best_response]
        return [
            f"running time: {seconds:.3f}",
            *(f"EV {seat}: {ev * chips:.9g}" for seat, ev in zip(SEATS, totals.ev, strict=True)),
            *(f"{seat}'s MES: {best:.9g}" for seat, best in zip(SEATS, responses, strict=True)),
            f"Exploitable for: {gap.exploitability * chips:.9g}",
        ]

    # Helpers.

    @property
    def tree(self) -> UpiTree:
        """The loaded tree, or the one that was solved last; a tree that was only built is solved for one sweep."""
        if self._job is None:
            raise InputError("no tree: load one (load_tree FOLDER), or build one (build_tree)")
        if self._tree is None:
            if self._work is None:
                self._work = _Work()
            self._tree = UpiTree(self._work.solution(self._job))
        return self._tree

    @property
    def _is_running(self) -> bool:
        return self._work is not None and self._work.is_running

    def _job_to_solve(self) -> SpotJob:
        """The job of the tree, with the accuracy, the threads and the locks of the client."""
        if self._job is None:
            raise InputError("go: no tree; build one (build_tree), or load one (load_tree FOLDER)")
        new = list(self._spot.locks.values())
        places = [(lock["line"], lock["board"]) for lock in new]
        old = [lock.model_dump() for lock in self._job.lock if (lock.line, lock.board) not in places]
        workers = self._spot.threads or cpu_count()
        job = self._job.replace(
            {"lock": [*old, *new], "solve.target": self._spot.target, "solve.workers": workers}
        )
        assert isinstance(job, SpotJob)
        return job

    def _lock(self, name: str, chosen: Floats) -> None:
        """Lock the strategy of the chosen hands (``[1326]``: 1 or 0) at a node in the next solve."""
        place = self.tree.place(name)
        strategy = self._strategy(name, place)
        actions = [action.label for action in place.node.actions]
        assert place.node.player is not None
        held = np.where(self.tree.range(place.node.player, place) * chosen > 0, strategy, 0.0)
        board = " ".join(map(card_name, place.cards))
        line = self.tree.job.amounts.line_text(place.line)
        self._spot.locks[name] = lock_entry(line, board, actions, _hand_names(), held)

    def _strategy(self, name: str, place: Place) -> Floats:
        """Strategy ``[action, 1326]`` that `set_strategy` has set for a node, or else the solved strategy."""
        return self._strategies[name] if name in self._strategies else self.tree.strategy(place)

    def _end_work(self) -> None:
        if self._work is not None:
            self._work.close()
            self._work = None

    def _forget_tree(self) -> None:
        if self._tree is not None:
            self._tree.solution.close()
            self._tree = None

    def _facts(self, name: str) -> NodeFacts:
        tree = self.tree
        if name != "r":
            return tree.facts(tree.place(name))
        return tree.facts(tree.root)._replace(name="r", kind="SPLIT_NODE", n_children=1)

    def _place(self, arguments: list[str], example: str) -> Place:
        (name,) = _exactly(1, arguments, example)
        return self.tree.place(name)

    def _hands_at(self, arguments: list[str], example: str) -> tuple[int, Place]:
        """Read a command's arguments: a player, and the name of a node (missing: the root)."""
        if not 1 <= len(arguments) <= 2:
            raise InputError(
                f"{example.split()[0]}: expected words as in {example!r}, found {len(arguments)} words"
            )
        return _seat(arguments[0]), self.tree.place(arguments[1] if len(arguments) > 1 else ROOT)


def _exactly(number: int, arguments: list[str], example: str) -> list[str]:
    if len(arguments) != number:
        name = example.split()[0]
        raise InputError(f"{name}: expected words as in {example!r}, found {len(arguments)} after {name}")
    return arguments


def _seat(word: str) -> int:
    try:
        return SEATS.index(word.upper())
    except ValueError:
        raise InputError(f"player: expected OOP or IP, found {shown(word)}") from None


def _folder(path: str) -> Path:
    """Return the folder of a solve; ``path`` is the folder, or a file that contains the folder's path.

    Some clients open only files whose names end in ``.cfr``.
    """
    given = Path(path)
    if not given.is_file() or given.stat().st_size > MOST_OF_LINK:
        return given
    return given.parent / read_text(given, f"file {path_text(given)}").strip()


def _node_lines(facts: NodeFacts) -> list[str]:
    return [
        facts.name,
        facts.kind,
        facts.board,
        " ".join(map(str, facts.pot)),
        f"{facts.n_children} children",
        "flags: ",
    ]


def _rows(values: HandValues) -> list[str]:
    return [_row(values.values), _row(values.matchups)]


def _row(values: Iterable[float]) -> str:
    return " ".join(f"{value:.9g}" for value in np.asarray(values).tolist())


def _hand_names() -> list[str]:
    return [combo_name(hand) for hand in pio_hands().tolist()]


def _by_hand(values: HandValues) -> list[str]:
    rows = zip(_hand_names(), values.values.tolist(), values.matchups.tolist(), strict=True)
    return [f"{hand}: {value:.9g} {matchups:.9g}" for hand, value, matchups in rows if matchups > 0]


class _Work(Closing):
    """Solves jobs of one tree in a thread, in a folder of its own that `close` deletes."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self.folder = self._held.enter_context(scratch_folder("upi")) / "tree"
        self.job: Job | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.is_running = False

    def solution(self, job: Job) -> Solution:
        """Open the solution so far; before the first save, solve one sweep."""
        try:
            return Solution.open(self.folder)
        except (NotSolvedError, LockerError):
            self.job = self.job or job
            with Session(self.job.replace(max_sweeps=1), self.folder) as session:
                session.solve(stop=threading.Event())
        return Solution.open(self.folder)

    def begin(self, job: Job, say: Callable[..., None]) -> None:
        """Solve in a thread, from where the last solve has ended; ``say`` gets the lines about the solve."""
        self.wait()
        self.job, self.is_running = job, True
        self._stopping.clear()
        self._thread = threading.Thread(target=self._solve, args=(job, say))
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self.wait()

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        self.stop()
        self._held.close()

    def _solve(self, job: Job, say: Callable[..., None]) -> None:
        began = monotonic()

        def hear(event: Event) -> None:
            if isinstance(event, Checked):
                say(
                    f"running time: {monotonic() - began:.3f}",
                    f"Exploitable for: {event.exploitability:g} {event.unit}",
                )

        say("SOLVER: started")
        try:
            with Session(job, self.folder) as session:
                result = session.solve(hear, self._stopping)
            why = "limit reached"
            if result.converged or result.interrupted:
                why = "required accuracy reached" if result.converged else "stopped"
        except Exception as error:  # the client reads of it where the solve would have ended
            why = f"ERROR: {error_line(error)}"
        self.is_running = False  # clients send their next command after this line
        say(f"SOLVER: stopped ({why})")


def _limits(arguments: list[str], done: int) -> dict[str, Any]:
    """Return job keys for the words after ``go``: none, a time, or a number of steps: sweeps after ``done`` sweeps."""
    if not arguments:
        return {}
    number, unit = _exactly(2, arguments, "go 10 seconds")
    if not number.isdecimal() or not 0 < int(number) <= 10**9 or unit not in ("seconds", "steps"):
        raise InputError(
            f"go: expected words as in 'go 10 seconds' or 'go 100 steps', found {shown(' '.join(arguments))}"
        )
    return (
        {"solve.max_time": f"{number} s"} if unit == "seconds" else {"solve.max_sweeps": done + int(number)}
    )
