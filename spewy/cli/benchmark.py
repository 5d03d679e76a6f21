"""``spewy examples --benchmark``: the benchmark games for papers, with their values."""

from __future__ import annotations

from pathlib import Path

import click

from spewy.cli.tables import say
from spewy.errors import path_text


def show_benchmark(folder: Path | None) -> None:
    """List the games with their values; with a folder, write their files there."""
    from spewy.look.benchmark import benchmark_games, write_benchmark

    if folder is not None:
        for path in write_benchmark(folder):
            say(path_text(path))
        return
    width = max(len(game.name) for game in benchmark_games())
    click.echo(f"{'game':{width}}  {'oop wins, chips':>15}  {'within':>8}  about")
    for game in benchmark_games():
        click.echo(f"{game.name:{width}}  {game.value:15.6f}  {game.within:8.1e}  {game.about}")
