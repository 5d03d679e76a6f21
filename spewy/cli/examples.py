"""``spewy examples``: list the example files that come with the package, or copy them into a folder."""

from __future__ import annotations

from pathlib import Path

import click

from spewy.cli.options import verbose_option
from spewy.cli.progress import say
from spewy.cli.tables import count
from spewy.errors import path_text


@click.command()
@click.argument("folder", metavar="[FOLDER]", type=click.Path(path_type=Path), required=False)
@verbose_option
def examples(folder: Path | None) -> None:
    """List the example files, or copy them.

    The files are jobs, games and a tournament, which come with the package. With FOLDER, all are copied there, so that
    commands of the documentation work, such as ``spewy solve examples/T1.toml``. Nothing is written if FOLDER has a
    file that differs from the example of the same name.

    \b
    Examples:
      spewy examples
      spewy examples examples
    """  # noqa: D301
    from spewy.job.shipped import copy_examples
    from spewy.job.shipped import examples as all_examples

    if folder is not None:
        say(f"{path_text(folder)}: {count(len(copy_examples(folder)), 'file')}")
        return
    found = all_examples()
    width = max(len(each.name) for each in found)
    for each in found:
        click.echo(f"{each.name:{width}}  {each.about}")
