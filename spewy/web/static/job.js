/** The job that a user sets up: its draft, and the fields, the cost, the betting tree and the text that show it. */

import { boardCards } from "./cards.js";
import { el, fill } from "./dom.js";
import { bytes, count, duration, roundText } from "./format.js";
import { send } from "./source.js";

const KEPT = "spewy-job-draft";
const CHECK_MS = 250;

/**
 * Make an empty draft. It checks itself after each change, and keeps its text in the browser, so that closing the page
 * loses nothing.
 * @returns {object} the draft: `data`, `text`, `problems`, `notes`, `facts` and `place` of the last check; `missing`, the
 *   keys of entries that are unfinished rather than wrong; `begun`, what it began with, such as `preset:srp-btn-bb`, and
 *   whether it was `changed` since, and the functions below.
 */
export function createDraft() {
  const listeners = new Set();
  const claimed = new Set();
  const draft = {
    data: null,
    text: "",
    about: "",
    begun: "",
    changed: false,
    problems: [],
    missing: [],
    notes: [],
    facts: null,
    place: null,
    checking: false,
    failure: "",
    get,
    set,
    setText,
    take,
    remembered,
    state: () => ({ text: draft.text, begun: draft.begun, changed: draft.changed }),
    restore,
    subscribe: (listener) => listeners.add(listener),
    claim: (key) => claimed.add(key),
    problem,
    otherProblems: () => draft.problems.filter(({ key }) => !claimant(key)),
    recheck: () => checkSoon({ data: draft.data, about: draft.about }, 0),
  };
  let asked = 0;
  let timer = null;

  /** Return the value at a path such as `spot.pot`; undefined if there is none. */
  function get(path) {
    return path.split(".").reduce((value, key) => (value === undefined || value === null ? undefined : value[key]), draft.data);
  }

  /** Change the value at a path; undefined removes it, with tables that get empty. */
  function set(path, value) {
    draft.data = withValue(draft.data || {}, path.split("."), value);
    draft.changed = true;
    tell();
    checkSoon({ data: draft.data, about: draft.about }, CHECK_MS);
  }

  /** Replace the whole job by the text of a job file. */
  function setText(text, delay = CHECK_MS) {
    draft.text = text;
    draft.about = firstComment(text);
    draft.changed = true;
    keep();
    checkSoon({ text }, delay);
  }

  /** Go back to an earlier `state()`. */
  function restore({ text, begun = "", changed = true }) {
    setText(text, 0);
    Object.assign(draft, { begun, changed });
    keep();
  }

  /** Replace the draft by one that the server has checked, such as the draft of a preset. */
  function take(found, { begun = "" } = {}) {
    Object.assign(draft, { begun, changed: false });
    draft.about = firstComment(found.text);
    asked += 1;
    clearTimeout(timer);
    accept(found, true);
  }

  /** Load the draft of the last visit; returns whether there is one. */
  function remembered() {
    try {
      const kept = JSON.parse(localStorage.getItem(KEPT));
      if (!kept || !kept.text) return false;
      restore(kept);
      return true;
    } catch {
      return false;
    }
  }

  /** Return the message of a problem with a key, or with a key below it that no other field shows. */
  function problem(key) {
    const found = draft.problems.find((each) => claimant(each.key) === key);
    return found ? found.message : "";
  }

  function claimant(key) {
    for (let path = key; path; path = path.slice(0, Math.max(0, path.lastIndexOf("."))))
      if (claimed.has(path)) return path;
    return null;
  }

  function checkSoon(question, delay) {
    clearTimeout(timer);
    draft.checking = true;
    timer = setTimeout(() => check(question), delay);
  }

  async function check(question) {
    const number = ++asked;
    try {
      const found = await send("/api/setup/check", question);
      if (number === asked) accept(found, "text" in question);
    } catch (error) {
      if (number !== asked) return;
      Object.assign(draft, { checking: false, facts: null, place: null, problems: [], missing: [], failure: error.message });
      tell();
    }
  }

  async function accept(found, withData) {
    const number = asked;
    if (withData && found.data) draft.data = found.data;
    const unfinished = found.problems.filter(({ key }) => isIncomplete(key, get(key)));
    Object.assign(draft, { text: found.text, notes: found.notes, facts: found.facts });
    Object.assign(draft, { missing: unfinished.map(({ key }) => key), problems: found.problems.filter((each) => !unfinished.includes(each)) });
    Object.assign(draft, { checking: false, failure: "", place: null });
    keep();
    tell();
    if (!found.facts) return;
    let place;
    try {
      place = await send("/api/jobs/place", { text: found.text });
    } catch (error) {
      place = { state: "refused", message: error.message.replace(/^name: /, "") };
    }
    if (number !== asked) return;
    draft.place = place;
    tell();
  }

  function keep() {
    try {
      localStorage.setItem(KEPT, JSON.stringify(draft.state()));
    } catch {
      // The browser has no room or forbids it; then the draft lives as long as the page.
    }
  }

  function tell() {
    for (const listener of listeners) listener(draft);
  }

  return draft;
}

