"""Matches between bots or against a person, scores with and without luck, hand histories and their reviews."""

from typing import TYPE_CHECKING

from spewy.system.tools import lazy_names

if TYPE_CHECKING:
    from spewy.match.hand_files import read_hands
    from spewy.match.match import play_match
    from spewy.match.review import open_strategy, review_hands, summary
    from spewy.match.score import Score

__all__ = ["Score", "open_strategy", "play_match", "read_hands", "review_hands", "summary"]

_MODULES = {
    "Score": "score",
    "open_strategy": "review",
    "play_match": "match",
    "read_hands": "hand_files",
    "review_hands": "review",
    "summary": "review",
}

if not TYPE_CHECKING:  # with this function a type checker would accept any name
    __getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    """Return the public names of the package, whether their modules are imported yet or not."""
    return sorted(__all__)
