"""Keys of a job that cannot have an effect are errors: whoever wrote one believes that it does something.

Only what differs from the default is looked at. Sections of rounds before a spot's root are no error: one file serves
the same hand on its flop, turn and river.
"""

from __future__ import annotations

from collections.abc import Mapping

from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.game.names import SEAT_NAMES, RoundName
from spewy.job.sections import BetsSection, SolveSection, TreeSection

Bets = Mapping[RoundName, BetsSection]


def require_used(
    game: Game, root: int, bets: Bets, tree: TreeSection, solve: SolveSection, *, live: bool
) -> None:
    """Refuse donk sizes where nobody can donk, thresholds in limit games, and keys of another way to solve.

    Args:
        game: the rules.
        root: the round in which the solve begins.
        bets: sizes by the round that names them.
        tree: thresholds.
        solve: how to solve.
        live: whether its chance leaves are.

    Raises:
        InputError: the key, and why it has no effect.
    """
    _require_donks(game, root, bets)
    thresholds, settings = tree.model_dump(exclude_defaults=True), solve.model_dump(exclude_defaults=True)
    if game.limit and thresholds:
        key, value = next(iter(thresholds.items()))
        raise InputError(
            f"tree.{key}: expected none, the limit game {game.name!r} has its own sizes; found {value}"
        )
    for key in ("iterations", "order"):
        if live and key in settings:
            raise InputError(
                f'solve.{key}: expected stored leaves, solve.leaves = "stored", which alone are visited one by one; '
                f"found {settings[key]} for live leaves"
            )
    if settings.get("tremble") and solve.integrate != "average":
        raise InputError(
            'solve.tremble: expected solve.integrate = "average", which alone needs it, found "regret"'
        )


def _require_donks(game: Game, root: int, bets: Bets) -> None:
    """Refuse donk sizes that apply to no round which their player starts, after betting in the round before."""
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
    """The rounds of the solve that take their sizes from this section: its own, and those after it without any."""
    given = names.index(name)
    following = (names.index(other) for other in bets if names.index(other) > given)
    return range(max(given, root), min(following, default=len(names)))


def _donks(key: str, section: BetsSection) -> dict[str, set[int]]:
    """The players that each donk key of a round is for, by the key."""
    own = [player is not None and player.donk is not None for player in (section.oop, section.ip)]
    found = {f"{key}.{name}.donk": {p} for p, name in enumerate(SEAT_NAMES) if own[p]}
    if section.donk is not None:
        found[f"{key}.donk"] = {p for p in (0, 1) if not own[p]}
    return found
