/** Shows what a job costs before it starts, and which bet sizes to remove if it needs too much memory. */

import { el, fill } from "./dom.js";
import { bytes, count, duration, roundText } from "./format.js";
import { smallButton } from "./boardpicker.js";
import { send } from "./source.js";

const WAIT_MS = 800;
const SWEEPS = 100;

/** Make the element with the estimated cost of a job's draft; the server estimates it again after each change. */
export function jobCost(draft) {
  const body = el("div", { "aria-live": "polite" });
  const node = el("section", { class: "job-box", "aria-label": "cost" }, el("h2", {}, "Cost"), body);
  const state = { page: String(Math.random()), text: null, asked: 0, timer: null };

  function refresh() {
    const text = draft.facts ? draft.text : null;
    if (text === state.text) return;
    state.text = text;
    state.asked += 1;
    clearTimeout(state.timer);
    if (!text) return fill(body, el("p", { class: "note" }, draft.checking ? "…" : "The job has errors; its cost is not known yet."));
    body.setAttribute("aria-busy", "true");
    fill(body, el("p", { class: "note" }, "counting …"));
    state.timer = setTimeout(() => estimate(text), WAIT_MS);
  }

  async function estimate(text) {
    const number = state.asked;
    let found;
    try {
      found = await send("/api/setup/cost", { text, page: state.page });
    } catch (error) {
      found = { error: error.message };
    }
    if (number !== state.asked || found.replaced) return;
    body.removeAttribute("aria-busy");
    fill(body, found.error ? el("p", { class: "error" }, found.error) : costRows(found));
  }

  function costRows(cost) {
    const memory = cost.memory_bytes ?? cost.least_memory_bytes;
    const least = cost.memory_bytes === null ? "at least " : "";
    const limit = bytes(cost.budget_bytes);
    const each = cost.first && cost.first.of > 1 ? `for the first of ${cost.first.of} boards, ${cost.first.board}` : null;
    const streamed = cost.streamed_bytes ? `${bytes(cost.streamed_bytes)} of the last round stream from disk` : null;
    const rows = [
      ["memory", `${least}${bytes(memory)} of the ${limit} allowed`],
      streamed && ["", streamed],
      cost.process_bytes && ["process", `about ${bytes(cost.process_bytes - (cost.streamed_bytes ?? 0))} with interpreter and libraries`],
      cost.disk_bytes && ["disk", `${bytes(cost.disk_bytes)}, at most ${bytes(cost.most_disk_bytes)} during saves`],
      cost.seconds_per_sweep && ["time", `roughly ${duration(SWEEPS * cost.seconds_per_sweep)} for ${SWEEPS} sweeps on one core`],
      cost.chunks && ["boards", `${cost.rounds.map((round, i) => `${count(cost.boards[i])} ${roundText(round)}`).join(", ")}`],
      cost.information_sets && ["information sets", count(cost.information_sets)],
      cost.seconds_per_deal && ["deals", `roughly ${count(Math.round(1 / cost.seconds_per_deal))} per second and core`],
    ].filter(Boolean);
    return [
      each ? el("p", { class: "note" }, each) : null,
      el("meter", { class: "memory-meter", min: 0, max: cost.budget_bytes, low: 0.8 * cost.budget_bytes, high: 0.99 * cost.budget_bytes, optimum: 0, value: Math.min(memory, cost.budget_bytes), "aria-label": "memory of the limit" }),
      el("dl", { class: "cost-rows" }, rows.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))),
      smaller(cost, limit),
    ];
  }

  function tooLarge(limit) {
    return `The job needs more than the ${limit} that it may use. Allow more memory if the machine has it, or make the job smaller:`;
  }

  /** Make a list of the changes to the job that save most memory, each with a button that makes the change. */
  function smaller(cost, limit) {
    const cuts = cost.cuts || [];
    if (cost.fits && !cuts.length) return null;
    const rows = cuts.map((cut) =>
      el(
        "li",
        {},
        `about ${bytes(cut.memory_bytes)} ${cut.words} `,
        smallButton("change", () => change(cut), { "aria-label": `change the job: ${cut.words}` }),
      ),
    );
    return el(
      "div",
      cost.fits ? { class: "note" } : { class: "error", role: "alert" },
      cost.fits ? "In memory alone, and faster, if the job is smaller:" : tooLarge(limit),
      el("ul", {}, rows),
    );
  }

  function change({ key, value }) {
    draft.set(key, /^[0-9]+$/.test(value) ? Number(value) : value);
  }

  return { node, refresh };
}