/** Whether an entry with a problem is not wrong yet: empty, a board of fewer than three cards, or half of a card. */
function isIncomplete(key, value) {
  if (!key) return false;
  if (value === undefined || value === null || value === "" || (Array.isArray(value) && !value.length)) return true;
  if (key !== "spot.board" || typeof value !== "string") return false;
  const cards = boardCards(value);
  const rest = value.replace(/[2-9TJQKA][cdhs♣♦♥♠]/gi, "").replace(/[\s,]/g, "");
  return new Set(cards).size === cards.length && (rest ? cards.length < 5 && /^[2-9tjqka]$/i.test(rest) : cards.length < 3);
}

/** Return a copy of nested objects with another value at a path; undefined removes the value. */
function withValue(data, [key, ...rest], value) {
  const copy = Array.isArray(data) ? [...data] : { ...data };
  const inner = rest.length ? withValue(copy[key] && typeof copy[key] === "object" ? copy[key] : {}, rest, value) : value;
  const empty = inner === undefined || (rest.length && !Array.isArray(inner) && !Object.keys(inner).length);
  if (empty) delete copy[key];
  else copy[key] = inner;
  return copy;
}

function firstComment(text) {
  const [, comment = ""] = /^# (.*)/.exec(text) || [];
  return comment.startsWith("Written by") ? "" : comment;
}

// Fields of the set-up page: each shows a value of the draft, changes it, and shows the server's error beside it.

/**
 * Make a row with a label, an input and an error.
 * @param {object} draft the draft.
 * @param {object} options `key`: path of the value in the job; `label`; `hint`: text after the input; `example`: what an empty
 *   input stands for; `number`: whether
 *   the value is a number; `size`: width in characters; `options`: pairs of value and text for a choice; `blank`: the value
 *   that an empty input stands for; `read(text)`: reads what was typed; `echo(value)`: text that says how it was read.
 */
