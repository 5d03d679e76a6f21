"""Spots as the text that PioViewer copies and pastes: lines ``#Key#Value``, and below them commands of UPI.

The rules of its trees are those of PioViewer's manual (Postflop tree building): ``AllinThreshold`` is `allin_from` of
a job, ``AddAllin`` adds the size ``a300%`` to every box that has a size, and ``3x`` is the size ``3xc``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from buckets.cards import card_name
from spewy.bridges.bets import Bets, Rule, bets_of, lines_of, same_bets
from spewy.bridges.described import ROUNDS, UNCOMPARED, Described, decimal, full_ranges, plain
from spewy.bridges.upi_spot import UpiSpot, range_text
from spewy.errors import InputError, short, shown
from spewy.game.betting import MAX_ACTIONS, Betting
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges import Range
from spewy.game.ranges.text import pio_hands
from spewy.game.sizes import Size
from spewy.game.treeconfig import TreeConfig, raise_totals
from spewy.job.job import Job, SpotJob

NAME = "PioViewer"
_ROW = re.compile(r"#([^#]+)#(.*)")
_BOX = re.compile(r"(Flop|Turn|River)Config(IP)?\.(BetSize|RaiseSize|DonkBetSize|AddAllin|Dont3bet)")
_KINDS = {"BetSize": "bet", "RaiseSize": "raise", "DonkBetSize": "donk"}
_SILENT = ("TreeBuilding", "CapMode", "ICM.ICMFormat", "ICM.Payouts", "ICM.Stacks")
"""Keys that say nothing about the tree, unless another key has a value."""
_UNSAID = {
    "UseUnifiedBetAfterRaise": "sizes after a raise are those of the boxes",
    "UseUnifiedRaiseAfterRaise": "raises after a raise have the sizes of the boxes",
    "ForceOOPBet": "oop may check, too",
    "ForceIPBet": "ip may check, too",
    "ForceOOPCheck": "oop may bet, too",
    "RemovedLines": "these lines stay in the tree",
    "ExtraLines": "these lines are not in the tree",
    "ICM.Enabled": "payoffs are chips; Spewy has no ICM",
}
"""Keys without counterpart, each with what the job does instead."""
_OF_THE_RUN = (
    "build_tree",
    "go",
    "wait_for_solver",
    "is_ready",
    "set_end_string",
    "set_isomorphism",
    "free_tree",
)
"""Commands that need no counterpart in a job."""
_NO_LIMIT = 10**5
"""Limit of added all-ins in percent of the pot from which it has no effect."""


def recognises(text: str) -> bool:
    return bool(re.search(r"^\s*#[A-Za-z0-9.]+#", text, re.MULTILINE)) or bool(
        re.search(r"^\s*(set_range (OOP|IP)|set_eff_stack|add_line)\b", text, re.MULTILINE | re.IGNORECASE)
    )


def read(text: str) -> Described:
    """Read the text of PioViewer, and commands of UPI; a command overrides a line ``#Key#Value``."""
    spot, tail = Described(NAME), _Reader()
    for line, row in enumerate(text.splitlines(), start=1):
        words = row.strip()
        if not words:
            continue
        found = _ROW.fullmatch(words)
        if found is not None:
            key, value = found[1].strip(), found[2].strip()
            if key == "Type" and value != "NoLimit":
                raise InputError(f"line {line}: Type: expected NoLimit, found {shown(value)}")
            spot.trying(line, partial(tail.row, spot, line, key, value))
        elif words.startswith("#"):
            spot.note(line, f"expected #Key#Value, found {shown(words)}; left out")
        else:
            spot.trying(line, partial(tail.command, spot, line, words.split()))
    tail.finish(spot)
    return spot


