/** The form that sets up a job, with its errors, its cost, its betting tree and its text. */

import { el, fill } from "./dom.js";
import { boardPicker, smallButton } from "./boardpicker.js";
import { boardCards } from "./cards.js";
import { jobCost } from "./jobcost.js";
import { jobField, jobGroup } from "./jobfields.js";
import { jobText } from "./jobtext.js";
import { jobTree } from "./jobtree.js";
import { evenly, lockForm } from "./lockform.js";
import { rangeEditor } from "./rangeeditor.js";
import { sizesForm } from "./sizesform.js";
import { ask, send } from "./source.js";
import { starter } from "./starter.js";

const PRECISIONS = [
  ["", "automatic"],
  ["16-bit", "16-bit (half the memory)"],
  ["single", "single"],
  ["double", "double"],
];
const SAVED = [
  ["", "all rounds"],
  ["flop", "the flop only"],
  ["turn", "flop and turn"],
];

/**
 * Make the form of a draft.
 * @param {object} draft the draft.
 * @param {function} started called with the id of a solve that has begun.
 */
export function setupForm(draft, started) {
  const presets = ask("/api/presets").then((found) => found.presets);
  const choices = presets.then(distinctRanges);
  const unit = jobField(draft, { key: "unit", label: "amounts in", options: [["bb", "big blinds"], ["chips", "chips"]] });
  unit.input.addEventListener("change", () => unit.input.value === "chips" && draft.set("unit", undefined));
  const refreshUnit = unit.refresh;
  unit.refresh = () => {
    refreshUnit();
    if (draft.get("unit") === undefined) unit.input.value = "chips";
  };
  const board = boardPicker(draft, rename);
  const ranges = [
    rangeEditor(draft, { seat: "oop", title: "oop, first to act", choices }),
    rangeEditor(draft, { seat: "ip", title: "ip, last to act", choices }),
  ];
  const sizes = sizesForm(draft);
  const locks = lockForm(draft);
  const lockBox = el("details", { class: "job-group" }, el("summary", {}, "Locks ", el("span", { class: "note lock-count" })), locks.node);
  const pot = [
    jobField(draft, { key: "spot.pot", label: "pot", number: true }),
    jobField(draft, { key: "spot.stack", label: "stack behind", number: true, hint: "of the player with fewer chips" }),
    unit,
    jobField(draft, { key: "spot.rake.rate", label: "rake, share of the pot", number: true, example: "none", hint: "0.05 or 5%" }),
    jobField(draft, { key: "spot.rake.cap", label: "rake at most", example: "no limit", number: true }),
  ];
  const solving = [
    jobField(draft, { key: "solve.target", label: "solve to", example: "0.3%", hint: "exploitability, such as 0.5%" }),
    jobField(draft, { key: "solve.workers", label: "threads", example: "1", number: true }),
    jobField(draft, { key: "solve.memory", label: "memory at most", example: "2 GiB" }),
    jobField(draft, { key: "solve.precision", label: "precision", options: PRECISIONS }),
    jobField(draft, { key: "solve.max_sweeps", label: "sweeps at most", example: "1000", number: true }),
    jobField(draft, { key: "save.rounds", label: "keep strategies of", options: SAVED }),
  ];
  const thresholds = [
    jobField(draft, { key: "tree.add_allin", label: "add an all-in up to", number: true, hint: "times the pot" }),
    jobField(draft, { key: "tree.force_allin", label: "all-in if it leaves at most", number: true, hint: "times the pot behind" }),
    jobField(draft, { key: "tree.merge", label: "merge sizes closer than", number: true, hint: "times the pot" }),
    jobField(draft, { key: "tree.min_bet", label: "smallest bet", number: true }),
    jobField(draft, { key: "tree.max_raises", label: "raises of a round at most", number: true, example: "no limit" }),
  ];
  const start = starter(draft, started);
  const tree = jobTree(draft, { lock: lockHere });
  const cost = jobCost(draft);
  const text = jobText(draft);
  const whole = el("p", { class: "note" }, "This job is a whole game, without a board and ranges. Change its game and its bet sizes in the job file below.");
  const spotOnly = [
    jobGroup("Board", board.node),
    jobGroup("Pot and stacks", fieldNodes(pot)),
    jobGroup("Ranges", el("div", { class: "grids" }, fieldNodes(ranges))),
    jobGroup("Bet sizes", sizes.node, el("details", {}, el("summary", {}, "All-ins, smallest bet and number of raises"), fieldNodes(thresholds))),
  ];
  const form = el(
    "div",
    { class: "setup-form" },
    whole,
    spotOnly,
    lockBox,
    jobGroup("Solving", fieldNodes(solving)),
    tree.node,
    text.node,
  );
  const parts = [board, ...pot, ...ranges, sizes, locks, ...solving, ...thresholds, start, tree, cost, text];
  const side = el("div", { class: "setup-side" }, start.node, cost.node);
  const node = el("div", { class: "setup" }, form, side);

  function refresh() {
    if (!draft.data) return;
    const hasSpot = Boolean(draft.get("spot"));
    whole.hidden = hasSpot;
    for (const group of spotOnly) group.hidden = !hasSpot;
    for (const part of parts) part.refresh();
    const number = (draft.get("lock") || []).length;
    fill(lockBox.querySelector(".lock-count"), number || "none");
  }

  /** Put the new cards into the name of the job if it ends with the old ones, or did so before the board was cleared. */
  let withoutCards = null;
  function rename(before, after) {
    const name = String(draft.get("name") || "");
    if (before ? !name.endsWith(before) : name !== withoutCards) return;
    withoutCards = name.slice(0, name.length - before.length);
    draft.set("name", withoutCards + after);
  }

  async function lockHere(line) {
    const found = await send("/api/setup/tree", { data: { ...draft.data, lock: undefined }, line }).catch(() => null);
    if (!found) return;
    lockBox.open = true;
    locks.add({ line, strategy: evenly((found.root.actions || []).map((action) => action.label)) });
    lockBox.scrollIntoView({ block: "start", behavior: "smooth" });
  }

  draft.subscribe(refresh);
  return { node, presets, openLocks: () => (lockBox.open = true) };
}

