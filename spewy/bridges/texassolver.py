"""Spots as scripts of TexasSolver, one command in a line, as its console and its window read them.

A tree of TexasSolver rounds bets to whole chips, and drops a raise that is smaller than the smallest raise of the
rules. ``set_allin_threshold`` counts half of the pot as put in by each player: a bet to ``total`` is all-in if
``pot / 2 + total > threshold · (pot / 2 + stack)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from buckets.cards import card_name
from spewy.bridges.bets import Rule, same_bets
from spewy.bridges.described import ROUNDS, UNCOMPARED, Described, decimal, full_ranges, plain
from spewy.errors import InputError, nearest, shown
from spewy.game.betting import Betting
from spewy.game.names import SEAT_NAMES
from spewy.game.sizes import RATIO_EPSILON, Size, round_half_up
from spewy.game.treeconfig import TreeConfig
from spewy.job.job import Job, SpotJob

NAME = "TexasSolver"
ALLIN_THRESHOLD, RAISE_LIMIT = 0.67, 4
"""Values of TexasSolver where a script has none."""
KINDS = ("bet", "raise", "donk", "allin")
_AMOUNTS = {"set_pot": "pot", "set_effective_stack": "stack"}
_SILENT = ("build_tree", "start_solve")
_UNSAID = {
    "dump_result": "spewy solve keeps the strategy in a folder",
    "set_dump_rounds": "spewy solve keeps all rounds",
    "set_print_interval": "Spewy chooses when it measures exploitability",
    "set_use_isomorphism": "Spewy always uses the symmetry of suits",
}
"""Commands without counterpart, each with what happens instead."""
_COMMANDS = (
    *_AMOUNTS,
    *(
        "set_board",
        "set_range_oop",
        "set_range_ip",
        "set_bet_sizes",
        "set_allin_threshold",
        "set_raise_limit",
    ),
    *("set_thread_num", "set_accuracy", "set_max_iteration"),
    *_SILENT,
    *_UNSAID,
)


def recognises(text: str) -> bool:
    return bool(
        re.search(r"^\s*(set_range_(oop|ip)|set_effective_stack|set_bet_sizes)\b", text, re.MULTILINE)
    )


def read(text: str) -> Described:
    """Read a script of TexasSolver; a later command overrides an earlier one."""
    spot = Described(NAME)
    limits = {"set_allin_threshold": ALLIN_THRESHOLD, "set_raise_limit": RAISE_LIMIT}
    allins: set[tuple[str, str]] = set()
    for line, row in enumerate(text.splitlines(), start=1):
        words = row.split("#")[0].split("//")[0].split()
        if words:
            spot.trying(line, partial(_command, spot, limits, allins, line, words[0].lower(), words[1:]))
    _finish(spot, limits, allins)
    return spot


def _command(
    spot: Described,
    limits: dict[str, float],
    allins: set[tuple[str, str]],
    line: int,
    name: str,
    words: list[str],
) -> None:
    value = " ".join(words)
    if name in (*_SILENT, *_UNSAID):
        if name in _UNSAID:
            spot.note(line, f"{name} has no counterpart: {_UNSAID[name]}")
        return
    if name not in _COMMANDS:
        raise InputError(f"expected a command of TexasSolver, found {shown(name)}{nearest(name, _COMMANDS)}")
    if not value:
        raise InputError(f"{name}: expected a value, found the end of the line")
    if name in _AMOUNTS:
        spot.set_amount(line, name, _AMOUNTS[name], value)
    elif name == "set_board":
        spot.set_board(line, name, value)
    elif name.startswith("set_range_"):
        spot.set_range(line, name, name.rpartition("_")[2], value)
    elif name == "set_bet_sizes":
        _sizes(spot, allins, line, "".join(words))
    elif name in limits:
        spot.said(line, name, value)
        limits[name] = float(decimal(name, value))
    elif name == "set_accuracy":
        spot.solve["target"] = f"{plain(float(decimal(name, value)))}%"
    else:
        if not value.isdecimal() or not 0 < int(value[:9]) < 10**6:
            raise InputError(f"{name}: expected a number of at least 1, found {shown(value)}")
        spot.solve["workers" if name == "set_thread_num" else "max_sweeps"] = int(value)


def _sizes(spot: Described, allins: set[tuple[str, str]], line: int, value: str) -> None:
    seat, name, kind, *sizes = [*value.lower().split(","), "", "", ""][: max(3, value.count(",") + 1)]
    if seat not in SEAT_NAMES or name not in ROUNDS or kind not in KINDS:
        raise InputError(
            "set_bet_sizes: expected a player, a round, bet, raise, donk or allin, and sizes, such as "
            f"oop,flop,bet,50, found {shown(value)}"
        )
    key = f"set_bet_sizes {seat},{name},{kind}"
    if kind == "allin":
        allins.add((name, seat))
        return
    if not "".join(sizes):
        raise InputError(f"{key}: expected sizes in percent of the pot, found none")
    wrong = [size for size in sizes if size and not re.fullmatch(r"\d+\.?\d*|\.\d+", size)]
    for size in wrong:
        spot.note(line, f"{key}: expected a number, found {shown(size)}; left out")
    spot.set_sizes(
        line, key, (name, seat, kind), [f"{size}%" for size in sizes if size and size not in wrong]
    )


def _finish(spot: Described, limits: dict[str, float], allins: set[tuple[str, str]]) -> None:
    """Set the values of ``spot`` that depend on several lines."""
    for (name, seat, _), sizes in spot.sizes.items():
        if (name, seat) in allins:
            sizes.append("a")
    for name, seat in allins:
        for kind in KINDS[:3]:
            spot.sizes.setdefault((name, seat, kind), ["a"])
    rounds = ROUNDS[max(len(spot.board) - 3, 0) :]
    without = [
        f"{seat} on the {name}" for name in rounds for seat in SEAT_NAMES if (name, seat) not in allins
    ]
    if spot.sizes and without:
        spot.note(
            0,
            f"no all-in for {', '.join(without)}, where the script has none; TexasSolver's console adds them all",
        )
    spot.tree["short_allins"] = False
    spot.tree["max_raises"] = max(int(limits["set_raise_limit"]), 1)
    spot.thresholds = partial(_thresholds, limits["set_allin_threshold"])
    spot.rule = _rule


def _thresholds(threshold: float, pot: float, stack: float) -> dict[str, float]:
    """Convert a threshold of TexasSolver, a share of the stack and half the pot, into ``tree.allin_from``."""
    share = min(max(round((threshold * (pot / 2 + stack) - pot / 2) / stack, 9), 0.0), 1.0)
    return {} if share == 1 else {"allin_from": share}


def _rule(config: TreeConfig) -> Rule:
    stack, most = config.stack, config.max_raises
    assert stack is not None
    assert most is not None

    def totals(state: Betting, before: int, donk: bool) -> tuple[int, ...]:
        player = state.to_act
        if player is None or state.num_raises >= most or max(state.spent) >= stack:
            return ()
        highest, own = max(state.spent), state.spent[player]
        bets = set()
        for size in config.sizes[state.round][player].sizes(highest > before, donk):
            share = (config.pot + 2 * highest) * (size.value / 100)
            total = stack if size.kind == "allin" else min(highest + round_half_up(share), stack)
            if total > config.allin_from * stack * (1 + RATIO_EPSILON):
                total = stack
            if total > highest and total - own >= 2 * (highest - own):
                bets.add(total)
        return tuple(sorted(bets))

    return totals


def write(job: SpotJob) -> tuple[str, list[str]]:
    """Write a spot as a script of TexasSolver.

    Returns:
        the script, and notes on what it does not say.

    Raises:
        InputError: the job lists the bets of its tree.
    """
    config, notes = job.tree_config, [f"lock {n}: {NAME} has no locks" for n, _ in enumerate(job.lock, 1)]
    if config.lines:
        raise InputError(
            f"job {job.name}, tree.lines: expected bet sizes, since scripts of {NAME} have no lines; the text of "
            "PioViewer has them"
        )
    assert config.stack is not None
    if config.rake.rate:
        notes.append("spot.rake: TexasSolver takes no rake")
    threshold = (config.pot / 2 + config.allin_from * config.stack) / (config.pot / 2 + config.stack)
    rows = [
        f"set_pot {config.pot}",
        f"set_effective_stack {config.stack}",
        f"set_board {','.join(map(card_name, job.board))}",
        *(f"set_range_{seat} {text}" for seat, text in full_ranges(job).items()),
        *_size_rows(config, notes),
        f"set_allin_threshold {plain(round(threshold, 9))}",
        f"set_raise_limit {config.max_raises or 99}",
        "build_tree",
        f"set_thread_num {job.solve.threads}",
        *([f"set_accuracy {job.solve.target[:-1]}"] if job.solve.target.endswith("%") else []),
        f"set_max_iteration {job.solve.max_sweeps}",
        "start_solve",
        f"set_dump_rounds {len(config.sizes)}",
        f"dump_result {job.name}.json",
    ]
    text = "".join(f"{row}\n" for row in rows)
    same = same_bets(config, Job.of(read(text).job_data(NAME)).tree_config)
    if not same:
        notes.append(UNCOMPARED if same is None else "the tree of the script differs from that of the job")
    return text, notes


def _size_rows(config: TreeConfig, notes: list[str]) -> Iterator[str]:
    names = config.game.round_names[config.start_round :]
    for seat, player in zip(SEAT_NAMES, (0, 1), strict=True):
        for r, name in enumerate(names):
            own = config.sizes[r][player]
            kinds = {"bet": own.bet, "raise": own.raises}
            if player == 0 and r:
                kinds["donk"] = own.bet if own.donk is None else own.donk
            for kind, sizes in kinds.items():
                percents = [plain(size.value) for size in sizes if size.kind == "pot"]
                others = [size for size in sizes if not _sayable(size)]
                notes += [f"bets.{name}.{seat}.{kind}: TexasSolver has no size {size}" for size in others]
                if percents:
                    yield f"set_bet_sizes {seat},{name},{kind},{','.join(percents)}"
            if any(size == Size("allin") for sizes in kinds.values() for size in sizes):
                yield f"set_bet_sizes {seat},{name},allin"


def _sayable(size: Size) -> bool:
    return size.kind == "pot" or size == Size("allin")
