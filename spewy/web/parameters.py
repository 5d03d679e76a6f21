"""Parameters that several questions about a solution have."""

from __future__ import annotations

from spewy.web.answers import Parameters, text


def filters_of(parameters: Parameters) -> list[str]:
    """Return the filters of hands in the parameter ``filter``, which semicolons separate."""
    return [each for each in text(parameters, "filter", "").split(";") if each.strip()]
