"""Commands load what they use: most of the time of a short command goes into loading libraries."""

import sys

import pytest
from cli_runs import POLARISED, good, spewy, write
from loaded import loaded_by

RIVER = POLARISED + '[rows]\nclustering = "ward"\n'


SPEWY = {"lmdb", "numpy", "pydantic"}
KERNELS = SPEWY | {"numba", "numpy.ma", "scipy"}
"""Numba loads SciPy's linear algebra with its first kernel; np.unique and its like load masked arrays."""


def loaded_by_command(*args, before=""):
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


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import spewy", set()),
        ("import spewy.look.folder", SPEWY),
        (
            "import spewy.web.server\nfrom spewy.web.position import position\n"
            "position(spewy.Solution.open({folder!r}))",
            SPEWY | {"numpy.ma"},
        ),
        ("with spewy.open_policy({folder!r}) as policy: policy.frequencies('', None, 'KhKd')", SPEWY),
    ],
    ids=["the package", "a folder", "a position", "a decision"],
)
def test_modules_load_no_kernels(solved, code, allowed):
    assert loaded_by(f"import spewy\n{code.format(folder=str(solved[1]))}") <= allowed


@pytest.mark.parametrize(
    ("args", "allowed"),
    [
        ("solve --help", set()),
        ("tree {job}", {"numpy", "pydantic"}),
        ("estimate {job} --set spot.pot=0", SPEWY),
        ("check {folder}", {"lmdb", "numpy"}),
        ("solve {job} --out {folder} --again", KERNELS),
        ("show {folder} --grid", KERNELS - {"numpy.ma"} | {"rich"}),
        ("exploit {folder} --json", KERNELS),
    ],
)
def test_commands_load_what_they_use(solved, args, allowed):
    job, folder = solved
    assert loaded_by_command(*args.format(job=job, folder=folder).split()) <= allowed


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
    needs = f"needs the package {package}, which is not installed (pip install 'spewy[{extra}]')"
    assert result.stderr == f"Error: this command {needs}\n"
    assert not list(tmp_path.iterdir())


def test_a_csv_needs_no_pyarrow(solved, tmp_path):
    file = tmp_path / "new.csv"
    assert "pyarrow" in loaded_by_command("export", solved[1], file, before="sys.modules['pyarrow'] = None")
    assert file.exists()
