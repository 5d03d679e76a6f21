"""Execute every notebook of this folder in a temporary copy; a notebook fails at its first error.

    python notebooks/run.py [--save FOLDER] [NAME ...]

``--save`` writes the executed notebooks, with their pictures, into a folder. Notebooks in git must have no outputs;
``--check`` fails if one has.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run the command line; return 0 if all notebooks ran, or if `--check` found no outputs, else 1."""
    parser = argparse.ArgumentParser(description="Execute the notebooks of this folder.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="notebooks to run; all by default")
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FOLDER",
        help="write the executed notebooks, with their outputs, into this folder",
    )
    parser.add_argument(
        "--check", action="store_true", help="run nothing; fail if a notebook has stored outputs"
    )
    parser.add_argument(
        "--timeout", type=int, default=900, help="time limit of a cell, in seconds (default 900)"
    )
    args = parser.parse_args()
    found = sorted(HERE.glob("*.ipynb"))
    unknown = set(args.names) - {path.name for path in found}
    if unknown:
        parser.error(f"expected names of notebooks in this folder, found {', '.join(sorted(unknown))}")
    chosen = [path for path in found if not args.names or path.name in args.names]
    failed = [path.name for path in chosen if not (_is_bare(path) if args.check else _run(path, args))]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _run(path: Path, args: argparse.Namespace) -> bool:
    notebook = nbformat.read(path, as_version=4)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:  # as in the repository: job files lie in ../examples
        for name in ("examples", "docs/data"):
            shutil.copytree(HERE.parent / name, Path(folder) / name)
        place = Path(folder) / "notebooks"
        place.mkdir()
        resources = {"metadata": {"path": str(place)}}
        # ipykernel warns of TCP, which other users could read; so the kernel listens on files in the folder
        local = Config(KernelManager={"transport": "ipc", "ip": str(Path(folder) / "kernel")})
        client = NotebookClient(
            notebook, timeout=args.timeout, kernel_name="python3", resources=resources, config=local
        )
        try:
            client.execute()
        except CellExecutionError as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            return False
        finally:
            if args.save:
                args.save.mkdir(parents=True, exist_ok=True)
                nbformat.write(notebook, args.save / path.name)
    print(f"{path.name}: {time.perf_counter() - started:.0f} s")
    return True


def _is_bare(path: Path) -> bool:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    bare = not any(cell.outputs or cell.execution_count for cell in cells)
    if not bare:
        print(f"{path.name}: the notebook has stored outputs; clear all outputs", file=sys.stderr)
    return bare


if __name__ == "__main__":
    sys.exit(main())
