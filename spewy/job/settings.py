"""Settings that several sections of a job determine together: its chance leaves, and how it samples boards.

Checks refuse keys that contradict each other or have no effect. A key with its default value is never refused. Bet
sizes and rows of rounds before a spot's root are allowed, so that a job can be solved from the flop, the turn or the
river with the same sections. `spewy.job.sections` refuses keys that have no effect in any job with ``[boards]``, and
keys that have no effect in any job without that section.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from buckets.abstraction.spec import MAX_ROWS, Remember
from buckets.cards import count_boards
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.names import ROUND_NAMES, SEAT_NAMES, RoundName
from spewy.job.sections import (
    BetsSection,
    BoardsSection,
    LeafKind,
    RowsSection,
    SampledSolve,
    SolveSection,
    TreeSection,
)
from spewy.job.texts import parse_duration

Bets: TypeAlias = Mapping[RoundName, BetsSection]


@dataclass(frozen=True)
class Leaves:
    """Which chance leaves of a solve are live and which are stored.

    A chance leaf is where a round's betting is over and cards are dealt. Its values are computed from the present
    strategies of the next round (live), or read from payoff matrices that earlier visits have saved (stored).

    Attributes:
        root: the first round of the solve.
        first_live: the first live round: its chunks and those of all later rounds are live, and so are the chance
            leaves that lead to them. None: all chance leaves are stored.
        text: the value of ``solve.leaves`` in the job, for messages.
    """

    root: int
    first_live: int | None
    text: str

    @classmethod
    def of(cls, solve: SolveSection, root: int, n_rounds: int, *, bucketed: bool) -> Leaves:
        """Read ``solve.leaves``; ``bucketed`` says whether the rows of some round are buckets."""
        leaves = solve.leaves
        if isinstance(leaves, str):
            live = leaves == "live" or (leaves == "auto" and not bucketed and solve.integrate == "regret")
            return cls(root, root if live else None, f'"{leaves}"')
        kinds = _by_round(leaves, ROUND_NAMES[root:n_rounds])
        first = next((ROUND_NAMES.index(name) for name, kind in kinds if kind == "live"), None)
        return cls(root, first, shown(leaves))

    @property
    def live(self) -> bool:
        return self.first_live == self.root

    def __str__(self) -> str:
        """Describe the chance leaves in words, such as "live leaves"."""
        if self.live or self.first_live is None:
            return f"{'live' if self.live else 'stored'} leaves"
        return f"stored leaves, live ones from the {ROUND_NAMES[self.first_live]} on"


def _by_round(
    leaves: Mapping[RoundName, LeafKind], rounds: tuple[RoundName, ...]
) -> list[tuple[RoundName, LeafKind]]:
    """Return each round with the kind of its leaves; a missing round takes that of the round before, or "stored"."""
    for name, kind in leaves.items():
        if name not in rounds:
            raise InputError(
                f"solve.leaves.{name}: expected one of the rounds of this solve, {', '.join(rounds)}, "
                f'found "{kind}"'
            )
    last: LeafKind = "stored"
    kinds = []
    for name in rounds:
        last = leaves.get(name, last)
        kinds.append((name, last))
    for (above, upper), (below, lower) in pairwise(kinds):
        if (upper, lower) == ("live", "stored"):
            raise InputError(
                f'solve.leaves.{below}: expected "live", because the {above} is live and its leaves read no stored '
                f'payoffs; found "stored"'
            )
    return kinds


Numbers: TypeAlias = tuple[int | None, ...]
"""A number or None for each round of the game."""
ROWS = (169, 40, 40, 40)
"""Default number of rows by round in games with two hole cards; with one hole card, each hand has a row."""
COARSER = ((16, 4), (4, 2), (1, 2))
"""Factors by which the stages of ``solve.coarse_to_fine`` have fewer board buckets, and fewer rows, than the job."""
FEWEST = 10
"""Smallest number of board buckets of a stage on the last round; the solve skips smaller stages."""
FEWEST_ROWS = 5
"""Smallest number of rows of a stage, unless the job has fewer."""
STAGE_VISITS = 50
"""Mean number of visits of a board bucket on the last round at which a stage ends."""


@dataclass(frozen=True)
class Dealing:
    """How the solve samples boards, when it checks exploitability, and when it stops.

    Attributes:
        board_buckets: ``[round of the game]``, number of board buckets; None: a bucket for each canonical board.
        rows: ``[round of the game]``, number of rows (hand buckets); None: a row per hand.
        remember: whether the order of the cards counts, see `buckets.abstraction.AbstractionSpec`.
        seed: seed of the sampled boards.
        cfr_br: share (0 to 1) of the opponents' play that is a rival's, who learns only to beat a player (CFR-BR).
        check_seconds: seconds between two checks.
        check_flops: number of flops on which a check measures exploitability.
        last_deal: largest number of deals, even if the target is not reached; None: no limit.
        most_seconds: largest number of seconds of work in all runs together; None: no limit.
        coarse: ``[stage]``, ``board_buckets`` and ``rows`` of each stage that comes before the solve with the job's own
            numbers.
    """

    board_buckets: Numbers
    rows: Numbers
    remember: Remember
    seed: int
    cfr_br: float
    check_seconds: float
    check_flops: int
    last_deal: int | None
    most_seconds: float | None
    coarse: tuple[tuple[Numbers, Numbers], ...]

    @classmethod
    def of(cls, game: Game, boards: BoardsSection, rows: RowsSection, solve: SampledSolve) -> Dealing:
        names = game.round_names
        board_buckets = {"preflop": None} | boards.model_dump(exclude={"remember"})
        dealing = cls(
            tuple(_number(board_buckets[name]) for name in names),
            _rows(game, rows),
            boards.remember,
            solve.seed,
            solve.cfr_br,
            parse_duration(solve.check_every),
            solve.check_flops,
            solve.max_sweeps,
            None if solve.max_time is None else parse_duration(solve.max_time),
            (),
        )
        for name, number in zip(names, dealing.rows, strict=True):
            if number is not None and number > MAX_ROWS:
                raise InputError(
                    f'rows.{name}: expected "hands" or at most {MAX_ROWS} rows with [boards], found {number:,}'
                )
        for name, number in boards.model_dump(exclude_defaults=True, exclude={"remember"}).items():
            if name not in names:
                raise InputError(f"boards.{name}: expected one of the {len(names)} rounds of {game.name}")
            t = names.index(name)
            _require_classes(name, number, count_boards(game.deck, game.board_sizes[t]), dealing.rows[t])
        if boards.remember:
            _require_memory(game, dealing.board_buckets, apart=boards.remember is True)
        if boards.remember is not True and solve.workers == "dask":
            _require_no_numbers(game, dealing.board_buckets)
        if not solve.coarse_to_fine:
            return dealing
        if solve.workers == "dask":
            raise InputError(
                'solve.coarse_to_fine: expected a number of workers, found solve.workers = "dask"; remove '
                "solve.coarse_to_fine, or set a number of workers"
            )
        first = next(t for t, size in enumerate(game.num_board_cards) if size)
        every_first = boards.remember is True and dealing.board_buckets[first] is None
        return replace(dealing, coarse=() if every_first else _coarser(dealing.board_buckets, dealing.rows))

    def stages(self) -> tuple[Dealing, ...]:
        """Return the settings of the stages with fewer board buckets or rows, the coarsest first.

        A stage with k board buckets on the last round ends after ``STAGE_VISITS * k`` deals, counted from the first
        deal of the whole solve. (If the last round has no number of board buckets, k is that of the last round that
        has one.)
        """
        stages = []
        for board_buckets, rows in self.coarse:
            end = STAGE_VISITS * _last(board_buckets)
            end = end if self.last_deal is None else min(end, self.last_deal)
            stages.append(replace(self, board_buckets=board_buckets, rows=rows, last_deal=end, coarse=()))
        return tuple(stages)


def _coarser(board_buckets: Numbers, rows: Numbers) -> tuple[tuple[Numbers, Numbers], ...]:
    """Return the numbers of board buckets and of rows of each stage before the solve with the job's own.

    A round in which each board is a bucket of its own stays so, and keeps its number of rows.
    """
    stages = {
        (
            tuple(None if k is None else max(k // fewer, 1) for k in board_buckets),
            tuple(
                n if n is None or k is None else max(n // fewer_rows, min(n, FEWEST_ROWS))
                for n, k in zip(rows, board_buckets, strict=True)
            ),
        ): None
        for fewer, fewer_rows in COARSER
        if _last(board_buckets) // fewer >= FEWEST
    }
    return tuple(stage for stage in stages if stage != (board_buckets, rows))


def _last(board_buckets: Sequence[int | None]) -> int:
    """Return the number of board buckets of the last round that has a number; 0 if no round has one."""
    return next((k for k in reversed(board_buckets) if k is not None), 0)


def _rows(game: Game, rows: RowsSection) -> Numbers:
    default: dict[str, int] = {}
    if game.num_hole_cards == 2:
        default.update(zip(ROUND_NAMES, ROWS, strict=True))
    chosen = default | rows.model_dump(exclude_unset=True)
    return tuple(_number(chosen.get(name)) for name in game.round_names)


def _number(value: int | str | None) -> int | None:
    return value if isinstance(value, int) else None


def _require_memory(game: Game, board_buckets: Sequence[int | None], *, apart: bool) -> None:
    """Refuse ``boards.remember`` without board buckets after the flop.

    Also refuse ``boards.remember = true`` (``apart``) if a later round has fewer buckets than the flop: each bucket of
    a later round belongs to one bucket of the flop.
    """
    dealt = [t for t, size in enumerate(game.num_board_cards) if size]
    later = [t for t in dealt[1:] if board_buckets[t] is not None]
    if not later:
        raise InputError(
            "boards.remember: expected a number of board buckets in a round after the first board of "
            f"{game.name}, found none; add the number or remove boards.remember"
        )
    first = board_buckets[dealt[0]] or count_boards(game.deck, game.board_sizes[dealt[0]])
    for t in later:
        if apart and (board_buckets[t] or first) < first:
            raise InputError(
                f"boards.{game.round_names[t]}: expected at least {first:,} buckets, one for each bucket of the "
                f"{game.round_names[dealt[0]]}, because boards.remember = true; found {board_buckets[t]:,}"
            )


def _require_no_numbers(game: Game, board_buckets: Sequence[int | None]) -> None:
    """Refuse board buckets after the flop, for a solve on a cluster without ``boards.remember``.

    Such a bucket may contain turns or rivers of different flops, but each worker solves some flops with all their turns
    and rivers.
    """
    dealt = [t for t, size in enumerate(game.num_board_cards) if size]
    for t in dealt[1:]:
        if board_buckets[t] is not None:
            raise InputError(
                f'solve.workers = "dask" needs {game.round_names[t]} buckets that belong to one bucket of the '
                f"{game.round_names[dealt[0]]}; set boards.remember = true, or a number of workers"
            )


def _require_classes(name: str, number: int, most: int, rows: int | None) -> None:
    if number > most:
        raise InputError(
            f"boards.{name}: expected at most {most:,} buckets, the number of canonical boards; found {number:,}"
        )
    if rows is None:
        raise InputError(
            f"rows.{name}: expected a number of rows, which the boards of each of {number:,} buckets share; "
            'found "hands"'
        )


WITH_LINES = ("lines", "min_bet")
"""Keys of ``[tree]`` that have an effect beside ``tree.lines``."""


def require_betting_used(game: Game, root: int, bets: Bets, tree: TreeSection) -> None:
    """Refuse rounds without sizes, donk sizes where nobody can donk, and thresholds of bet sizes in limit games."""
    thresholds = tree.model_dump(exclude_defaults=True)
    if tree.lines is not None:
        others = [f"bets.{name}" for name in bets] + [
            f"tree.{key}" for key in thresholds if key not in WITH_LINES
        ]
        if others:
            raise InputError(
                f"{others[0]} has no effect beside tree.lines, which lists all bets; remove one of them"
            )
    _require_sizes(game, root, bets)
    _require_donks(game, root, bets)
    if game.limit and thresholds:
        key, value = next(iter(thresholds.items()))
        raise InputError(
            f"tree.{key} has no effect in the limit game {game.name!r}, whose bets have fixed sizes; remove it "
            f"(found {value})"
        )


def require_solving_used(solve: SolveSection, leaves: Leaves, *, one_program: bool) -> None:
    """Refuse keys of ``[solve]`` that have no effect beside the other keys."""
    settings = solve.model_dump(exclude_defaults=True)
    for key in ("iterations", "order"):
        if leaves.live and key in settings:
            raise InputError(
                f'solve.{key}: expected solve.leaves = "stored", because only stored chunks are visited one by one; '
                f"found {settings[key]} for live leaves"
            )
    if settings.get("tremble") and solve.integrate != "average":
        raise InputError(
            'solve.tremble has an effect only with solve.integrate = "average", found "regret"; remove it'
        )
    if solve.refine and (one_program or not leaves.live):
        raise InputError("solve.refine: expected live leaves of CFR, found another method; remove it")
    if solve.choose is not None and not one_program:
        raise InputError(
            f'solve.choose: "{solve.choose}" picks among the equilibria of one linear program; expected '
            f'solve.method = "lp" and solve.integrate = "regret", found "{solve.method}" and "{solve.integrate}"'
        )
    if solve.workers == "dask" and (leaves.live or one_program):
        raise InputError(
            'solve.workers: expected a number of threads for live leaves, found "dask", which is for stored chunks and '
            "for jobs with [boards]"
        )


def require_method(
    solve: SolveSection, leaves: Leaves, rows: RowsSection, *, raked: bool, locked: bool
) -> None:
    """Refuse a solving method that cannot solve the job."""
    bucketed = next((name for name in ROUND_NAMES if getattr(rows, name) != "hands"), None)
    n_rows = None if bucketed is None else getattr(rows, bucketed)
    if solve.method == "lp" and solve.integrate == "regret":
        subject = 'solve.method: "lp" solves the whole game at once'
        if raked:
            raise InputError(f"{subject}, which must be zero-sum: expected no spot.rake, found one")
        if solve.leaves != "auto" and not leaves.live:
            raise InputError(f'{subject}: expected solve.leaves = "auto" or "live", found {leaves.text}')
        if bucketed is not None:
            raise InputError(
                f"{subject} and needs perfect recall, which a game with buckets lacks: "
                f'expected rows.{bucketed} = "hands", found {n_rows}; '
                'use solve.method = "cfr", or solve.integrate = "average"'
            )
    if solve.integrate == "average" and leaves.first_live is not None:
        raise InputError(
            'solve.leaves: expected "stored" or "auto", because solve.integrate = "average" needs stored chunks; '
            f"found {leaves.text}"
        )
    if not raked and not locked:
        return
    key = "spot.rake" if raked else "lock"  # both work with live leaves only; locks also need a row per hand
    for name, value, needed in (
        ("method", solve.method, ("cfr",) if raked else ("cfr", "lp")),
        ("integrate", solve.integrate, ("regret",)),
    ):
        if value not in needed:
            wanted = " or ".join(f'"{option}"' for option in needed)
            raise InputError(f'{key}: expected live leaves, solve.{name} = {wanted}, found "{value}"')
    if solve.leaves != "auto" and not leaves.live:
        raise InputError(f'{key}: expected live leaves, solve.leaves = "auto" or "live", found {leaves.text}')
    if locked and bucketed is not None:
        raise InputError(f'lock: expected a row per hand, rows.{bucketed} = "hands", found {n_rows}')
    if not leaves.live:
        raise InputError(
            f'{key}: expected live leaves, solve.leaves = "live" where rows are buckets, '
            f'found "{solve.leaves}" and rows.{bucketed} = {n_rows}'
        )


def require_quick(solve: SolveSection, leaves: Leaves, rows: RowsSection, n_rounds: int) -> None:
    """Refuse ``solve.quick`` for a job that it cannot solve; ``n_rounds`` is the number of rounds from the root on."""
    if solve.quick is None:
        return
    bucketed = any(getattr(rows, name) != "hands" for name in ROUND_NAMES)
    if solve.method == "lp" or solve.integrate == "average" or bucketed or not leaves.live:
        raise InputError("solve.quick: expected CFR with live leaves and a row per hand; remove solve.quick")
    if not 2 <= n_rounds <= 3:
        raise InputError(
            "solve.quick: expected a spot that begins on the flop or the turn; "
            + ("a river is solved exactly as quickly" if n_rounds == 1 else "solve a flop")
        )


def require_rounds(game: Game, root: int, rows: RowsSection, saved: str) -> None:
    """Refuse ``[rows]`` and ``[save]`` with rounds that the game or the solve does not have."""
    for name in ROUND_NAMES[game.num_rounds :]:
        if getattr(rows, name) != "hands":
            raise InputError(f"rows.{name}: expected one of the {game.num_rounds} rounds of {game.name}")
    names = game.round_names[root:]
    if saved not in (*names, "all"):
        raise InputError(f"save.rounds: expected {', '.join(names)} or all, found {saved}")


def _require_sizes(game: Game, root: int, bets: Bets) -> None:
    """Refuse a section of bet sizes without the keys bet and raise: a section takes no sizes from the round before."""
    for name, section in bets.items():
        players = {"": section, "oop.": section.oop, "ip.": section.ip}
        sizes = [
            f"{player}{key}"
            for player, each in players.items()
            for key in ("bet", "raise_", "donk")
            if getattr(each, key, None) is not None
        ]
        donks = [key for key in sizes if key.endswith("donk")]
        if sizes == donks and _covered(game.round_names, root, bets, name):
            raise InputError(
                f"bets.{name}: expected the key bet or raise, found {' and '.join(donks) or 'neither'}: a section "
                'takes no sizes from the round before; repeat them here, or write bet = "" for no bets'
            )


def _require_donks(game: Game, root: int, bets: Bets) -> None:
    names = game.round_names
    for name, section in bets.items():
        covered = _covered(names, root, bets, name)
        starters = {game.first_player[r] for r in covered if r > root}
        for key, players in _donks(f"bets.{name}", section).items():
            if covered and not players & starters:
                first = "oop" if starters == {0} else "ip"
                reason = (
                    f"because only {first} starts these rounds and can bet into the aggressor of the round before"
                    if starters
                    else f"because the solve begins on the {names[covered[-1]]}, so no earlier round has an aggressor"
                )
                raise InputError(f"{key} has no effect, {reason}; remove it")


def _covered(names: tuple[str, ...], root: int, bets: Bets, name: RoundName) -> range:
    """Return the rounds of the solve that use section ``name``: its own round, and next rounds without a section."""
    number = names.index(name)
    following = (names.index(other) for other in bets if names.index(other) > number)
    return range(max(number, root), min(following, default=len(names)))


def _donks(key: str, section: BetsSection) -> dict[str, set[int]]:
    """Map each key of donk sizes, such as ``bets.turn.oop.donk``, to its players; ``key`` names the section."""
    own = [player is not None and player.donk is not None for player in (section.oop, section.ip)]
    players = {f"{key}.{name}.donk": {p} for p, name in enumerate(SEAT_NAMES) if own[p]}
    if section.donk is not None:
        players[f"{key}.donk"] = {p for p in (0, 1) if not own[p]}
    return players
