/** The panel of a betting round as the solver sees it: its payoff matrices, its board bucket, and its rows of hands. */

import { drawAnswer, el, fill, sortTable, svg } from "./dom.js";
import { boardNode, cardList, cardText } from "./cards.js";
import { amount, differenceColour, known, percent, scaleColour, signedText } from "./format.js";
import { classOf, gridNode } from "./grid.js";
import { placeAddress } from "./page.js";

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

// A table of rows of hands: which hands share a row, and how each row plays.

const SEATS_OF_ROWS = ["oop", "ip"];
const rowOrder = { column: "place", ascending: true };

/**
 * Make a map and a table of a player's rows.
 * @param {Array<object>} rows the server's rows, that with the least equity first.
 * @param {object} view the player's hands in the position.
 * @param {object} options `selected`: a hand class, or null; `pick(name)`: called with a hand class.
 */
function handRowsNodes(rows, view, { selected, pick }) {
  const seat = SEATS_OF_ROWS[view.player];
  const placed = rows.map((row, place) => ({ ...row, place }));
  const shown = selected ? placed.filter((row) => row.hands.some((hand) => classOf(hand) === selected)) : placed;
  const every = selected ? el("button", { type: "button", onclick: () => pick("") }, `all rows of ${seat}, not only those of ${selected}`) : null;
  return [
    el("h3", {}, `Rows of ${seat}: ${rows.length}`),
    view.grid ? rowGrid(placed, view, { selected, pick }) : null,
    el("div", { class: "tools" }, every),
    rowTable(shown, view),
  ];
}

function rowTable(rows, view) {
  const columns = [
    { id: "place", title: "row", head: true, value: (row) => row.place, text: (row) => String(row.number) },
    { id: "count", title: "hands", value: (row) => row.hands.length, text: (row) => String(row.hands.length) },
    { id: "reach", title: "in the range", value: (row) => row.reach, text: (row) => amount(row.reach) },
    { id: "equity", title: "equity", value: (row) => row.equity, text: (row) => percent(row.equity) },
    ...view.words.map((word, i) => ({ id: word, title: word, value: (row) => row.strategy[i], text: (row) => percent(row.strategy[i]) })),
    { id: "text", title: "which hands", value: (row) => row.text, text: (row) => el("span", { class: "row-hands" }, row.text) },
  ];
  return sortTable(rows, columns, { order: rowOrder, label: `rows of ${SEATS_OF_ROWS[view.player]}`, most: 60 });
}

function rowGrid(rows, view, options) {
  const values = Array.from({ length: 13 }, () => Array(13).fill(null));
  const byClass = {};
  for (const row of rows) for (const hand of row.hands) (byClass[classOf(hand)] ||= new Set()).add(row);
  const paint = (name) => (byClass[name] ? rowPaint([...byClass[name]], rows.length) : null);
  const grid = gridNode(null, { ...options, label: `rows of ${SEATS_OF_ROWS[view.player]} by hand group`, paint });
  return el("div", { class: "row-grid" }, grid, el("p", { class: "note" }, "The number of a cell is the row of its hands; ×2 means two rows. Dark rows have little equity, yellow rows have much."));
}

function rowPaint(found, count) {
  const mean = found.reduce((total, row) => total + row.place, 0) / found.length;
  const numbers = found.map((row) => row.number).join(", ");
  const { colour, ink } = scaleColour(count > 1 ? mean / (count - 1) : 0.5);
  const equities = found.map((row) => row.equity).filter(known).map((share) => percent(share, 0));
  return { colour, ink, number: found.length > 1 ? `×${found.length}` : String(found[0].number), text: `row ${numbers}${equities.length ? `, equity ${equities.join(", ")}` : ""}` };
}

// Draws a payoff matrix of blocks of rows as a map of colours, with values at the pointer or at a cursor.

const MAP_SIZE = 480;
const MAP_MARGIN = 26;

/**
 * Draw a chunk's payoff matrix, in blocks of rows, as a map of colours.
 * @param {object} chunk the server's answer: `blocks` of oop and ip, and `payoffs[oop][ip]`, what oop wins.
 */
function matrixMap(chunk) {
  const [rows, columns] = chunk.blocks;
  const limit = Math.max(...chunk.payoffs.flat().filter(known).map(Math.abs), 1e-9);
  const height = MAP_SIZE / rows.length;
  const width = MAP_SIZE / columns.length;
  const at = { row: rows.length - 1, column: columns.length - 1 };
  const top = (row) => (rows.length - 1 - row) * height; // the strongest block of oop is at the top
  const cells = chunk.payoffs.flatMap((line, row) =>
    line.map((value, column) =>
      svg("rect", {
        x: column * width,
        y: top(row),
        width: width + 0.5,
        height: height + 0.5,
        fill: known(value) ? differenceColour(value / limit).colour : "transparent",
        "data-at": `${row},${column}`,
      }),
    ),
  );
  const cursor = svg("rect", { class: "map-cursor", width, height, visibility: "hidden" });
  const drawing = svg(
    "svg",
    { class: "map", viewBox: `${-MAP_MARGIN} 0 ${MAP_SIZE + MAP_MARGIN} ${MAP_SIZE + MAP_MARGIN}`, "aria-hidden": "true" },
    cells,
    cursor,
    svg("text", { x: MAP_SIZE / 2, y: MAP_SIZE + 17, "text-anchor": "middle" }, "hands of ip, from the least equity to the most →"),
    svg("text", { x: -MAP_SIZE / 2, y: -10, transform: "rotate(-90)", "text-anchor": "middle" }, "hands of oop, from the least equity to the most →"),
  );
  const told = el("p", { class: "chart-values", "aria-live": "polite" }, "Point at the map to see hands and payoffs.");
  const area = el("div", { class: "map-area", tabindex: "0", role: "group", "aria-label": "payoff matrix; arrow keys move through its blocks" }, drawing);

  function point(row, column) {
    Object.assign(at, { row, column });
    cursor.setAttribute("visibility", "visible");
    cursor.setAttribute("x", column * width);
    cursor.setAttribute("y", top(row));
    const value = chunk.payoffs[row][column];
    const result = known(value) ? `oop wins ${signedText(value, amount)} ${chunk.unit}` : "the hands share cards";
    fill(told, el("b", {}, result), blockText("oop", rows[row]), blockText("ip", columns[column]));
  }

  area.addEventListener("pointermove", (event) => {
    const cell = event.target.getAttribute("data-at");
    if (cell) point(...cell.split(",").map(Number));
  });
  area.addEventListener("keydown", (event) => {
    const [up, right] = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] || [];
    if (up === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    point(bounded(at.row + up, rows.length), bounded(at.column + right, columns.length));
  });
  return el(
    "div",
    { class: "map-box" },
    area,
    el("div", {}, told, el("p", { class: "note" }, `Purple: oop wins, up to ${amount(limit)} ${chunk.unit}. Orange: ip wins. White: nobody wins.`)),
  );
}

function blockText(seat, block) {
  const [low, high] = block.equity.map((share) => percent(share));
  const more = block.count - block.hands.length;
  const names = block.hands.map(cardText).join(", ");
  return el("span", {}, `${seat}: ${names}${more ? ` and ${more} more` : ""} (equity ${low === high ? low : `${low} to ${high}`}, ${percent(block.weight)} of the range)`);
}

function bounded(number, count) {
  return Math.min(count - 1, Math.max(0, number));
}
