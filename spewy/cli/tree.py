"""``spewy tree``: print the betting tree of a job."""

from __future__ import annotations

from pathlib import Path

import click

from spewy.cli.options import job_argument, json_option, set_option, verbose_option
from spewy.cli.tables import json_text


@click.command()
@job_argument
@set_option
@json_option
@verbose_option
def tree(job_file: Path, overrides: tuple[str, ...], as_json: bool) -> None:
    """Print the betting tree of a job.

    The tree has every betting line. The amount in an action's label is what the player has then put in during the
    round; "put in" is what both players have put in since the root of the solve. Amounts are in chips, or in big blinds
    if the job has unit = "bb".

    \b
    Examples:
      spewy tree examples/T1.toml
      spewy tree examples/T1.toml --set "bets.turn.bet=50%" --json

    \b
    --json prints {"betting_nodes": n, "root": node}; a node is "terminal" or
      {"actions": {"Check": node, "Bet(120)": node}, "put_in": [0, 0]}, with "new_street": true if a round starts at
      the node
    """  # noqa: D301
    from spewy.game.tree import tree_json, tree_text
    from spewy.job.job import Job

    betting = Job.load(job_file, overrides).betting_tree
    click.echo(json_text(tree_json(betting)) if as_json else tree_text(betting), nl=as_json)
