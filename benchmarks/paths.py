"""Folders that benchmarks read jobs from and write figures to."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
EXAMPLES = ROOT / "examples"
SPOTS = ROOT / "benchmarks" / "spots"
"""Jobs that only benchmarks solve."""
