"""Settings of the documentation site: ``make docs`` builds it from the pages of this folder.

The pages load nothing from other servers: furo uses the fonts of the reader's system, and the search runs in the
browser. A warning ends the build, so each link and anchor between the pages is right.
"""

from spewy import __version__

project = "Spewy"
author = "the authors of Spewy"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinx_copybutton"]
nb_execution_mode = "off"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nitpicky = True
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "

html_theme = "furo"
html_title = "Spewy"
html_show_sphinx = False
html_copy_source = False
