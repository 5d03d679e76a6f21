"""Execute the notebooks of this folder, each in a temporary copy; a notebook fails at its first error.

    python notebooks/run.py [NAME ...]           # writes the outputs into the notebooks
    python notebooks/run.py --check [NAME ...]   # compares them with the outputs that the notebooks have

Notebooks in git have outputs, so that a reader of the repository sees pictures and tables. `--check` executes a
notebook and fails if an output differs: another text, or a number that is off by more than two per cent (rounding and
processors differ). In cells with the tag ``varies``, such as those that print times, numbers may differ.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from io import BytesIO
from math import isclose
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from PIL import Image
from traitlets.config import Config

HERE = Path(__file__).resolve().parent
MOST_BYTES = 320_000
"""Largest size of a notebook with its outputs."""
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
VARIES = "varies"


def main() -> int:
    """Run the command line; return 0 if all notebooks ran and, with `--check`, have their outputs, else 1."""
    parser = argparse.ArgumentParser(description="Execute the notebooks of this folder.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="notebooks to run; all by default")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if an output differs from the stored one"
    )
    parser.add_argument(
        "--timeout", type=int, default=900, help="time limit of a cell, in seconds (default 900)"
    )
    args = parser.parse_args()
    found = {path.name: path for path in sorted(HERE.glob("*.ipynb"))}
    if unknown := set(args.names) - set(found):
        parser.error(f"expected names of notebooks in this folder, found {', '.join(sorted(unknown))}")
    failed = [name for name in args.names or found if not run(found[name], args.check, args.timeout)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(path: Path, check: bool, timeout: int) -> bool:
    """Execute a notebook; write it, or compare its outputs; print what is wrong."""
    notebook = nbformat.read(path, as_version=4)
    stored = nbformat.read(path, as_version=4)
    started = time.perf_counter()
    try:
        execute(notebook, timeout)
    except CellExecutionError as error:
        print(f"{path.name}: {error}", file=sys.stderr)
        return False
    text = nbformat.writes(notebook)
    problems = list(differences(stored, notebook)) if check else []
    if len(text) > MOST_BYTES:
        problems.append(f"expected at most {MOST_BYTES:,} bytes with outputs, found {len(text):,}")
    for problem in problems:
        print(f"{path.name}: {problem}", file=sys.stderr)
    if not check:
        path.write_text(text + "\n")
    print(f"{path.name}: {time.perf_counter() - started:.0f} s")
    return not problems


def execute(notebook: NotebookNode, timeout: int) -> None:
    """Execute a notebook in a temporary folder with the examples and data of the repository, in place."""
    with tempfile.TemporaryDirectory() as folder:  # as in the repository: job files lie in ../examples
        for name in ("examples", "docs/data"):
            shutil.copytree(HERE.parent / name, Path(folder) / name)
        place = Path(folder) / "notebooks"
        place.mkdir()
        NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            resources={"metadata": {"path": str(place)}},
            record_timing=False,
            # ipykernel warns of TCP, which other users could read; so the kernel listens on files in the folder
            config=Config(KernelManager={"transport": "ipc", "ip": str(Path(folder) / "kernel")}),
        ).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = smaller(output.data["image/png"])
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}  # without the version of this Python


def smaller(picture: str) -> str:
    """Reduce a picture (PNG in base64) to 40 colours, which takes a quarter of the bytes."""
    reduced = BytesIO()
    Image.open(BytesIO(b64decode(picture))).convert("RGB").quantize(40).save(reduced, "PNG", optimize=True)
    return b64encode(reduced.getvalue()).decode()


def differences(stored: NotebookNode, executed: NotebookNode) -> Iterator[str]:
    """Describe each code cell whose outputs differ; run the notebook without ``--check`` to write the new ones."""
    for number, (before, now) in enumerate(zip(stored.cells, executed.cells, strict=True)):
        if now.cell_type != "code":
            continue
        (kinds, text), (new_kinds, new_text) = shown(before), shown(now)
        numbers = list(map(value, NUMBER.findall(text)))
        new_numbers = list(map(value, NUMBER.findall(new_text)))
        same = kinds == new_kinds and NUMBER.sub("#", text) == NUMBER.sub("#", new_text)
        if same and VARIES not in now.metadata.get("tags", []):
            same = all(
                isclose(a, b, rel_tol=0.02, abs_tol=1e-9) for a, b in zip(numbers, new_numbers, strict=True)
            )
        if not same:
            yield f"cell {number}: expected\n{text or kinds}\nfound\n{new_text or new_kinds}"


def shown(cell: NotebookNode) -> tuple[list[str], str]:
    """Kinds of the outputs of a cell, and their text without the white space that aligns columns."""
    kinds, texts = [], []
    for output in cell.outputs:
        data = output.get("data", {"text": output.get("text", "")})
        kind = ", ".join(sorted(data))
        if kind != "text" or kinds[-1:] != ["text"]:  # a busy kernel sends one text in several parts
            kinds.append(kind)
        if not any(kind.startswith("image/") for kind in data):
            texts.append(data.get("text/plain", data.get("text", "")))
    return kinds, re.sub(r"[\s─━]+", " ", "".join(texts)).strip()


def value(text: str) -> float:
    """The number that a text stands for; NaN never occurs, since `NUMBER` matches digits only.

    >>> value("−1,234.5")
    -1234.5
    """
    return float(text.replace(",", "").replace("−", "-"))


if __name__ == "__main__":
    sys.exit(main())
