/** Tells a reader who waits for an answer what the server does. */

import { el, fill } from "./dom.js";

/**
 * Fill an element with an answer that takes a while, and with its progress or its error until then.
 * @param {Element} element element to fill; the question ends when the element leaves the page.
 * @param {string} what name of the answer, for the progress, such as "report".
 * @param {function} question asks: `question(progress, wanted)` returns a promise of the answer.
 * @param {function} draw called with the answer; returns nodes to show.
 */
export async function drawAnswer(element, what, question, draw) {
  fill(element, el("p", { class: "note", role: "status" }, "…"));
  let first = null;
  const progress = ({ done, total }) => {
    if (!first && done) first = { done, time: Date.now() };
    const left = first && done > first.done ? leftText(((Date.now() - first.time) * (total - done)) / (done - first.done)) : "";
    const text = total ? `computing the ${what}: ${done} of ${total}${left}` : `computing the ${what}`;
    fill(
      element,
      el("p", { class: "note", role: "status" }, text, ". You can leave this page; the computation goes on."),
      total ? el("progress", { max: total, value: String(done), "aria-label": `progress of the ${what}` }) : null,
    );
  };
  try {
    const answer = await question(progress, () => element.isConnected);
    fill(element, draw(answer));
  } catch (error) {
    if (error.name !== "AbortError") fill(element, el("p", { class: "error", role: "alert" }, error.message));
  }
}

const LATE_MS = 3000;
const LATE = "The answer takes a while. The first answers after the installation also compile the program, which takes up to a minute.";

/**
 * Show a note at the top of an element if an answer does not come in time.
 * @param {Element} root the element.
 * @returns {function} removes the note; called once the answer is there.
 */
export function noteIfLate(root) {
  const note = el("p", { class: "note", role: "status" }, LATE);
  const timer = setTimeout(() => root.prepend(note), LATE_MS);
  return () => {
    clearTimeout(timer);
    note.remove();
  };
}

function leftText(milliseconds) {
  const seconds = milliseconds / 1000;
  return seconds < 90 ? `, about ${Math.ceil(seconds)} s left` : `, about ${Math.round(seconds / 60)} min left`;
}
