"""Settings of the documentation site: ``make docs`` builds it from the pages of this folder.

The pages load nothing from other servers: furo uses the fonts of the reader's system, and the search runs in the
browser. A warning ends the build, so each link and anchor between the pages is right.
"""

import sys
from pathlib import Path

from sphinx.application import Sphinx

from spewy import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "Spewy"
author = "the authors of Spewy"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "commands",
    "job_keys",
    "link_summary",
    "mathml",
    "notebook_pages",
]
exclude_patterns = ["extensions", "figures", "static"]
nb_execution_mode = "off"  # the Makefile executes the notebooks, and extensions/notebook_pages.py copies them
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
nb_merge_streams = True
html_math_renderer = "mathml"
myst_heading_anchors = 4
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "

default_role = "py:obj"
"""Docstrings write `name`: a link if the name stands in the reference, otherwise code."""
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]
autodoc_member_order = "bysource"
napoleon_use_ivar = True

smartquotes = False  # they would turn the options --pot and --stack into –pot and –stack
html_theme = "furo"
html_title = "Spewy"
html_show_sphinx = html_show_copyright = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["notebooks.css"]


def setup(app: Sphinx) -> None:
    """Leave out members that other libraries add to a class."""
    app.connect("autodoc-skip-member", is_foreign)


def is_foreign(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Skip the request methods of scikit-learn's estimators, and named tuples' aliases; None: as autodoc decides."""
    text = getattr(member, "__doc__", None) or ""
    added = (name.startswith("set_") and name.endswith("_request")) or text.startswith(
        "Alias for field number"
    )
    return True if added else None
