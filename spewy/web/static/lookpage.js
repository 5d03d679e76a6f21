/** The page that looks at the solves of the server: choose a solve, then walk through it, or read a batch. */

import { drawAnswer, el, fill } from "./dom.js";
import { boardNode } from "./cards.js";
import { chips, count, known, percent, summaryText } from "./format.js";
import { lockMarks } from "./locks.js";
import { createLook, ribbonNode, stepsHere } from "./look.js";
import { placeAddress } from "./page.js";
import { LOOK_PANELS } from "./panels.js";
import { quantityField, reportBars, reportQuantities, reportRows, reportTable } from "./report.js";
import { chooseSolve } from "./solvelist.js";
import { serverSource } from "./source.js";

/** Make links to the pages that play a solve or batch, and that train its decisions; a whole game has no training. */
function playLinks(folder, { kind }) {
  return [
    el("a", { href: placeAddress("play", { folder }) }, "play against it"),
    kind === "whole game" ? null : el("a", { href: placeAddress("train", { folder }) }, "train its decisions"),
  ];
}

/** Make the look page in an element; returns its functions `show(parameters, arrives)`, where `arrives` says that another page was shown, and `key(event)`. */
export function lookPage(root) {
  const source = serverSource();
  const head = el("div", { class: "solve" });
  const body = el("div", { class: "look" });
  fill(root, head, body);
  const look = createLook(body, source, {
    panels: LOOK_PANELS,
    marks: lockMarks,
    moved: (place) => {
      location.hash = placeAddress("look", { folder: current.folder, ...place });
    },
    answered: refreshHead,
  });
  const current = { folder: null, summary: null, isBatch: false };

  async function show(parameters, arrives = false) {
    const { folder, ...place } = parameters;
    if (!folder) return choose();
    if (arrives) look.forget(); // the solve may have saved meanwhile
    try {
      if (folder !== current.folder || arrives) {
        if (!current.folder) fill(body, el("p", { class: "note", role: "status" }, `opening ${folder} …`)); // in place of the list
        current.summary = await source.summary(folder);
        current.folder = folder;
      }
    } catch (error) {
      current.folder = null;
      fill(head, el("a", { href: "#look" }, "all solves"), el("h1", {}, folder));
      fill(body, el("p", { class: "error", role: "alert" }, error.message));
      return;
    }
    drawHead();
    current.isBatch = current.summary.kind === "batch";
    if (!current.isBatch) return look.show(folder, place, current.summary);
    body.classList.remove("whole");
    const go = (change) => {
      location.hash = placeAddress("look", { folder, ...place, ...change });
    };
    return showBatch(body, parameters, current.summary, { source, go });
  }

  function drawHead() {
    const { summary, folder } = current;
    const facts = summary.kind === "batch" ? `batch of ${summary.boards.length} boards` : summaryText(summary);
    fill(
      head,
      el("a", { href: "#look" }, "all solves"),
      summary.batch ? el("a", { href: placeAddress("look", { folder: summary.batch }) }, `all boards of ${summary.batch}`) : null,
      el("h1", {}, folder),
      playLinks(folder, summary),
      el("span", { class: "note", title: facts }, facts),
    );
    head.classList.add("in-header");
    document.title = `${folder} – Spewy`;
  }

  /** Ask for the facts about the solve again if a position shows that it has saved, or that another solve replaced it. */
  async function refreshHead({ name, progress }) {
    const { folder, summary } = current;
    if (name === summary.name && progress === summary.progress) return;
    try {
      const fresh = await source.summary(folder);
      if (folder !== current.folder) return;
      current.summary = fresh;
      drawHead();
    } catch (error) {
      if (folder === current.folder) fill(head, el("p", { class: "error", role: "alert" }, error.message));
    }
  }

  function choose() {
    current.folder = null;
    document.title = "Spewy";
    head.classList.remove("in-header");
    body.classList.remove("whole");
    fill(head, el("h1", {}, "Solves"));
    return chooseSolve(body, "look");
  }

  return { show, key: (event) => current.summary !== null && !current.isBatch && look.key(event) };
}

// Shows a batch: one line of its betting over all boards, as bars and as a table, with links to the boards.

const batchOrder = { column: "weight", ascending: false };
const startedBatches = new Set();

