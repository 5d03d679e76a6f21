"""Checks that refuse keys of a job that contradict each other or have no effect.

A key with its default value is never refused. Bet sizes and rows of rounds before a spot's root are allowed, so that a
job can be solved from the flop, the turn or the river with the same sections. `spewy.job.sections` refuses keys that
have no effect in any job with ``[boards]``, and keys that have no effect in any job without that section.
"""

from __future__ import annotations

from collections.abc import Mapping

from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.game.names import ROUND_NAMES, SEAT_NAMES, RoundName
from spewy.job.sections import BetsSection, RowsSection, SolveSection, TreeSection
from spewy.job.settings import Leaves

Bets = Mapping[RoundName, BetsSection]


def require_betting_used(game: Game, root: int, bets: Bets, tree: TreeSection) -> None:
    """Refuse rounds without sizes, donk sizes where nobody can donk, and thresholds of bet sizes in limit games."""
    _require_sizes(game, root, bets)
    _require_donks(game, root, bets)
    thresholds = tree.model_dump(exclude_defaults=True)
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


def require_rounds(game: Game, root: int, rows: RowsSection, saved: str) -> None:
    """Refuse ``[rows]`` and ``[save]`` with rounds that the game or the solve does not have."""
    for name in ROUND_NAMES[game.num_rounds :]:
        if getattr(rows, name) != "hands":
            raise InputError(f"rows.{name}: expected one of the {game.num_rounds} rounds of {game.name}")
    names = game.round_names[root:]
    if saved not in (*names, "all"):
        raise InputError(f"save.rounds: expected {', '.join(names)} or all, found {saved}")


def _require_sizes(game: Game, root: int, bets: Bets) -> None:
    """Refuse a section without sizes of bets and raises, which would take those of the round before away."""
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
    """Refuse donk sizes for rounds in which the player cannot donk."""
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
    """Return the rounds of the solve that use a section's bet sizes: later rounds without a section use it, too."""
    number = names.index(name)
    following = (names.index(other) for other in bets if names.index(other) > number)
    return range(max(number, root), min(following, default=len(names)))


def _donks(key: str, section: BetsSection) -> dict[str, set[int]]:
    """Return the players to whom donk sizes apply, by the full name of their key; ``key`` is the section's name."""
    own = [player is not None and player.donk is not None for player in (section.oop, section.ip)]
    players = {f"{key}.{name}.donk": {p} for p, name in enumerate(SEAT_NAMES) if own[p]}
    if section.donk is not None:
        players[f"{key}.donk"] = {p for p in (0, 1) if not own[p]}
    return players
