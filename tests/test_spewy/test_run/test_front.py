"""What packages show: short imports, `__all__`, `dir`, the version, types for those who look from outside."""

import ast
import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import POLARISED, good, write
from jobs import EXAMPLES

import spewy
from buckets.cards import parse_hand
from lockers import LockerError
from solvers.discount import variant
from solvers.exact import ExactCfr
from spewy.game.ranges import parse_range
from spewy.look import BoardBuckets

ROOT = EXAMPLES.parent
PACKAGES = ("buckets", "compiled", "lockers", "solvers", "spewy")
PUBLIC = (
    "buckets.abstraction",
    "buckets.cards",
    "buckets.kernels",
    "compiled",
    "lockers",
    "solvers",
    "solvers.exact",
    "spewy",
    "spewy.cli",
    "spewy.game.ranges",
    "spewy.look",
    "spewy.match",
    "spewy.plot",
)
"""Packages that name what is public, in `__all__`."""
DOORS = ("For researchers", "For authors of bots")
"""Sections of the README with programs that read a solve of T1."""


def readme_example():
    """The Python programs of the README, one after the other."""
    text = (ROOT / "README.md").read_text()
    sections = [text.split(f"\n## {door}\n")[1].split("\n## ")[0] for door in DOORS]
    programs = [block.split("```")[0] for section in sections for block in section.split("```python\n")[1:]]
    assert len(programs) == text.count("```python\n")
    return "\n".join(programs)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_package_names_what_is_public(name):
    package = importlib.import_module(name)
    scope = {}
    exec(f"from {name} import *", scope)
    assert package.__all__
    assert set(package.__all__) <= set(scope)
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize(
    "code",
    [
        "import spewy; assert 'Job' in dir(spewy), dir(spewy); assert 'spewy.job' not in sys.modules",
        "import spewy.errors, lockers, buckets.errors, solvers.errors; assert 'numba' not in sys.modules",
        *(
            f"{first}\nimport spewy\nfrom spewy import solve\nassert solve is spewy.solve\nassert callable(solve)"
            for first in ("import spewy.run.session", "from spewy import Session")
        ),
    ],
    ids=["names are told unloaded", "errors load no compiler", "solve is a function", "solve, again"],
)
def test_imports_in_a_new_process(code):
    subprocess.run([sys.executable, "-c", f"import sys\n{code}"], check=True)


@pytest.mark.parametrize("name", ["buckets.abstraction", "spewy", "spewy.look"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'Nothing'"):
        importlib.import_module(name).Nothing  # noqa: B018


@pytest.fixture(scope="module")
def polarised(tmp_path_factory):
    folder = tmp_path_factory.mktemp("polarised")
    spewy.solve(write(folder, POLARISED), folder / "out").close()
    return folder / "out"


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
        assert solution.node().actions == ("check", "all-in 100")


@pytest.mark.parametrize("form", [str, Path, spewy.Job.load], ids=["text", "path", "job"])
def test_solve_takes_a_job_or_its_file(tmp_path, form):
    path = write(tmp_path, POLARISED)
    assert spewy.solve(form(path)).result.converged
    with spewy.solve(form(path), tmp_path / "out") as solution:
        assert solution.job.name == "polarised"
        assert solution.result.converged
    with spewy.Solution.open(tmp_path / "out") as again:
        assert again.result == solution.result
        assert again.trace().equals(solution.trace())


def test_solve_tells_how_it_goes(tmp_path):
    checks = []

    def hear(event):
        if isinstance(event, spewy.Checked):
            checks.append(event.done)

    result = spewy.solve(write(tmp_path, POLARISED), listener=hear).result
    assert checks[-1] == result.sweeps


def test_solve_refuses_what_is_no_job(tmp_path):
    with pytest.raises(spewy.InputError, match="expected a readable text file"):
        spewy.solve(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: spewy.Job.load(5), "job: expected a path, found 5"),
        (lambda: spewy.solve(None), "job: expected a path, found None"),
        (lambda: spewy.Session(5), "session: expected a Job, such as Job.load returns, found 5"),
        (lambda: spewy.Solution.open(5), "folder: expected a path, found 5"),
        (lambda: spewy.open_policy(b"x"), "folder: expected a path, found b'x'"),
    ],
)
def test_what_is_no_path_is_named(wrong, told):
    with pytest.raises(spewy.InputError, match=told):
        wrong()


