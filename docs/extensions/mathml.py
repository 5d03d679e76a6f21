"""Writes formulas as MathML, which browsers show by themselves: no script from another server is loaded."""

from __future__ import annotations

import html

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

log = logging.getLogger(__name__)


def write_inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence, and no other text of the node."""
    writer.body.append(mathml(node))
    raise nodes.SkipNode


def write_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands alone, and no other text of the node."""
    writer.body.append(f'<div class="math">{mathml(node)}</div>\n')
    raise nodes.SkipNode


def mathml(node: nodes.math | nodes.math_block) -> str:
    """Translate a formula; LaTeX that docutils does not know is a warning, and stays as it is."""
    text = node.astext()
    try:
        return str(tex2mathml(text, as_block=isinstance(node, nodes.math_block)))
    except MathError as error:
        log.warning("formula %r: %s", text, error, location=node)
        return html.escape(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the writer under the name that ``html_math_renderer`` has in conf.py."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
