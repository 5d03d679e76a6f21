"""Commands load what they use: most of the time of a short command goes into loading libraries."""

import sys

import pytest
from cli_runs import POLARISED, good, spewy, write
from loaded import loaded_by

RIVER = POLARISED + '[rows]\nclustering = "ward"\n'
KERNELS = {"numba", "numpy.ma", "scipy"}
"""Numba loads SciPy's linear algebra with its first kernel; np.unique and its like load masked arrays."""


def loaded_by_command(*args, before=""):
    """The same of a command."""
    call = f"main({[str(arg) for arg in args]!r}, prog_name='spewy')"
    return loaded_by(
        f"import sys\n{before}\nfrom spewy.cli import main\ntry:\n    {call}\nexcept SystemExit:\n    pass"
    )


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("river")
    job = write(folder, RIVER)
    good("solve", job, "--out", folder / "out")
    return job, folder / "out"


def test_the_package_alone_loads_nothing():
    assert not loaded_by("import spewy")


@pytest.mark.parametrize("module", ["records.policy", "look.folder"])
def test_the_policy_loads_no_kernels(module):
    assert loaded_by(f"import spewy.{module}") <= {"lmdb", "numpy", "pydantic"}


def test_the_server_and_a_position_load_no_kernels(solved):
    position = f"from spewy.web.position import position\nposition(spewy.Solution.open({str(solved[1])!r}))"
    assert loaded_by(f"import spewy.web.server\n{position}") <= {"lmdb", "numpy", "numpy.ma", "pydantic"}


def test_one_decision_loads_no_kernels(solved):
    answer = f"with spewy.open_policy({str(solved[1])!r}) as policy: policy.frequencies('', None, 'KhKd')"
    assert loaded_by(f"import spewy\n{answer}") <= {"lmdb", "numpy", "pydantic"}


def test_tree_loads_no_kernels(solved):
    assert loaded_by_command("tree", solved[0]) <= {"numpy", "pydantic"}


def test_an_estimate_that_is_refused_loads_no_kernels(solved):
    assert loaded_by_command("estimate", solved[0], "--set", "spot.pot=0") <= {"lmdb", "numpy", "pydantic"}


def test_check_loads_no_kernels(solved):
    assert loaded_by_command("check", solved[1]) <= {"lmdb", "numpy"}


@pytest.mark.parametrize("again", [(), ("--again",)], ids=["done", "again"])
def test_a_river_is_solved_without_tables_and_pictures(solved, again):
    job, folder = solved
    assert loaded_by_command("solve", job, "--out", folder, *again) <= {"lmdb", "numpy", "pydantic"} | KERNELS


def test_show_loads_no_frames(solved):
    assert loaded_by_command("show", solved[1]) <= {"lmdb", "numpy", "pydantic", "rich"} | KERNELS


def test_a_grid_loads_no_frames_and_pictures(solved):
    assert loaded_by_command("show", solved[1], "--grid") <= {"lmdb", "numpy", "pydantic", "rich"} | KERNELS


def test_looking_loads_no_masked_arrays(solved):
    """They take as long to load as a river's decision to be looked at."""
    assert "numpy.ma" not in loaded_by_command("show", solved[1], "--grid")


def test_exploit_loads_no_frames(solved):
    assert loaded_by_command("exploit", solved[1], "--json") <= {"lmdb", "numpy", "pydantic"} | KERNELS


@pytest.mark.parametrize(
    ("package", "extra", "args"),
    [
        ("pandas", "export", ("export", "{folder}", "{new}.csv")),
        ("pyarrow", "export", ("export", "{folder}", "{new}.parquet")),
        ("openpyxl", "export", ("export", "{folder}", "{new}.xlsx")),
        ("pandas", "export", ("report", "{folder}", "--line", "cc/", "--csv", "{new}.csv")),
        ("matplotlib", "plot", ("report", "{folder}", "--line", "cc/", "--plot", "{new}.png")),
        ("matplotlib", "plot", ("show", "{folder}", "--plot", "{new}.png")),
        ("matplotlib", "plot", ("buckets", "QsJh2h8c3d", "--plot", "{new}.png")),
    ],
)
def test_a_command_names_the_extra_that_it_misses(solved, tmp_path, monkeypatch, package, extra, args):
    monkeypatch.setitem(sys.modules, package, None)
    new = tmp_path / "new"
    result = spewy(*(arg.format(folder=solved[1], new=new) for arg in args))
    assert (result.exit_code, result.stdout) == (1, "")
    expected = (
        f"this command needs the package {package}, which is not installed (pip install 'spewy[{extra}]')"
    )
    assert result.stderr == f"Error: {expected}\n"
    assert not list(tmp_path.iterdir())


def test_a_csv_needs_no_pyarrow(solved, tmp_path):
    file = tmp_path / "new.csv"
    assert "pyarrow" in loaded_by_command("export", solved[1], file, before="sys.modules['pyarrow'] = None")
    assert file.exists()
