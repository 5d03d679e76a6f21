"""The README is short; `test_front.py` runs its Python."""

from jobs import EXAMPLES

MOST_WORDS = 1200


def test_the_readme_is_short():
    assert len((EXAMPLES.parent / "README.md").read_text().split()) <= MOST_WORDS
