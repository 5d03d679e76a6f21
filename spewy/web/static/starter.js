/** The name of a job, its errors, and the button that starts the solve. */

import { el, fill } from "./dom.js";
import { smallButton } from "./boardpicker.js";
import { jobField } from "./jobfields.js";
import { placeAddress } from "./place.js";
import { send } from "./source.js";

/** Make the box that starts the solve of a draft; `started(id)` is called once the solve has begun. */
export function starter(draft, started) {
  const name = jobField(draft, { key: "name", label: "name", size: 24, blank: "" });
  const errors = el("div", { role: "alert" });
  const notes = el("div");
  const place = el("div", { "aria-live": "polite" });
  const button = el("button", { type: "button", class: "primary", onclick: start }, "Start");
  const failure = el("p", { class: "field-error", role: "alert" });
  const node = el("section", { class: "job-box", "aria-label": "start" }, name.node, place, errors, notes, el("div", { class: "tools" }, button), failure);

  function refresh() {
    name.refresh();
    const state = draft.place ? draft.place.state : null;
    const others = draft.otherProblems().map(({ message, key }) => (key ? `${key}: ${message}` : message));
    const inFields = draft.problems.length - others.length;
    const lines = [draft.failure, ...others, inFields ? inFields === 1 ? "One field has an error, shown beside it." : `${inFields} fields have errors, shown beside them.` : ""].filter(Boolean);
    showLines(errors, lines, "error");
    showLines(notes, draft.notes, "note");
    fill(place, placeText());
    button.disabled = draft.checking || !draft.facts || !["new", "same", "file"].includes(state);
    fill(button, state === "same" ? "Continue the solve" : state === "file" ? "Replace the job file and start" : "Start");
  }

  function placeText() {
    if (!draft.place) return null;
    const { state, message, free } = draft.place;
    if (state === "new") return null;
    const bad = state === "other" || state === "refused";
    return el(
      "p",
      { class: bad ? "field-error" : "note" },
      message,
      free && state !== "same" ? [" ", smallButton(`use ${free}`, () => draft.set("name", free))] : null,
    );
  }

  async function start() {
    button.disabled = true;
    fill(failure);
    try {
      const go = draft.place && draft.place.state !== "new";
      const found = await send("/api/jobs/start", { text: draft.text, continue: go });
      if (found.started) return started(found.id);
      draft.recheck();
    } catch (error) {
      const [, id] = /^(.+) is being solved; /.exec(error.message) || [];
      fill(failure, error.message, id ? [" ", el("a", { href: placeAddress("solve", { job: id }) }, "show it")] : null);
      button.disabled = false;
    }
  }

  return { node, refresh };
}

function showLines(element, lines, kind) {
  if (element.textContent === lines.join("")) return;
  fill(element, lines.map((line) => el("p", { class: kind }, line)));
}
