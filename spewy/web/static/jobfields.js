/** Fields of the set-up page: each shows a value of the draft, changes it, and shows the server's error beside it. */

import { el, fill } from "./dom.js";

/**
 * Make a row with a label, an input and an error.
 * @param {object} draft the draft.
 * @param {object} options `key`: path of the value in the job; `label`; `hint`: text after the input; `example`: what an empty
 *   input stands for; `number`: whether
 *   the value is a number; `size`: width in characters; `options`: pairs of value and text for a choice; `blank`: the value
 *   that an empty input stands for.
 */
export function jobField(draft, { key, label, hint = "", example = "", number = false, size = 8, options = null, blank = undefined, type = "text" }) {
  const id = `job-${key.replaceAll(".", "-")}`;
  const error = el("span", { class: "field-error", id: `${id}-error`, role: "alert" });
  const input = options
    ? el("select", { id }, options.map(([value, text]) => el("option", { value }, text)))
    : el("input", { id, type, size, inputmode: number ? "decimal" : null, autocomplete: "off", spellcheck: "false", placeholder: example || null });
  input.setAttribute("aria-describedby", error.id);
  draft.claim(key);
  input.addEventListener(options ? "change" : "input", () => draft.set(key, typedValue(input.value, { number, blank })));
  const node = el("div", { class: "job-field" }, el("label", { for: id }, label), input, hint ? el("span", { class: "note" }, hint) : null, error);
  return {
    node,
    input,
    refresh() {
      const value = draft.get(key);
      if (document.activeElement !== input) input.value = value === undefined || value === null ? "" : String(value);
      showFieldError(input, error, draft.problem(key));
    },
  };
}

/** Show the error of a field, or that there is none. */
export function showFieldError(input, error, message) {
  if (error.textContent !== message) fill(error, message);
  input.setAttribute("aria-invalid", message ? "true" : "false");
}

/** Return the value that a user has typed: a number if it reads as one and the field takes numbers. */
export function typedValue(text, { number = false, blank = undefined } = {}) {
  const typed = text.trim();
  if (!typed) return blank;
  return number && /^-?(\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : typed;
}

/** Make a group of fields with a title. */
export function jobGroup(title, ...children) {
  return el("fieldset", { class: "job-group" }, el("legend", {}, title), children);
}