class _Reader:
    def __init__(self) -> None:
        self.add_allin: set[tuple[str, str]] = set()
        self.never_3bets: set[str] = set()
        self.limit = ""
        self.merges, self.merge = False, ""
        self.caps: dict[str, int] = {}
        self.ticked: set[str] = set()
        self.added: list[tuple[int, str, list[str]]] = []

    def row(self, spot: Described, line: int, key: str, value: str) -> None:
        on = value.lower() == "true"
        if on:
            self.ticked.add(key)
        if not value or value.lower() == "false":
            self.ticked.discard(key)
        elif box := _BOX.fullmatch(key):
            self.box(spot, line, key, box, value, on)
        elif key in ("Range0", "Range1"):
            spot.set_range(line, key, SEAT_NAMES[int(key[-1])], value)
        elif key == "Board":
            spot.set_board(line, key, value)
        elif key in ("Pot", "EffectiveStacks"):
            spot.set_amount(line, key, {"Pot": "pot"}.get(key, "stack"), value)
        elif key == "MinimumBetsize":
            if decimal(key, value):
                spot.set_amount(line, key, "min_bet", value)
        elif key == "AllinThreshold":
            if 0 < decimal(key, value) < 100:
                spot.tree["allin_from"] = float(decimal(key, value) / 100)
        elif key == "AddAllinOnlyIfLessThanThisTimesThePot":
            self.limit = str(decimal(key, value))
        elif key == "MergeSimilarBets":
            self.merges = on
        elif key == "MergeSimilarBetsThreshold":
            self.merge = str(decimal(key, value) / 100)
        elif key in ("Cap", "CapPerStreet"):
            self.cap(line, key, value)
        elif key == "Rake.Fraction":
            spot.rate = float(decimal(key, value))
        elif key == "Rake.Cap":
            spot.set_amount(line, key, "cap", value)
        elif key in _UNSAID:
            spot.note(line, f"{key} has no counterpart: {_UNSAID[key]}")
        elif key not in (*_SILENT, "CapEnabled", "Rake.Enabled", "Type") and not key.startswith("Unified"):
            spot.note(line, f"{short(key)} has no counterpart; left out")

    def box(self, spot: Described, line: int, key: str, box: re.Match[str], value: str, on: bool) -> None:
        name, seat, field = box[1].lower(), "ip" if box[2] else "oop", box[3]
        if field == "AddAllin":
            self.add_allin.add((name, seat))
        elif field == "Dont3bet":
            if on:
                self.never_3bets.add(name)
        else:
            raises = field == "RaiseSize"
            sizes = spot.sizes_in(line, key, value, times="xc", raises=raises)
            spot.set_sizes(line, key, (name, seat, _KINDS[field]), sizes)

    def cap(self, line: int, key: str, value: str) -> None:
        parts = re.split(r"\\n|\s+", value)
        parts = parts * 3 if len(parts) == 1 else parts
        if len(parts) != 3 or not all(part.isdecimal() and len(part) < 4 for part in parts):
            raise InputError(
                f"{key}: expected a number for each round, such as 3\\n3\\n3, found {shown(value)}"
            )
        self.caps = {name: int(part) for name, part in zip(ROUNDS, parts, strict=True) if int(part)}

    def command(self, spot: Described, line: int, words: list[str]) -> None:
        name, rest = words[0].lower(), words[1:]
        if name == "set_range":
            seat = rest[0].lower() if rest else ""
            if seat not in SEAT_NAMES:
                raise InputError(f"set_range: expected OOP or IP, found {shown(seat)}")
            spot.set_range(line, f"set_range {seat.upper()}", seat, range_text(rest[1:]))
        elif name == "set_board":
            spot.set_board(line, name, " ".join(rest))
        elif name == "set_eff_stack":
            spot.set_amount(line, name, "stack", " ".join(rest))
        elif name == "set_pot":
            whole = UpiSpot()
            whole.set_pot(rest)
            spot.set_amount(line, name, "pot", str(whole.pot))
        elif name == "set_accuracy":
            aim = UpiSpot()
            aim.set_accuracy(rest)
            spot.solve["target"] = aim.target
        elif name == "set_threads" and len(rest) == 1 and rest[0].isdecimal() and 0 < int(rest[0]) < 1000:
            spot.solve["workers"] = int(rest[0])
        elif name == "clear_lines":
            self.added.clear()
        elif name in ("add_line", "remove_line"):
            self.added.append((line, name, rest))
        elif name not in _OF_THE_RUN:
            raise InputError(f"the command {short(words[0])} has no counterpart")

    def finish(self, spot: Described) -> None:
        """Set the values of ``spot`` that depend on several lines."""
        if spot.rate and "Rake.Enabled" not in self.ticked:
            spot.note(0, "Rake.Fraction has no effect without Rake.Enabled#True; the job has no rake")
            spot.rate = 0.0
        if spot.rate and spot.amounts.get("cap") == 0:
            spot.note(
                spot.line_of("Rake.Cap"), "a cap of 0 chips takes no rake; remove spot.rake.cap for no limit"
            )
        if self.merges and self.merge:
            spot.tree["merge"] = float(self.merge)
        for name, seat in self.add_allin:
            for kind in _KINDS.values():
                sizes = spot.sizes.get((name, seat, kind), [])
                if sizes and "a" not in sizes:
                    sizes.append(self._allin())
        root = ROUNDS[max(len(spot.board) - 3, 0)]
        donk = spot.sizes.get((root, "oop", "donk"), [])
        if donk and donk != spot.sizes.get((root, "oop", "bet"), []):
            key = f"{root.title()}Config.DonkBetSize"
            spot.note(
                spot.line_of(key), f"{key}: the first round has no bet before it; oop bets as in BetSize"
            )
        caps = self.caps if "CapEnabled" in self.ticked else {}
        if self.caps and not caps:
            spot.note(0, "caps have no effect without CapEnabled#True; the job has none")
        rounds = ROUNDS[ROUNDS.index(root) :]
        if len({caps.get(name, 0) for name in rounds}) == 1 and caps.get(root):
            spot.tree["max_raises"] = caps[root]
        if caps or self.never_3bets:
            spot.rule = lambda config: _limited(config, caps, tuple(self.never_3bets))
        if any(name == "add_line" for _, name, _ in self.added):
            spot.exact = self._listed(spot)

    def _allin(self) -> str:
        return f"a{plain(float(self.limit))}%" if self.limit and float(self.limit) < _NO_LIMIT else "a"

    def _listed(self, spot: Described) -> Callable[[TreeConfig], Bets]:
        def exact(config: TreeConfig) -> Bets:
            assert config.stack is not None
            cards = tuple(range(config.start_round + 2))  # their number says the round
            listed = UpiSpot(board=cards, pot=config.pot, stack=config.stack)
            for line, name, words in self.added:
                add = listed.add_line if name == "add_line" else listed.remove_line
                spot.trying(line, partial(add, words))
            return bets_of(replace(config, lines=tuple(listed.lines) or ("c",)))

        return exact


