"""The widget of notebooks: messages, the script in a page with a stand-in for the notebook, and a real kernel."""

import sys
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

from spewy.errors import InputError, MissingError
from spewy.web.bundle import styles
from spewy.web.position import position, summary
from spewy.web.widget import shadow_styles

BOARD = "Qs7h2d3c"
NOTEBOOK = """
<style>
  body { background: #111; color: #eee; font-size: 40px; }
  .grid, .ribbon { display: none; }
  button { text-transform: uppercase; }
</style>
<h1>Notebook</h1><table><tr><th id="mine">mine</th></tr></table>
<div id="first"></div><div id="second"></div>
"""
"""A dark page whose styles would break the component, if they reached it."""
START = """
async ([script, place, ids]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const listeners = {};
  const tell = (name, ...values) => (listeners[name] || []).forEach((listener) => listener(...values));
  const state = { place };
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; tell(`change:${name}`); },
    save_changes: () => { window.saved = state.place; },
    on: (name, listener) => { (listeners[name] ||= []).push(listener); },
    off: (name, listener) => { listeners[name] = listeners[name].filter((each) => each !== listener); },
    send: async (message) => {
      const answer = await window.toPython(message);
      if (answer) tell("msg:custom", answer);
    },
  };
  window.listeners = listeners;
  window.heard = [];
  document.addEventListener("keydown", (event) => window.heard.push(event.key));
  window.stops = ids.map((id) => module.default.render({ model: window.model, el: document.getElementById(id) }));
}
"""
"""Script that shows the widget in the elements with some ids, with a model that passes messages to Python."""


@pytest.fixture
def notebook(page, turn):
    """A page with a widget in each of two outputs; ``silent`` lets Python leave questions without answers."""
    widget = turn.browse()
    sent, python = [], SimpleNamespace(silent=False)
    widget.send = sent.append

    def answer(message):
        if python.silent:
            return None
        widget._handle_custom_msg(message, [])
        return sent.pop()

    page.route("**/*", lambda route: route.fulfill(body=NOTEBOOK, content_type="text/html"))
    page.expose_function("toPython", answer)
    page.goto("http://notebook.test/")

    def show(*ids):
        page.evaluate(START, [widget._esm, widget.place, ids])
        shown = "#first [role=status]" if python.silent else "#first .grid"
        page.wait_for_selector(shown, state="attached")
        return page

    python.show = show
    return python


def asked(widget, path, **query):
    sent = []
    widget.send = sent.append
    widget._handle_custom_msg({"id": "a-1", "path": path, "query": query}, [])
    (answer,) = sent
    assert answer.pop("id") == "a-1"
    return answer


def test_messages_are_answered(turn):
    widget = turn.browse()
    assert asked(widget, "/api/summary") == {"answer": summary(turn)}
    query = {"line": "c", "board": BOARD, "filter": "pair+"}
    expected = position(turn, "c", BOARD, filters=["pair+"])
    answer = asked(widget, "/api/position", **query)
    for view in answer["answer"]["views"]:  # names that both players' hands share come once
        view["hands"]["names"] = view["hands"]["names"] or expected["views"][0]["hands"]["names"]
        view["kinds"] = view["kinds"] or expected["views"][0]["kinds"]
    assert answer == {"answer": expected}


def test_errors_are_answers(turn):
    widget = turn.browse()
    assert list(asked(widget, "/api/position", line="zz")) == ["error"]
    assert "zz" in asked(widget, "/api/position", line="zz")["error"]
    error = "a notebook cannot answer this question; spewy serve can"
    assert asked(widget, "/api/folders") == {"error": error}


QUESTION = {"id": 1, "path": "/api/summary", "query": {}}


@pytest.mark.parametrize(
    "message",
    [
        *(None, [], "text", {}, {"id": 1}, {"id": 1, "path": "/api/summary"}),
        *(QUESTION | {"path": ["/api/summary"]}, QUESTION | {"path": {}}),
        *(QUESTION | {"query": [1]}, QUESTION | {"query": "folder"}),
    ],
)
def test_messages_that_are_no_questions_are_answered_with_an_error(turn, message):
    widget, sent = turn.browse(), []
    widget.send = sent.append
    widget._handle_custom_msg(message, [])
    (answer,) = sent
    assert answer["id"] == (message.get("id") if isinstance(message, dict) else None)
    assert answer["error"].startswith("expected a message with a path and a query, found ")


@pytest.mark.parametrize("query", [{"line": 1}, {"line": ["c"]}, {"board": {}}, {"ev": None}, {"filter": 0}])
def test_parameters_of_messages_that_are_no_texts(turn, query):
    assert "expected text" in asked(turn.browse(), "/api/position", **query)["error"]