export function jobField(draft, { key, label, hint = "", example = "", number = false, size = 8, options = null, blank = undefined, type = "text", read = null, echo = null }) {
  const id = `job-${key.replaceAll(".", "-")}`;
  const error = el("span", { class: "field-error", id: `${id}-error`, role: "alert", "data-label": label });
  const reading = el("output", { for: id });
  const input = options
    ? el("select", { id }, options.map(([value, text]) => el("option", { value }, text)))
    : el("input", { id, type, size, inputmode: number ? "decimal" : null, autocomplete: "off", spellcheck: "false", placeholder: example || null });
  input.setAttribute("aria-describedby", error.id);
  draft.claim(key);
  input.addEventListener(options ? "change" : "input", () => draft.set(key, typedValue(input.value, { number, blank, read })));
  const node = el("div", { class: "job-field" }, el("label", { for: id }, label), input, echo ? reading : null, hint ? el("span", { class: "note" }, hint) : null, error);
  return {
    node,
    input,
    refresh() {
      const value = draft.get(key);
      if (document.activeElement !== input) input.value = value === undefined || value === null ? "" : String(value);
      if (echo) fill(reading, value === undefined ? "" : echo(value));
      input.classList.toggle("missing", draft.missing.includes(key));
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
function typedValue(text, { number = false, blank = undefined, read = null } = {}) {
  const typed = text.trim();
  if (!typed) return blank;
  if (read) return read(typed);
  return number && /^-?(\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : typed;
}

/** Make a group of fields with a title; the errors of its fields stand beside the title, so that they move nothing. */
export function jobGroup(title, ...children) {
  const errors = el("div", { class: "group-errors" });
  const group = el("fieldset", { class: "job-group" }, el("legend", {}, title), errors, children);
  errors.append(...group.querySelectorAll("[data-label]"));
  return group;
}

/** Make a small button. */
export function smallButton(text, onclick, attributes = {}) {
  return el("button", { type: "button", class: "small", onclick, ...attributes }, text);
}

function boardNames(text) {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter(Boolean);
}

// Shows what a job costs before it starts, and which bet sizes to remove if it needs too much memory.

const WAIT_MS = 800;
const SWEEPS = 100;

/** Make the element with the estimated cost of a job's draft; the server estimates it again after each change. */
export function jobCost(draft) {
  const body = el("div", { "aria-live": "polite" });
  const node = el("section", { class: "job-box", "aria-label": "cost" }, el("h2", {}, "Cost"), body);
  const state = { page: String(Math.random()), text: null, asked: 0, timer: null };

  function refresh() {
    const text = draft.facts ? draft.text : null;
    if (text && text === state.text) return;
    state.text = text;
    state.asked += 1;
    clearTimeout(state.timer);
    if (!text) return fillUnknown();
    body.setAttribute("aria-busy", "true");
    if (!body.querySelector("dl")) fill(body, el("p", { class: "note" }, "counting …"));
    state.timer = setTimeout(() => estimate(text), WAIT_MS);
  }

  function fillUnknown() {
    if (draft.checking && body.firstChild) return; // the old cost stays, dim, until the check
    const reason = draft.missing.length && !draft.problems.length ? "The cost is known once the job is complete." : "The job has errors; its cost is not known yet.";
    body.removeAttribute("aria-busy");
    fill(body, el("p", { class: "note" }, draft.checking ? "…" : reason));
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

// Draws the betting tree of a job, round by round; the server builds it from the job itself.

const SEATS_OF_TREE = ["oop", "ip"];
const OPEN_DEPTH = 2;

/** Make the drawing of a draft's tree; `lock(line)` is called for a decision at which the user wants to lock hands. */
export function jobTree(draft, { lock }) {
  const body = el("div", { class: "job-tree" });
  const counts = el("p", { class: "note tree-counts" });
  const box = el("section", { class: "job-box tree-box", "aria-label": "betting tree" }, el("h2", {}, "Betting tree"), counts, body);
  const state = { drawn: null, asked: 0 };

  function refresh() {
    const { facts } = draft;
    body.classList.toggle("stale", !facts);
    if (!facts) return;
    const more = facts.all_counted ? "" : "more than ";
    const text = facts.rounds.map(({ round, decisions }) => `${round} ${more}${count(decisions)}`).join(", ");
    fill(counts, `Decisions: ${text}; with ends ${more}${count(facts.nodes)}.`);
    if (state.drawn === draft.text) return;
    state.drawn = draft.text;
    draw(draft.text);
  }

  async function draw(text) {
    const number = ++state.asked;
    let found;
    try {
      found = await send("/api/setup/tree", { text });
    } catch (error) {
      if (number === state.asked) fill(body, el("p", { class: "error" }, error.message));
      return;
    }
    if (number === state.asked) fill(body, treeNode(found.root, 0, found.unit));
  }

  /** Make the list of a decision's actions with everything that follows in the round. */
  function treeNode(node, depth, unit) {
    if (node.more) return partButton("show more", node.line, depth, unit);
    const rows = (node.actions || []).map((action) => actionRow(action, depth, unit));
    return el(
      "div",
      { class: "tree-node" },
      el(
        "div",
        { class: "tree-title" },
        el("b", {}, SEATS_OF_TREE[node.player]),
        ` ${depth ? "" : `${roundText(node.round)}, `}pot ${chipsText(node.pot)} ${unit} `,
        smallButton("lock", () => lock(node.line), { title: "fix how often hands take each action here", class: "small quiet" }),
      ),
      el("ul", {}, rows),
    );
  }

  function actionRow(action, depth, unit) {
    const { node } = action;
    const name = [el("span", { class: "swatch", style: { "background-color": action.colour } }), action.words];
    if (node.kind === "fold") return el("li", {}, name);
    if (node.kind === "showdown") return el("li", {}, name, el("span", { class: "note" }, ` showdown, pot ${chipsText(node.pot)}`));
    if (node.kind === "chance") {
      const { line, round } = node.following;
      if (!line) return el("li", {}, name, el("span", { class: "note" }, ` all-in, pot ${chipsText(node.pot)}`));
      return el("li", {}, name, el("span", { class: "note" }, ` pot ${chipsText(node.pot)} `), partButton(`${round} …`, line, depth + 1, unit));
    }
    return el("li", {}, el("details", { open: depth < OPEN_DEPTH }, el("summary", {}, name), treeNode(node, depth + 1, unit)));
  }

  /** Make a button that, when clicked, is replaced by a further part of the tree. */
  function partButton(text, line, depth, unit) {
    const place = el("span", {});
    const button = smallButton(text, async () => {
      button.disabled = true;
      try {
        const found = await send("/api/setup/tree", { text: state.drawn, line });
        fill(place, treeNode(found.root, depth, unit));
      } catch (error) {
        fill(place, el("span", { class: "field-error" }, error.message));
      }
    });
    return fill(place, button);
  }

  return { node: box, refresh };
}

/** Write an amount with at most two decimals. */
function chipsText(value) {
  return String(Number(value.toFixed(2)));
}

// The text of the job file, to read, change, download or paste.

/** Make the box with the text of a draft. */
export function jobText(draft) {
  const area = el("textarea", { class: "job-text", rows: 24, spellcheck: "false", "aria-label": "job file" });
  const node = el(
    "details",
    { class: "job-box" },
    el("summary", {}, "Job file as text"),
    el(
      "p",
      { class: "note" },
      "This is what spewy solve reads. Change it here for whatever the form lacks; docs/reference/job-file.md explains every key. ",
      "A change in the form writes the text anew, without your own comments.",
    ),
    el("div", { class: "tools" }, smallButton("download", download)),
    area,
  );
  area.addEventListener("input", () => draft.setText(area.value));

  function download() {
    const link = el("a", { href: URL.createObjectURL(new Blob([draft.text], { type: "text/plain" })), download: `${draft.get("name") || "job"}.toml` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function refresh() {
    if (document.activeElement !== area && area.value !== draft.text) area.value = draft.text;
  }

  return { node, refresh };
}