UNDER_NO_SPEWY_ERROR = {
    "spewy.competitions.upac.runtime.tables.TablesError": "its package runs at a competition with NumPy alone",
    "spewy.competitions.online.server._FailedError": "stays in its module",
    "spewy.match.table._OutOfTimeError": "stays in its module; a bot that catches every Exception must not catch it",
    "spewy.web.background._ForsakenError": "stays in its module",
}
"""Classes of errors that are no `spewy.SpewyError`, and why."""


def error_classes():
    classes = {}
    for name in PACKAGES:
        for path in (ROOT / name).rglob("*.py"):
            tree = ast.parse(path.read_text())
            defined = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            if any("Error" in word or "Exception" in word for word in defined):
                loaded = importlib.import_module(module)
                kinds = {word: getattr(loaded, word) for word in defined if hasattr(loaded, word)}
                classes |= {f"{module}.{word}": kind for word, kind in kinds.items()}
    return {name: kind for name, kind in classes.items() if issubclass(kind, BaseException)}


def test_every_error_is_a_spewy_error_and_can_be_pickled():
    classes = error_classes()
    assert len(classes) > 20
    assert {name for name, kind in classes.items() if not issubclass(kind, spewy.SpewyError)} == set(
        UNDER_NO_SPEWY_ERROR
    )
    for name, kind in classes.items():
        if name not in UNDER_NO_SPEWY_ERROR:
            error = kind(1, "text") if name.endswith("BadReplyError") else kind("text")
            again = pickle.loads(pickle.dumps(error))
            assert (type(again), str(again), vars(again)) == (kind, "text", vars(error))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda solution: spewy.Solution.open(EXAMPLES / "T1.toml"),
        lambda solution: spewy.open_policy(EXAMPLES / "T1.toml"),
        lambda solution: spewy.open_bot(EXAMPLES),
        lambda solution: spewy.play_match("call", "nobody", game="leduc"),
        lambda solution: spewy.Job.of({"spot": {"board": "Zz"}}),
        lambda solution: spewy.solve_rivers(spewy.Job.load(EXAMPLES / "R1.toml"), ["Qs"], [1.0], [1.0]),
        lambda solution: solution.node("x", "Zz Jh 2h 8c 3d"),
        lambda solution: solution.node("zzz"),
        lambda solution: solution.node().action_probabilities("AsAs"),
        lambda solution: solution.node().action_probabilities(7),
        lambda solution: BoardBuckets.of("Ks 7d Zz"),
        lambda solution: BoardBuckets.of("Ks 7d"),
        lambda solution: parse_hand("Zz"),
        lambda solution: parse_range("AAA"),
        lambda solution: ExactCfr(None, variant("slow")),
        lambda solution: solution.close() or solution.node("x"),
    ],
)
def test_whoever_catches_spewy_errors_catches_what_is_wrong(polarised, wrong):
    with spewy.Solution.open(polarised) as solution, pytest.raises(spewy.SpewyError):
        wrong(solution)


def test_the_readme_example_runs(tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    scope = {}
    exec(readme_example(), scope)
    assert scope["solution"].result.exploitability_pct < 0.3
    with spewy.Solution.open("results/T1") as continued:
        assert continued.result.exploitability_pct < 0.1
    assert sum(scope["node"].action_probabilities("AsKs").values()) == pytest.approx(1)
    policy = ast.literal_eval(capsys.readouterr().out.splitlines()[-1])
    assert sum(policy.values()) == pytest.approx(1)


@pytest.mark.slow
def test_types_are_seen_from_outside(tmp_path):
    """Where nothing but the installation, or a search path, tells where the packages are."""
    api = pytest.importorskip("mypy.api")
    (tmp_path / "example.py").write_text(readme_example())
    (tmp_path / "wrong.py").write_text(
        "from spewy import Job, Nothing, Session, solve\n"
        "reveal_type(Session(Job.load('a')).solve().ev)\n"
        "reveal_type(Session(Job.load('a')).solve().trace)\n"
        "solve(3)\n"
    )
    good_told, _, code = api.run(
        ["--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "example.py")]
    )
    assert code == 0, good_told
    told, _, _ = api.run(["--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "wrong.py")])
    assert 'Module "spewy" has no attribute "Nothing"' in told
    assert 'Revealed type is "tuple[float, float] | None"' in told
    assert 'Revealed type is "tuple[tuple[int, float, float], ...]"' in told
    assert 'Argument 1 to "solve" has incompatible type "int"' in told
    assert told.count("error:") == 2
