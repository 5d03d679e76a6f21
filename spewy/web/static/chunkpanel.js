/** The panel of a betting round as the solver sees it: its payoff matrices, its board bucket, and its rows of hands. */

import { el, fill } from "./dom.js";
import { boardNode, cardList } from "./cards.js";
import { amount } from "./format.js";
import { handRowsNodes } from "./handrows.js";
import { matrixMap } from "./matrixmap.js";
import { placeAddress } from "./place.js";
import { drawAnswer } from "./waiting.js";

const startedChunks = new Set();

/** Panel "Chunk" of the look page: payoff matrices, board bucket and rows of hands in the betting round of a position. */
export const chunkPanel = {
  id: "chunk",
  title: "Chunk",
  shows: ({ position, source }) => Boolean(position.views && source.chunk),
  draw: (element, context) => (context.summary.board_buckets ? drawBucket(element, context) : drawChunk(element, context)),
};

function drawChunk(element, context) {
  const { folder, position, place, source, summary, go } = context;
  const stored = place.payoffs === "stored";
  const later = cardList(position.board).length < Math.max(...summary.board_sizes);
  const query = { folder, line: position.line, board: position.board, leaf: place.leaf, payoffs: place.payoffs };
  const body = el("div", {});
  fill(
    element,
    el("p", { class: "note" }, "A chunk is one betting round on one board. The solver sees it as a game of matrices: for each way in which it ends, what oop wins with each hand against each hand of ip."),
    later ? payoffField(stored, (payoffs) => go({ payoffs, leaf: "" })) : null,
    body,
  );
  const compute = () => {
    startedChunks.add(folder);
    return drawAnswer(
      body,
      "payoff matrices",
      (progress, wanted) => source.chunk(query, progress, wanted),
      (answer) => chunkNodes(answer, context),
    );
  };
  if (!later || !summary.holdem || startedChunks.has(folder)) return compute();
  return fill(
    body,
    el("p", {}, "The payoffs follow from the strategies of all later rounds, which takes up to a minute."),
    el("p", {}, el("button", { type: "button", id: "compute-chunk", onclick: compute }, "compute them")),
  );
}

function payoffField(stored, choose) {
  const options = [
    ["average", "of the average strategies of later rounds"],
    ["stored", "as the solve has stored or estimated them"],
  ];
  return el(
    "div",
    { class: "tools" },
    el("label", { for: "chunk-payoffs" }, "payoffs where cards are dealt"),
    el("select", { id: "chunk-payoffs", onchange: (event) => choose(event.target.value) }, options.map(([value, text]) => el("option", { value, selected: (value === "stored") === stored }, text))),
  );
}

function chunkNodes(answer, { position, place, summary, go }) {
  const isSpot = summary.kind === "spot";
  const leaf = answer.leaves.find(({ name }) => name === answer.leaf);
  return [
    el(
      "div",
      { class: "tools" },
      el("label", { for: "leaf" }, "payoffs of"),
      el("select", { id: "leaf", onchange: (event) => go({ leaf: event.target.value }) }, answer.leaves.map((each) => el("option", { value: each.name, selected: each === leaf }, leafText(each)))),
    ),
    el("p", {}, `The map shows how much oop wins, net, in ${answer.unit}.${isSpot ? " Of the pot at the beginning of the solve, half belongs to each player." : ""} The pot here is ${amount(answer.pot)}; on average oop wins ${amount(answer.value)}.`),
    answer.estimated ? el("p", { class: "note" }, "Some payoffs where cards are dealt are estimates, since the solve has stored none.") : null,
    matrixMap(answer),
    el("p", { class: "note" }, `${answer.rows[0]} rows of oop and ${answer.rows[1]} of ip, in ${answer.blocks[0].length} × ${answer.blocks[1].length} blocks. Rows outside of the range are left out; a block's payoff is the mean over its pairs of hands.`),
    answer.hand_rows ? rowsNodes(answer.hand_rows, { position, place, go }) : el("p", { class: "note" }, "Each hand is a row of its own."),
  ];
}

function leafText({ words, kind }) {
  if (kind === "root") return "the whole chunk, with the average strategies";
  const ends = { fold: "", showdown: " → showdown", chance: " → next card" }[kind];
  return `${words || "no betting"}${ends}`;
}

function rowsNodes(sides, { position, place, go }) {
  const seat = Number(place.seat || position.player);
  const choices = position.views.map((view) =>
    el("button", { type: "button", id: `rows-${view.player}`, "aria-pressed": view.player === seat ? "true" : "false", onclick: () => go({ seat: String(view.player) }) }, view.player ? "ip" : "oop"),
  );
  const view = position.views.find((each) => each.player === seat);
  return [
    el("div", { class: "tools", role: "group", "aria-label": "player whose rows are shown" }, choices),
    handRowsNodes(sides[seat], view, { selected: place.hand || null, pick: (hand) => go({ hand }) }),
  ];
}

function drawBucket(element, context) {
  const { folder, position, source } = context;
  const query = { folder, line: position.line, board: position.board };
  return drawAnswer(
    element,
    "board bucket",
    (progress, wanted) => source.bucket(query, progress, wanted),
    (answer) => bucketNodes(answer, context),
  );
}

function bucketNodes(answer, context) {
  const { folder, position } = context;
  const board = position.board ? boardNode(position.board) : "the empty board";
  const others = answer.boards.map((name) =>
    el("a", { class: "chip", href: placeAddress("look", { ...context.place, folder, line: position.line, board: name }) }, boardNode(name)),
  );
  return [
    position.board
      ? el("p", {}, board, ` is in board bucket ${answer.bucket} of ${answer.of}. All boards of a bucket share one strategy for each row of hands.`)
      : el("p", {}, "Before the first cards there is one board bucket. Hands that are equal up to suits share a row."),
    others.length ? [el("h3", {}, "Other boards of this bucket"), el("div", { class: "chips" }, others)] : null,
    position.board && !others.length ? el("p", { class: "note" }, "Random deals had no other board of this bucket.") : null,
    rowsNodes(answer.hand_rows, context),
  ];
}