def _limited(config: TreeConfig, caps: dict[str, int], never_3bets: tuple[str, ...]) -> Rule:
    """Return the rule of the configuration's sizes, with at most ``caps[round]`` bets and raises in a round.

    In the rounds ``never_3bets``, ip does not re-raise.
    """

    def totals(state: Betting, before: int, donk: bool) -> tuple[int, ...]:
        name = config.game.round_names[config.start_round + state.round]
        if state.num_raises >= caps.get(name, MAX_ACTIONS):
            return ()
        if state.to_act == 1 and state.num_raises > 1 and name in never_3bets:
            return ()
        return raise_totals(config, state, before, donk)

    return totals


def write(job: SpotJob) -> tuple[str, list[str]]:
    """Write a spot for PioViewer.

    Below the lines ``#Key#Value``, commands of UPI list the bets of the tree if PioViewer's boxes cannot express them.

    Returns:
        the text, and notes on what it does not say.
    """
    text, notes = (
        pioviewer_text(job),
        [f"lock {n}: PioViewer's text has no locks" for n, _ in enumerate(job.lock, 1)],
    )
    same = same_bets(job.tree_config, Job.of(read(text).job_data(NAME)).tree_config)
    if same is None:
        notes.append(UNCOMPARED)
    elif not same:
        notes.append("PioViewer's boxes cannot say this tree; add_line, below them, lists its bets")
        text += f"\n{_commands(job)}"
    return text, notes


