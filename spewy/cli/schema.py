"""``spewy schema``: print the job file's JSON Schema."""

from __future__ import annotations

import json

import click

from spewy.cli.options import verbose_option


@click.command()
@verbose_option
def schema() -> None:
    """Print the JSON Schema of job files.

    Editors complete and check job files by this schema.

    An editor that supports TOML (Taplo, Even Better TOML for VS Code) uses the schema if the job file begins with
    #:schema ./job.schema.json

    \b
    Examples:
      spewy schema > job.schema.json
    """  # noqa: D301
    from spewy.job.schema import job_schema

    click.echo(json.dumps(job_schema(), indent=2))
