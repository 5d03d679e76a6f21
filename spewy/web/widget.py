"""Shows a solution in a notebook: the component of the look page as an anywidget, whose questions Python answers."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import anywidget
import traitlets

from buckets.cards import cards_name
from spewy.errors import shown
from spewy.game.nodes import Line
from spewy.look.solution import Solution
from spewy.web.answers import answer_of
from spewy.web.bundle import STATIC, bundle, styles
from spewy.web.looking import solution_questions


def widget_script() -> str:
    script = f"{bundle('widget.js')}\nconst NOTEBOOK_STYLE = {json.dumps(shadow_styles())};\n"
    return f"{script}export default {{ render: (context) => renderWidget(context, NOTEBOOK_STYLE) }};\n"


def shadow_styles() -> str:
    """Return the styles of the pages for a shadow root, which keeps them apart from the notebook's own styles.

    Rules for ``:root`` become rules for the shadow root's host, and rules for ``body`` become rules for the element
    with the class ``notebook``.
    """
    text = re.sub(r":root((?:\[[^\]]*\])+|:not\([^)]*\))", r":host(\1)", styles())
    text = re.sub(r"^body\b", ".notebook", text.replace(":root", ":host"), flags=re.MULTILINE)
    return text + (STATIC / "widget.css").read_text("utf-8")


class LookWidget(anywidget.AnyWidget):
    """A solution to click through in a notebook.

    Args:
        solution: the solution; it must stay open.
        line: betting before the position to show first, as players write it or as an ACPC string.

    Attributes:
        place: the position that the widget shows, an object with the texts ``line`` and ``board``. It changes with
            every click, and the widget follows if Python changes it.

    Raises:
        InputError: the line does not exist, or the board is impossible after it.
    """

    _esm = widget_script()
    place = traitlets.Dict(per_key_traits={"line": traitlets.Unicode(), "board": traitlets.Unicode()}).tag(
        sync=True
    )

    def __init__(self, solution: Solution, line: str = "", board: str | None = None) -> None:
        self._solution = solution
        self._questions = solution_questions(_OneSolution(solution))
        super().__init__(place=self._place(line, board))
        self.on_msg(self._answer)

    def go(self, line: str = "", board: str | None = None) -> None:
        """Show another position: a line as players write it or as an ACPC string, and all public cards."""
        self.place = self._place(line, board)

    def _place(self, line: str, board: str | None) -> dict[str, str]:
        place = self._solution.at(line, board)
        amounts = self._solution.job.amounts
        return {"line": amounts.line_text(Line(place.line)), "board": cards_name(place.cards)}

    def _answer(self, widget: object, message: Any, buffers: object) -> None:
        del widget, buffers
        fields = message if isinstance(message, dict) else {}
        path, query = fields.get("path"), fields.get("query")
        question = self._questions.get(path) if isinstance(path, str) else None
        if not isinstance(path, str) or not isinstance(query, dict):
            answer: dict[str, Any] = {
                "error": f"expected a message with a path and a query, found {shown(message)}; run the cell again"
            }
        elif question is None:
            answer = {"error": "a notebook cannot answer this question; spewy serve can"}
        else:
            status, found = answer_of(question, {"folder": "", **query})
            answer = {"answer": found} if status == 200 else found
        self.send({"id": fields.get("id"), **answer})


class _OneSolution:
    """Stands in for a server's folders: opens the one solution of a notebook, whatever its name."""

    def __init__(self, solution: Solution) -> None:
        self._solution = solution

    def solution(self, name: str) -> AbstractContextManager[Solution]:
        """Return the solution; the end of the ``with`` block does not close it."""
        del name
        return nullcontext(self._solution)
