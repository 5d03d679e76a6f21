"""Write the result page of a tournament in Markdown: the ranking, and the results of all pairs in each stage."""

from __future__ import annotations

from collections.abc import Iterator

from spewy.competitions.tournament.standings import place_of
from spewy.competitions.tournament.tournament import Outcome, Stage

RULES = {
    "acpc-bankroll": "ACPC 2007, no-limit: instant run-off by bankroll",
    "acpc-points": "ACPC 2007, approximate equilibrium: instant run-off by points of series",
    "acpc-online": "ACPC 2007, online learning: the best four by run-off, then total bankroll among them",
    "higc": "HIGC: instant run-off voting for each game, lexicographic over games",
    "upac": "UPAC: Elo over shares of the chips",
}


def page_text(outcome: Outcome) -> str:
    """Return the whole page as Markdown."""
    lines = [f"# {outcome.name}", "", f"{RULES[outcome.rules]}.", "", *_places(outcome)]
    lines += [line for note in outcome.notes for line in ("", f"{note}.")]
    for stage in outcome.stages:
        lines += ["", *_stage(stage)]
    return "\n".join(lines) + "\n"


def cell(stage: Stage, one: str, two: str) -> str:
    """Return a table cell with the mean result of bot ``one`` against bot ``two``, and its 95 % interval."""
    if one == two:
        return ""
    mean = stage.mean(one, two)
    if not mean.n:
        return "-"
    return f"{mean.mean:+z,.3f}" + (f" ± {mean.half:,.3f}" if mean.n > 1 else "")


def _places(outcome: Outcome) -> Iterator[str]:
    ratings = outcome.ratings
    yield "| place | bot |" + (" rating |" if ratings is not None else "")
    yield "|---:|---|" + ("---:|" if ratings is not None else "")
    for name, place in place_of(outcome.ranking).items():
        yield f"| {place} | {name} |" + (f" {ratings[name]:,.1f} |" if ratings is not None else "")


def _stage(stage: Stage) -> Iterator[str]:
    values = sum(played.mean.n for played in stage.played.values())
    yield f"## {stage.title}"
    yield ""
    yield f"Winnings of the row's bot from the column's bot, {stage.unit}, with 95 % intervals; {values:,} values."
    yield ""
    yield "| place | bot | " + " | ".join(stage.names) + " | faults |"
    yield "|---:|---|" + "---:|" * (len(stage.names) + 1)
    for name, place in place_of(stage.ranking).items():
        cells = " | ".join(cell(stage, name, other) for other in stage.names)
        yield f"| {place} | {name} | {cells} | {_faults(stage, name):,} |"


def _faults(stage: Stage, name: str) -> int:
    return sum(played.faults[pair.index(name)] for pair, played in stage.played.items() if name in pair)
