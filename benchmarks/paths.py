"""Folders from which benchmarks read jobs, and into which they write figures."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Root folder of the repository."""
EXAMPLES = ROOT / "examples"
SPOTS = ROOT / "benchmarks" / "spots"
"""Folder of job files that only benchmarks use."""
