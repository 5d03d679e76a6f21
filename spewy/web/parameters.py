"""Reads parameters that several questions about a solution have in common."""

from __future__ import annotations

from spewy.web.answers import Parameters, text


def filters_of(parameters: Parameters) -> list[str]:
    """Return the list of hand filters in the parameter ``filter``, where semicolons separate them."""
    return [each for each in text(parameters, "filter", "").split(";") if each.strip()]