def pioviewer_text(job: SpotJob) -> str:
    """Write a spot as lines ``#Key#Value``, with amounts in chips; lines for empty boxes of PioViewer are left out."""
    config = job.tree_config
    rake, merge, ranges = config.rake, config.merge, full_ranges(job)
    rows: dict[str, str] = {
        "Type": "NoLimit",
        "Range0": ranges["oop"],
        "Range1": ranges["ip"],
        "Rake.Enabled": "True" if rake.rate else "",
        "Rake.Fraction": plain(rake.rate) if rake.rate else "",
        "Rake.Cap": plain(rake.cap) if rake.rate and rake.cap is not None else "",
        "Board": " ".join(map(card_name, job.board)),
        "Pot": str(config.pot),
        "EffectiveStacks": str(config.stack),
        "AllinThreshold": _percent(config.allin_from),
        "AddAllinOnlyIfLessThanThisTimesThePot": _limit(config),
        "MinimumBetsize": str(config.min_bet) if (config.min_bet or 1) > 1 else "",
        "MergeSimilarBets": "True" if merge else "",
        "MergeSimilarBetsThreshold": _percent(merge) if merge else "",
        "CapEnabled": "True" if config.max_raises else "",
        "CapPerStreet": "\\n".join([str(config.max_raises)] * 3) if config.max_raises else "",
        "CapMode": "NoLimit" if config.max_raises else "",
        **dict(_boxes(config)),
    }
    return "".join(f"#{key}#{value}\n" for key, value in rows.items() if value)


def _boxes(config: TreeConfig) -> Iterator[tuple[str, str]]:
    names = config.game.round_names
    for player, suffix in enumerate(("", "IP")):
        for r, sizes in enumerate(config.sizes):
            key, own = f"{names[config.start_round + r].title()}Config{suffix}", sizes[player]
            yield f"{key}.BetSize", _box(own.bet)
            yield f"{key}.RaiseSize", _box(own.raises)
            if config.add_allin or any(
                size.kind == "allin" and size.value for size in (*own.bet, *own.raises)
            ):
                yield f"{key}.AddAllin", "True"
            if player == 0 and r:
                yield f"{key}.DonkBetSize", _box(own.bet if own.donk is None else own.donk)


def _box(sizes: tuple[Size, ...]) -> str:
    return ", ".join(_size(size) for size in sizes if not (size.kind == "allin" and size.value))


def _size(size: Size) -> str:
    match size.kind:
        case "steps" | "times":
            return f"{plain(size.value)}x"
        case "pot":
            return plain(size.value)
        case "geometric":
            return f"{size.rounds or ''}e" + (plain(size.value) if size.value else "")
        case _:
            return str(size)


def _limit(config: TreeConfig) -> str:
    """Return the largest all-in, in percent of the pot, that PioViewer adds to bet sizes; empty without a limit."""
    limits = [
        size.value
        for players in config.sizes
        for own in players
        for size in (*own.bet, *own.raises, *(own.donk or ()))
        if size.kind == "allin" and size.value
    ]
    return _percent(config.add_allin) if config.add_allin else plain(max(limits)) if limits else ""


def _percent(share: float) -> str:
    return plain(round(100 * share, 9))


def _commands(job: SpotJob) -> str:
    """Write the commands that build the tree, as in the files of PioSOLVER's folder TreeBuilding."""
    config, cards = job.tree_config, "".join(map(card_name, job.board))
    rows = [
        f"set_range {seat.upper()} {_numbers(held)}"
        for seat, held in zip(SEAT_NAMES, job.ranges, strict=True)
    ]
    rows += [f"set_board {cards}", f"set_eff_stack {config.stack}", "set_isomorphism 1 0"]
    rows += [f"set_pot 0 0 {config.pot}", "clear_lines"]
    rows += [f"add_line {' '.join(map(str, _totals(line)))}" for line in lines_of(bets_of(config))]
    return "".join(f"{row}\n" for row in (*rows, "build_tree"))


def _numbers(held: Range) -> str:
    return " ".join(plain(weight) for weight in held.weights[pio_hands()].tolist())


def _totals(line: str) -> Iterator[int]:
    """Yield what the player to act has put in since the root after each action of an ACPC betting string."""
    highest = 0
    for action in re.findall(r"c|r\d+", line):
        highest = highest if action == "c" else int(action[1:])
        yield highest
