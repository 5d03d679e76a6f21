/** Draws a payoff matrix of blocks of rows as a map of colours, with values at the pointer or at a cursor. */

import { el, fill, svg } from "./dom.js";
import { cardText } from "./cards.js";
import { amount, known, percent, signedText } from "./format.js";
import { differenceColour } from "./scale.js";

const MAP_SIZE = 480;
const MAP_MARGIN = 26;

/**
 * Draw a chunk's payoff matrix, in blocks of rows, as a map of colours.
 * @param {object} chunk the server's answer: `blocks` of oop and ip, and `payoffs[oop][ip]`, what oop wins.
 */
export function matrixMap(chunk) {
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
