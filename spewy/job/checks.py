"""Checks that refuse keys of a job that contradict each other or have no effect.

Only a key that differs from its default is refused. Sections of rounds before a spot's root are no error: one file
serves the same hand on its flop, turn and river. Keys that have no effect for a whole kind of jobs are refused by the
sections of that kind (`spewy.job.sections`).
"""

from __future__ import annotations

from collections.abc import Mapping

from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.game.names import ROUND_NAMES, SEAT_NAMES, RoundName
from spewy.job.leaves import Leaves
from spewy.job.sections import BetsSection, RowsSection, SolveSection, TreeSection

Bets = Mapping[RoundName, BetsSection]


def require_betting_used(game: Game, root: int, bets: Bets, tree: TreeSection) -> None:
    """Refuse donk sizes where nobody can donk, and thresholds in limit games.

    Args:
        game: the rules.
        root: the round in which the solve begins.
        bets: sizes by the round that names them.
        tree: thresholds.

    Raises:
        InputError: the key, and why it has no effect.
    """
    _require_donks(game, root, bets)
    thresholds = tree.model_dump(exclude_defaults=True)
    if game.limit and thresholds:
        key, value = next(iter(thresholds.items()))
        raise InputError(
            f"tree.{key}: expected none, the limit game {game.name!r} has its own sizes; found {value}"
        )


def require_solving_used(solve: SolveSection, leaves: Leaves, *, one_program: bool) -> None:
    """Refuse keys of a solving method that the job does not use.

    Args:
        solve: how to solve.
        leaves: its chance leaves.
        one_program: whether one linear program solves the whole game.

    Raises:
        InputError: the key, and why it has no effect.
    """
    settings = solve.model_dump(exclude_defaults=True)
    for key in ("iterations", "order"):
        if leaves.live and key in settings:
            raise InputError(
                f'solve.{key}: expected stored leaves, solve.leaves = "stored", which alone are visited one by one; '
                f"found {settings[key]} for live leaves"
            )
    if solve.order == "bottom-up" and "estimate" in settings:
        raise InputError(
            'solve.estimate has no effect with solve.order = "bottom-up", which visits the chunks below before; '
            "remove it"
        )
    if solve.workers == "dask" and "estimate" in settings:
        raise InputError('solve.estimate has no effect with solve.workers = "dask"; remove it')
    if settings.get("tremble") and solve.integrate != "average":
        raise InputError(
            'solve.tremble: expected solve.integrate = "average", which alone needs it, found "regret"'
        )
    if solve.workers == "dask" and (leaves.live or one_program):
        raise InputError(
            'solve.workers: expected a number of threads where leaves are live, "dask" is for stored chunks and '
            'for jobs with [boards]; found "dask"'
        )


def require_method(
    solve: SolveSection, leaves: Leaves, rows: RowsSection, *, raked: bool, locked: bool
) -> None:
    """Refuse combinations that would silently solve in another way than the job says.

    Args:
        solve: how to solve.
        leaves: its chance leaves.
        rows: rows per board.
        raked: whether the house takes rake.
        locked: whether some hands play given frequencies.

    Raises:
        InputError: the key, what goes with it, and what does not.
    """
    bucketed = next((name for name in ROUND_NAMES if getattr(rows, name) != "hands"), None)
    n_rows = None if bucketed is None else getattr(rows, bucketed)
    if solve.method == "lp" and solve.integrate == "regret":
        subject = 'solve.method: "lp" solves the whole game at once'
        if raked:
            raise InputError(f"{subject}, which has to be zero-sum: expected no spot.rake, found some")
        if solve.leaves != "auto" and not leaves.live:
            raise InputError(f'{subject}: expected solve.leaves = "auto" or "live", found {leaves.text}')
        if bucketed is not None:
            raise InputError(
                f'{subject}, with perfect recall, which buckets lose: expected rows.{bucketed} = "hands", '
                f'found {n_rows}; take solve.method = "cfr", or solve.integrate = "average"'
            )
    if solve.integrate == "average" and leaves.first_live is not None:
        raise InputError(
            'solve.leaves: "average" integrates stored chunks: expected "stored" or "auto", '
            f"found {leaves.text}"
        )
    if not raked and not locked:
        return
    key = "spot.rake" if raked else "lock"  # which only walks with live leaves know; locks are by hand
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


def require_rounds(game: Game, root: int, rows: RowsSection, saved: str) -> None:
    """Refuse rows and saved rounds that the game or the solve does not have.

    Args:
        game: the rules.
        root: the round in which the solve begins.
        rows: rows per board.
        saved: up to which round strategies are kept, or "all".

    Raises:
        InputError: the key, and the rounds that there are.
    """
    for name in ROUND_NAMES[game.num_rounds :]:
        if getattr(rows, name) != "hands":
            raise InputError(f"rows.{name}: expected one of the {game.num_rounds} rounds of {game.name}")
    names = game.round_names[root:]
    if saved not in (*names, "all"):
        raise InputError(f"save.rounds: expected {', '.join(names)} or all, found {saved}")


def _require_donks(game: Game, root: int, bets: Bets) -> None:
    """Refuse donk sizes for rounds in which the player cannot donk."""
    names = game.round_names
    for name, section in bets.items():
        covered = _covered(names, root, bets, name)
        starters = {game.first_player[r] for r in covered if r > root}
        for key, players in _donks(f"bets.{name}", section).items():
            if covered and not players & starters:
                first = "oop" if starters == {0} else "ip"
                reason = (
                    f"only {first} starts these rounds and can bet into the aggressor of the round before"
                    if starters
                    else f"the {names[covered[-1]]} has no round before it here, whose aggressor one could bet into"
                )
                raise InputError(f"{key}: expected none, {reason}; found donk sizes")


def _covered(names: tuple[str, ...], root: int, bets: Bets, name: RoundName) -> range:
    """Rounds of the solve that take their sizes from a section: its own, and later rounds without a section."""
    number = names.index(name)
    following = (names.index(other) for other in bets if names.index(other) > number)
    return range(max(number, root), min(following, default=len(names)))


def _donks(key: str, section: BetsSection) -> dict[str, set[int]]:
    """Players that each donk key of a round applies to, by key."""
    own = [player is not None and player.donk is not None for player in (section.oop, section.ip)]
    players = {f"{key}.{name}.donk": {p} for p, name in enumerate(SEAT_NAMES) if own[p]}
    if section.donk is not None:
        players[f"{key}.donk"] = {p for p in (0, 1) if not own[p]}
    return players
