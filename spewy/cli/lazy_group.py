"""A group of commands that imports the module of a command when the command is used, so that a start loads one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group of commands, each in a module of its own.

    Args:
        modules: the module of `spewy.cli` that holds each command, by the command's name. In the module, the command
            has its own name, with ``_`` in place of ``-``.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of all commands."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if the group has no command of this name.

        For an unknown name all commands are imported, since click suggests similar names from those.
        """
        wanted = [cmd_name] if cmd_name in self._modules else self.list_commands(ctx)
        for name in wanted:
            if name not in self.commands:
                module = import_module(f"spewy.cli.{self._modules[name]}")
                self.add_command(getattr(module, name.replace("-", "_")))
        return self.commands.get(cmd_name)
