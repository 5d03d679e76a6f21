/** Shows the look component in a notebook, as an anywidget; Python answers its questions by messages. */

import { el, fill } from "./dom.js";
import { summaryText } from "./format.js";
import { createLook } from "./look.js";
import { listenToKeys } from "./page.js";
import { LOOK_PANELS } from "./panels.js";
import { AnswerError, givenParameters, solutionSource } from "./source.js";

const PATIENCE = 5000;
const NO_ANSWER = "Python has not answered yet: it is busy, or the kernel has stopped.";

/**
 * Show a solution in an element of a notebook.
 * @param {object} context anywidget's context: the `model`, which holds the place and passes messages, and the element `el`.
 * @param {string} style style sheet of the component.
 * @returns {function} function that removes the listeners.
 */
export function renderWidget({ model, el: parent }, style) {
  // JupyterLab reads the attribute: keys that are pressed inside are none of its shortcuts.
  const host = el("div", { "data-lm-suppress-shortcuts": "true" });
  const shadow = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  shadow.adoptedStyleSheets = [sheet];
  const head = el("div", { class: "solve" });
  const body = el("div", { class: "look" });
  const status = el("p", { class: "note", role: "status" });
  shadow.append(el("div", { class: "notebook" }, head, body, status));
  parent.append(host);

  const messages = messageQuestion(model, (late) => fill(status, late ? NO_ANSWER : ""));
  const source = solutionSource(messages.question);
  const look = createLook(body, source, { panels: LOOK_PANELS, moved: go });
  let place = model.get("place");
  let summary = null;

  function go(next) {
    place = next;
    const { line = "", board = "" } = next;
    model.set("place", { line, board });
    model.save_changes();
    show();
  }

  function follow() {
    const { line, board } = model.get("place");
    if (line === (place.line || "") && board === (place.board || "")) return;
    place = { ...place, line, board, hand: "" };
    show();
  }

  async function show() {
    host.dataset.theme = isDark(parent) ? "dark" : "light";
    try {
      if (!summary) {
        summary = await source.summary("");
        fill(head, el("h1", {}, summary.name), el("span", { class: "note" }, summaryText(summary)));
      }
    } catch (error) {
      fill(body, el("p", { class: "error", role: "alert" }, error.message));
      return;
    }
    await look.show("", place, summary);
  }

  model.on("change:place", follow);
  listenToKeys(shadow, look.key);
  for (const name of ["keydown", "keypress", "keyup"]) host.addEventListener(name, (event) => event.stopPropagation());
  show();
  return () => {
    model.off("change:place", follow);
    messages.stop();
  };
}

function messageQuestion(model, tellLate) {
  const waiting = new Map();
  const name = Math.random().toString(36).slice(2); // several views of a model hear all its messages
  let count = 0;

  function question(path, query = {}, signal = undefined) {
    return new Promise((resolve, reject) => {
      const id = `${name}-${++count}`;
      const timer = setTimeout(() => tellLate(true), PATIENCE);
      waiting.set(id, { resolve, reject, timer });
      if (signal) signal.addEventListener("abort", () => forget(id)?.reject(new DOMException("left", "AbortError")));
      model.send({ id, path, query: givenParameters(query) });
    });
  }

  function forget(id) {
    const found = waiting.get(id);
    if (!found) return undefined;
    clearTimeout(found.timer);
    waiting.delete(id);
    if (!waiting.size) tellLate(false);
    return found;
  }

  function hear(message) {
    const found = forget(message.id);
    if (!found) return;
    if ("error" in message) found.reject(new AnswerError(message.error));
    else found.resolve(message.answer);
  }

  model.on("msg:custom", hear);
  return { question, stop: () => model.off("msg:custom", hear) };
}

/** Whether what lies behind an element is dark; notebooks do not agree on how they name their themes. */
function isDark(element) {
  if (/\bvscode-(dark|high-contrast)\b(?!-light)/.test(document.body.className)) return true;
  for (let node = element; node; node = node.parentElement || node.getRootNode().host) {
    const [red, green, blue, opacity = 1] = getComputedStyle(node).backgroundColor.match(/[\d.]+/g).map(Number);
    if (opacity > 0.5) return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
  }
  return false;
}
