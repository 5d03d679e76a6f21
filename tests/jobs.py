"""Jobs that tests share, as dictionaries in the job file's form."""

from pathlib import Path

from spewy.job.job import Job
from spewy.look.solution import Solution
from spewy.run.session import Session

EXAMPLES = Path(__file__).parent.parent / "examples"


def toy(name, **solve):
    """A whole small game through the lockers."""
    options = {
        "variant": "cfr+",
        "leaves": "stored",
        "symmetry": False,
        "target": "0 chips",
        "check_every": 1000,
    }
    return Job.of({"name": name, "game": {"file": name}, "solve": options | solve})


def example(name, *overrides):
    """One of the example jobs."""
    return Job.load(EXAMPLES / f"{name}.toml", overrides)


def solved(job):
    """The result of a solve in memory, and the view of what it stored."""
    session = Session(job)
    result = session.solve()
    return result, Solution(job, session.store)
