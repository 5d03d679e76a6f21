"""Names of bots in logs and tables."""

from __future__ import annotations

import re


def plain_name(name: str) -> str:
    """A name that separates no fields of logs.

    >>> plain_name("a b|c"), plain_name("//")
    ('a-b-c', '-')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:60] or "bot"
