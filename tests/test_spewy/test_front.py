"""What packages show: short imports, `__all__`, `dir`, the version, types for those who look from outside."""

import importlib
import os
import subprocess
import sys

import pytest
from cli_runs import POLARISED, good, write
from jobs import EXAMPLES

import spewy
from lockers import LockerError

ROOT = EXAMPLES.parent
PACKAGES = (
    "buckets",
    "buckets.kernels",
    "lockers",
    "solvers",
    "solvers.exact",
    "spewy",
    "spewy.cli",
    "spewy.game",
    "spewy.solve",
)


def readme_example():
    """The program under "From Python"."""
    return (ROOT / "README.md").read_text().split("## From Python")[1].split("```python\n")[1].split("```")[0]


def test_these_are_all_packages():
    found = {
        ".".join(init.parent.relative_to(ROOT).parts)
        for name in ("buckets", "lockers", "solvers", "spewy")
        for init in (ROOT / name).rglob("__init__.py")
    }
    assert found == set(PACKAGES)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_names_what_is_public(name):
    package = importlib.import_module(name)
    scope = {}
    exec(f"from {name} import *", scope)
    assert package.__all__
    assert set(package.__all__) <= set(scope)
    assert set(package.__all__) <= set(dir(package))


def test_dir_tells_names_that_are_not_loaded():
    code = "import sys, spewy; assert 'Job' in dir(spewy), dir(spewy); assert 'spewy.job' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["buckets", "solvers", "spewy", "spewy.solve"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'Nothing'"):
        importlib.import_module(name).Nothing  # noqa: B018


def test_a_checkout_that_is_not_installed_knows_its_version():
    """Without site-packages: nothing but the standard library is there."""
    code = "import spewy; print(spewy.__version__)"
    told = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == spewy.__version__
    assert good("--version") == f"spewy {spewy.__version__}\n"


def test_a_session_closes_itself_and_takes_the_folder_as_text(tmp_path):
    job = spewy.Job.load(write(tmp_path, POLARISED))
    with spewy.Session(job, str(tmp_path / "out")) as session:
        assert session.solve().converged
    with pytest.raises(LockerError, match="closed"):
        session.store.check()
    with spewy.Solution.open(tmp_path / "out") as solution:
        assert solution.node().actions == ("Check", "AllIn(100)")