/** Make the row above the form that fills it: presets, and jobs of solves. */
export function beginWith(draft, presets, loaded) {
  const select = el("select", { id: "begin-with" }, el("option", { value: "" }, "choose …"));
  const solves = el("optgroup", { label: "the job of a solve" });
  const error = el("span", { class: "field-error", role: "alert" });
  presets.then((rows) => {
    const options = rows.map(({ name, about }) => el("option", { value: `preset:${name}` }, about));
    select.append(el("optgroup", { label: "common pots with 100 big blinds" }, options), solves);
    listSolves();
  }, (failure) => fill(error, failure.message));

  async function listSolves() {
    const { folders } = await ask("/api/folders").catch(() => ({ folders: [] }));
    const inside = new Set(folders.flatMap((entry) => entry.boards));
    fill(solves, folders.filter(({ id }) => !inside.has(id)).map(({ id }) => el("option", { value: `solve:${id}` }, id)));
  }

  select.addEventListener("focus", listSolves);
  select.addEventListener("change", async () => {
    const [kind, name] = [select.value.slice(0, select.value.indexOf(":")), select.value.slice(select.value.indexOf(":") + 1)];
    select.value = "";
    const before = draft.text;
    const board = boardCards(draft.get("spot.board")).join("");
    const query = kind === "preset" ? { name, board: board.length >= 6 && board.length <= 10 ? board : "" } : { folder: name };
    try {
      loaded(await ask(`/api/setup/${kind}`, query));
      fill(error);
      fill(undo, before ? smallButton("undo", () => (draft.setText(before, 0), fill(undo))) : null);
    } catch (failure) {
      fill(error, failure.message);
    }
  });
  const undo = el("span");
  return el("div", { class: "tools" }, el("label", { for: select.id }, "begin with"), select, undo, error);
}

function fieldNodes(fields) {
  return fields.map((field) => field.node);
}

function distinctRanges(presets) {
  const found = new Map();
  for (const preset of presets) for (const range of preset.ranges) found.set(range.about, range);
  return [...found.values()];
}