/**
 * Show a batch in an element.
 * @param {object} place `folder`, `line`, and the quantity `of` to show.
 * @param {object} summary the server's summary of the batch.
 * @param {object} options `source`: the server; `go(change)`: changes the place.
 */
async function showBatch(element, place, summary, { source, go }) {
  const { folder, line = "" } = place;
  let here;
  try {
    here = await source.boardsPlace({ folder, line });
  } catch (error) {
    fill(element, el("p", { class: "error", role: "alert" }, error.message), boardLinks(summary, ""));
    return;
  }
  const move = ({ line: next }) => go({ line: next });
  const steps = el("div", { class: "stage here" }, stepsHere(here.steps, move));
  const body = el("div", { class: "panels panel" });
  fill(element, ribbonNode(here, move), steps, missingNote(summary), body);
  if (here.kind !== "decision") {
    fill(body, el("p", {}, "The hand ends here. Choose a board to look at it:"), boardLinks(summary, line));
    return;
  }
  const compute = () => {
    startedBatches.add(`${folder} ${here.line}`);
    return drawAnswer(
      body,
      "report over boards",
      (progress, wanted) => source.boards({ folder, line: here.line }, progress, wanted),
      (report) => {
        fill(steps, stepsHere(here.steps.map((step, i) => ({ ...step, frequency: report.average.frequencies[i] })), move));
        return batchNodes(report, here, place, go);
      },
    );
  };
  if (!here.deals || startedBatches.has(`${folder} ${here.line}`)) await compute();
  else
    fill(
      body,
      el("p", {}, "Here each board's row is the mean over all next cards. This takes a while, and minutes if later rounds were not kept."),
      el("p", {}, el("button", { type: "button", id: "compute-boards", onclick: compute }, "compute it")),
      el("p", {}, "Or go on with one board:"),
      boardLinks(summary, here.line),
    );
}

function missingNote({ missing }) {
  return missing.length ? el("p", { class: "note" }, `${missing.length} boards of the batch are missing, such as ${missing[0]}.`) : null;
}

function boardLinks({ boards }, line) {
  const links = boards.map(({ id, board }) => el("a", { class: "chip", href: placeAddress("look", { folder: id, line }) }, board));
  return el("div", { class: "chips" }, links);
}

function batchNodes(report, here, place, go) {
  const rows = reportRows(report);
  const quantities = reportQuantities(report);
  const quantity = quantities.find(({ id }) => id === place.of) || quantities[0];
  const open = (row) => {
    location.hash = placeAddress("look", { folder: `${place.folder}/${row.name}`, line: here.deals ? here.line.replace(/\/.*$/, "") : here.line });
  };
  const bars = el("div", {});
  const table = reportTable(report, rows, {
    order: batchOrder,
    open,
    extra: [
      { id: "stands_for", title: "stands for", value: (row) => row.stands_for, text: (row) => (known(row.stands_for) ? chips(row.stands_for) : "") },
      { id: "sweeps", title: "sweeps", value: (row) => row.sweeps, text: (row) => (known(row.sweeps) ? count(row.sweeps) : "") },
      { id: "exploitability_pct", title: "exploitability, %", value: (row) => row.exploitability_pct, text: (row) => exploitabilityText(row) },
    ],
    sorted: (inOrder) => fill(bars, quantity ? reportBars(report, inOrder, quantity, open) : null),
  });
  return [
    el("p", {}, `${rows.length} boards, ${report.words || "the first decision"}: ${report.player === null ? "nobody acts any more" : `${report.player ? "ip" : "oop"} to act`}, pot ${chips(report.pot)} ${report.unit}.`),
    report.notes.map((note) => el("p", { class: "note" }, note)),
    report.not_solved.length ? el("p", { class: "note" }, "Not solved yet, and not in the average: ", report.not_solved.map(boardNode)) : null,
    quantity ? el("div", { class: "tools" }, quantityField(quantities, quantity, (of) => go({ of }))) : null,
    bars,
    el("p", { class: "note" }, "Click a board to look at it. Its weight is the number of boards that it stands for, times the probability that both ranges come to this decision."),
    table,
  ];
}

function exploitabilityText(row) {
  if (row.exploitability_pct === undefined) return "";
  return known(row.exploitability_pct) ? row.exploitability_pct.toFixed(3) : "not measured";
}
