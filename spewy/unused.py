"""Keys of a job that cannot have an effect are errors: whoever wrote one believes that it does something.

Only what differs from the default is looked at. Sections of rounds before a spot's root are no error: one file serves
the same hand on its flop, turn and river.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spewy.errors import InputError

if TYPE_CHECKING:
    from spewy.job import BetsSection, Job


def require_used(job: Job) -> None:
    """Refuse donk sizes where nobody can donk, thresholds in limit games, and keys of another way to solve.

    Raises:
        InputError: the key, and why it has no effect.
    """
    _require_donks(job)
    tree, solve = job.tree.model_dump(exclude_defaults=True), job.solve.model_dump(exclude_defaults=True)
    if job.rules.limit and tree:
        key = next(iter(tree))
        raise InputError(
            f"tree.{key}: expected none, the limit game {job.rules.name!r} has its own sizes; found {tree[key]}"
        )
    for key in ("iterations", "order"):
        if job.live and key in solve:
            raise InputError(
                f'solve.{key}: expected stored leaves, solve.leaves = "stored", which alone are visited one by one; '
                f"found {solve[key]} for live leaves"
            )
    if solve.get("tremble") and job.solve.integrate != "average":
        raise InputError(
            'solve.tremble: expected solve.integrate = "average", which alone needs it, found "regret"'
        )


def _require_donks(job: Job) -> None:
    """Refuse donk sizes that apply to no round which their player starts, after betting in the round before."""
    names, root = job.rules.round_names, job.tree_config.start_round
    for name, section in job.bets.items():
        covered = _covered(name, job)
        starters = {job.rules.first_player[r] for r in covered if r > root}
        for key, players in _donks(f"bets.{name}", section).items():
            if covered and not players & starters:
                first = "oop" if starters == {0} else "ip"
                reason = (
                    f"only {first} starts these rounds and can bet into the aggressor of the round before"
                    if starters
                    else f"the {names[covered[-1]]} has no round before it here, whose aggressor one could bet into"
                )
                raise InputError(f"{key}: expected none, {reason}; found donk sizes")


def _covered(name: str, job: Job) -> range:
    """The rounds of the solve that take their sizes from this section: its own, and those after it without any."""
    names = job.rules.round_names
    given = names.index(name)
    following = (names.index(other) for other in job.bets if names.index(other) > given)
    return range(max(given, job.tree_config.start_round), min(following, default=len(names)))


def _donks(key: str, section: BetsSection) -> dict[str, set[int]]:
    """The players that each donk key of a round is for, by the key."""
    own = [player is not None and player.donk is not None for player in (section.oop, section.ip)]
    found = {f"{key}.{name}.donk": {p} for p, name in enumerate(("oop", "ip")) if own[p]}
    if section.donk is not None:
        found[f"{key}.donk"] = {p for p in (0, 1) if not own[p]}
    return found