def test_the_place_of_a_widget(turn):
    assert turn.browse().place == {"line": "", "board": BOARD}
    widget = turn.browse("x b50")
    assert widget.place == {"line": "cr50", "board": BOARD}
    widget.go("x x", f"{BOARD}9h")
    assert widget.place == {"line": "cc/", "board": f"{BOARD}9h"}
    with pytest.raises(InputError, match="zz"):
        widget.go("zz")
    with pytest.raises(InputError, match="zz"):
        turn.browse("zz")


@pytest.mark.parametrize("package", ["anywidget", "starlette"])
def test_a_missing_package_is_named(turn, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    expected = rf"browse: needs the package {package}, .* \(pip install 'spewy\[web\]'\)"
    with pytest.raises(MissingError, match=expected):
        turn.browse()


def test_the_notebook_keeps_its_own_styles():
    text = shadow_styles()
    assert ":root" in styles()
    assert ":root" not in text
    assert "\nbody" not in text
    assert text.count("{") == styles().count("{") + 1


def test_a_widget_shows_positions_and_tells_its_place(notebook):
    page = notebook.show("first")
    assert page.locator("#first h1").inner_text() == "turn"
    page.click('#first .stage.here [data-step="check"]')
    page.wait_for_selector('#first .stage.here >> text="ip to act"')
    assert page.evaluate("window.saved") == {"line": "c", "board": BOARD}
    page.select_option("#first #heat", "equity")
    page.wait_for_selector("#first .cell-number")
    page.click('#first [data-seat="ip"] [data-hand="KK"]')
    page.wait_for_selector('#first tr[data-combo="KhKc"]')


def test_styles_of_notebook_and_widget_do_not_mix(notebook):
    page = notebook.show("first")
    assert page.locator("#first .grid").first.is_visible()
    button = page.locator("#first button").first
    assert button.evaluate("(each) => getComputedStyle(each).textTransform") == "none"
    assert page.locator("#mine").evaluate("(each) => getComputedStyle(each).borderBottomStyle") == "none"
    theme = "(each) => each.firstElementChild.dataset.theme"
    assert page.locator("#first").evaluate(theme) == "dark"


def test_keys_stay_in_the_widget(notebook):
    page = notebook.show("first")
    page.click("#first #tab-hands")
    page.click('#first [data-hand="AA"]')
    page.keyboard.press("1")
    page.wait_for_selector('#first .stage.here >> text="ip to act"')
    page.fill("#first #filter", "overpair")
    page.keyboard.press("x")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.wait_for_function("window.model.get('place').line === 'c'")
    page.wait_for_selector('#first tr[data-row="KdQd"]', state="detached")
    assert page.locator("#first tr[data-row]").count() == 1
    assert page.evaluate("window.heard") == []


def test_python_moves_all_views(notebook):
    page = notebook.show("first", "second")
    page.evaluate("board => window.model.set('place', { line: 'r50', board })", BOARD)
    for name in ("first", "second"):
        page.wait_for_selector(f'#{name} .stage.here [data-step="fold"]')
    page.click('#second .stage.here [data-step="call"]')
    page.wait_for_selector("#first .card-table")


def test_errors_are_shown_and_left(notebook):
    page = notebook.show("first")
    page.evaluate("board => window.model.set('place', { line: 'zz', board })", BOARD)
    assert "zz" in page.locator('#first [role="alert"]').inner_text()
    page.click('#first button >> text="back to the first decision"')
    page.wait_for_selector("#first .grid")


def test_a_kernel_that_does_not_answer(notebook, page):
    notebook.silent = True
    page.clock.install()
    notebook.show("first")
    assert page.locator('#first [role="status"]').inner_text() == ""
    page.clock.fast_forward(6000)
    assert "Python has not answered yet" in page.locator('#first [role="status"]').inner_text()


def test_a_closed_view_hears_nothing(notebook):
    page = notebook.show("first")
    page.evaluate("window.stops.forEach((stop) => stop())")
    assert page.evaluate("Object.values(window.listeners).flat().length") == 0


def test_a_notebook_displays_the_widget(small):
    code = f"import spewy\nspewy.Solution.open({str(small / 'leduc')!r}).browse('check')"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    (output,) = book.cells[0].outputs
    model = output["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
    states = book.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    assert states[model]["state"]["place"] == {"line": "c", "board": ""}
    assert "renderWidget" in states[model]["state"]["_esm"]
