"""Nested dictionaries as TOML."""

import json
import math


def toml(data: dict[str, object]) -> str:
    """The text that ``tomllib`` reads as these dictionaries, unless they hold what TOML cannot say."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in data.items())


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("-", "").replace("_", "").isalnum() else json.dumps(key)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**4000 else "0"
    return json.dumps(value, ensure_ascii=False)
