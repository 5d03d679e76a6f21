"""Which heavy libraries a program loads."""

import json
import subprocess
import sys

HEAVY = {
    *("joblib", "lmdb", "matplotlib", "numba", "numpy", "numpy.ma", "openpyxl", "pandas", "pyarrow"),
    *("pydantic", "rich", "scipy", "sklearn"),
}


def loaded_by(code):
    """Which heavy libraries a program has loaded when it ends."""
    told = f"import json, sys; print(json.dumps(sorted({HEAVY!r} & set(sys.modules))))"
    found = subprocess.run(
        [sys.executable, "-c", f"{code}\n{told}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(found.stdout.splitlines()[-1]))
