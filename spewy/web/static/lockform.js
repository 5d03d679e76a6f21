/** The locks of a job: decisions where the whole range, or some hands, take each action with a given frequency. */

import { el, fill } from "./dom.js";
import { roundText } from "./format.js";
import { smallButton } from "./boardpicker.js";
import { send } from "./source.js";

const SEATS_OF_LOCK = ["oop", "ip"];

/** Make the fields for the locks of a draft; `add(lock)` adds a lock. */
export function lockForm(draft) {
  const list = el("div", {});
  const node = el(
    "div",
    {},
    el(
      "p",
      { class: "note" },
      "A lock fixes how often hands take each action at one decision, and the solve finds how both players adapt to it. ",
      "Choose a decision in the betting tree, or open a solve, go to a decision and choose “Lock”.",
    ),
    list,
  );
  const decisions = new Map();
  draft.claim("lock");

  function add(lock) {
    draft.set("lock", [...(draft.get("lock") || []), lock]);
  }

  function change(number, lock) {
    const locks = [...(draft.get("lock") || [])];
    if (lock) locks[number] = lock;
    else locks.splice(number, 1);
    draft.set("lock", locks.length ? locks : undefined);
  }

  function refresh() {
    if (list.contains(document.activeElement) && document.activeElement.tagName === "INPUT") return showErrors();
    const locks = draft.get("lock");
    fill(list, Array.isArray(locks) ? locks.map((lock, number) => lockCard(lock, number)) : null);
    showErrors();
  }

  function showErrors() {
    const message = draft.problem("lock");
    const own = list.querySelector(".lock-error") || list.appendChild(el("p", { class: "field-error lock-error", role: "alert" }));
    if (own.textContent !== message) fill(own, message);
  }

  function lockCard(lock, number) {
    if (typeof lock === "string") return textCard(lock, number);
    const body = el("div", {}, el("p", { class: "note" }, "…"));
    const card = el("section", { class: "lock-card", "aria-label": `lock ${number + 1}` }, body);
    decisionAt(lock.line).then(
      (decision) => fill(body, lockRows(lock, number, decision)),
      (error) => fill(body, el("p", { class: "field-error" }, error.message), removeButton(number)),
    );
    return card;
  }

  /** Make the card of a lock that is written as text, such as `x: bet`. */
  function textCard(lock, number) {
    const field = el("input", { type: "text", size: 40, value: lock, "aria-label": `lock ${number + 1} as text`, spellcheck: "false" });
    field.addEventListener("input", () => change(number, field.value));
    return el("section", { class: "lock-card", "aria-label": `lock ${number + 1}` }, el("div", { class: "tools" }, field, removeButton(number)));
  }

  /** Ask for the decision after a line, in the job without locks; answers are kept while the job stays the same. */
  function decisionAt(line) {
    const data = { ...draft.data, lock: undefined };
    const key = JSON.stringify([line, data.game, data.unit, data.spot, data.bets, data.tree]);
    if (!decisions.has(key)) decisions.set(key, send("/api/setup/tree", { data, line }));
    return decisions.get(key);
  }

  function lockRows(lock, number, { words, root }) {
    const actions = root.actions || [];
    const labels = actions.map((action) => action.label);
    const board = el("input", { type: "text", size: 14, value: lock.board || "", placeholder: "every board", "aria-label": "board of the lock", spellcheck: "false" });
    board.addEventListener("input", () => change(number, withoutGaps({ ...draft.get("lock")[number], board: board.value.trim() || undefined })));
    const groups = Object.entries(lock.hands || {});
    return [
      el("div", { class: "tools" }, el("b", {}, `${SEATS_OF_LOCK[root.player]} ${roundText(root.round)}`), words ? ` after ${words}` : " at the start", removeButton(number)),
      el("label", { class: "job-choice" }, "board ", board),
      el(
        "div",
        { class: "scroll" },
        el(
          "table",
          { class: "lock-table" },
          el("thead", {}, el("tr", {}, el("th", {}, "hands"), actions.map((action) => el("th", {}, el("span", { class: "swatch", style: { "background-color": action.colour } }), `${action.words}, %`)), el("th", {}))),
          el(
            "tbody",
            {},
            lock.strategy === undefined ? null : frequencyRow("whole range", lock.strategy, labels, (value) => change(number, withoutGaps({ ...draft.get("lock")[number], strategy: value }))),
            groups.map(([name, value]) => groupRow(number, name, value, labels)),
          ),
        ),
      ),
      el(
        "div",
        { class: "tools" },
        lock.strategy === undefined ? smallButton("add the whole range", () => change(number, { ...lock, strategy: evenly(labels) })) : null,
        smallButton("add hands", () => change(number, { ...lock, hands: { ...lock.hands, [freeGroup(lock.hands, draft.get(`spot.${SEATS_OF_LOCK[root.player]}`))]: evenly(labels) } })),
      ),
    ];
  }

  function groupRow(number, name, value, labels) {
    const field = el("input", { type: "text", size: 12, value: name, "aria-label": "hands", spellcheck: "false", title: "for example QQ+,AKs or AsKs" });
    let current = name;
    const put = (next, frequencies) => {
      const lock = draft.get("lock")[number];
      const hands = Object.entries(lock.hands || {}).filter(([each]) => each !== current && each !== next);
      current = next === null ? current : next;
      const kept = next === null ? hands : [...hands, [next, frequencies]];
      change(number, withoutGaps({ ...lock, hands: kept.length ? Object.fromEntries(kept) : undefined }));
    };
    field.addEventListener("change", () => put(field.value.trim() || current, draft.get("lock")[number].hands[current]));
    return frequencyRow(field, value, labels, (frequencies) => (frequencies ? put(current, frequencies) : put(null)));
  }

  function frequencyRow(title, value, labels, changed) {
    const shares = labels.map((label, i) => (Array.isArray(value) ? value[i] : value[label]) || 0);
    const sum = el("span", { class: "note" });
    const inputs = labels.map((label, i) =>
      el("input", { type: "number", min: 0, max: 100, step: "any", value: percentOf(shares[i]), "aria-label": `frequency of ${label} in %`, oninput: () => update() }),
    );
    function update() {
      const frequencies = inputs.map((input) => Number((Number(input.value) / 100).toFixed(8)));
      tellSum(frequencies);
      changed(Object.fromEntries(labels.map((label, i) => [label, frequencies[i]])));
    }
    function tellSum(frequencies) {
      const total = frequencies.reduce((before, each) => before + each, 0);
      fill(sum, Math.abs(total - 1) < 1e-6 ? "" : `sum ${percentOf(total)} %`);
    }
    tellSum(shares);
    const remove = smallButton("×", () => changed(undefined), { "aria-label": "remove this row" });
    return el("tr", {}, el("th", { scope: "row" }, title), inputs.map((input) => el("td", {}, input)), el("td", {}, sum, " ", remove));
  }

  function removeButton(number) {
    return smallButton("remove the lock", () => change(number, null));
  }

  return { node, refresh, add };
}

/** Return equal frequencies of actions. */
export function evenly(labels) {
  return exactShares(labels, labels.map(() => 1 / labels.length));
}

/** Return frequencies by action, rounded to four decimals so that they sum to 1. */
export function exactShares(labels, shares) {
  const rounded = shares.map((share) => Math.round(1e4 * (share || 0)));
  const largest = rounded.indexOf(Math.max(...rounded));
  rounded[largest] += 1e4 - rounded.reduce((sum, each) => sum + each, 0);
  return Object.fromEntries(labels.map((label, i) => [label, rounded[i] / 1e4]));
}

function percentOf(share) {
  return Number((100 * share).toFixed(4));
}

/** Return the first group in the text of a range that has no row yet. */
function freeGroup(hands, range) {
  const groups = String(range || "").match(/\b[AKQJT2-9]{2}[so]?\b/g) || [];
  return groups.find((name) => !(name in (hands || {}))) || "AA";
}

function withoutGaps(lock) {
  return Object.fromEntries(Object.entries(lock).filter(([, value]) => value !== undefined));
}
