/** The grid of 13 x 13 hand classes: frequencies as stripes of colour, or one number for each class. */

import { el } from "./dom.js";
import { RANKS } from "./cards.js";
import { amount, fixed, known, percent, rescaled, scaleColour, weight } from "./format.js";

const NOBODY = 5e-4;

/** Return the name of the hand class in a row and a column: suited hands are above the diagonal. */
export function className(row, column) {
  if (row === column) return RANKS[row] + RANKS[row];
  return row < column ? `${RANKS[row]}${RANKS[column]}s` : `${RANKS[column]}${RANKS[row]}o`;
}

/** Return the hand class of a hand: `AsKs` is in `AKs`. */
export function classOf(hand) {
  const [first, second] = RANKS.indexOf(hand[0]) <= RANKS.indexOf(hand[2]) ? [0, 2] : [2, 0];
  const ranks = hand[first] + hand[second];
  return ranks[0] === ranks[1] ? ranks : ranks + (hand[1] === hand[3] ? "s" : "o");
}

/**
 * Make the grid of one player's 13 x 13 hand classes.
 * @param {object} view one player's hands, as the server's position has them; null with `paint`.
 * @param {object} options the options of `createGrid` and of its function `draw`.
 */
export function gridNode(view, { pick, point, label, ...options }) {
  const grid = createGrid({ pick, point, label });
  grid.draw(view, options);
  return grid.node;
}

/**
 * Make an empty grid of 13 x 13 hand classes, which can be drawn again and again.
 * @param {object} options `pick(name)`: called for a click or Enter; `point(name, cell)`: called when the pointer or the
 *   focus comes to a class, and with null when they leave the grid; `label`: accessible name of the grid.
 * @returns {object} `node`, and a function `draw(view, options)` with the options `heat`: `"strategy"`, `"reach"` or the
 *   name of a heat map; `selected`: a hand class; `paint(name, row, column)`: in place of `heat`, returns
 *   `{colour, ink, text, number}` of a hand class, where `number` is a short text, or null for an empty cell.
 */
export function createGrid({ pick, point = () => {}, label }) {
  const cells = [];
  const node = el("div", { class: "grid", role: "grid", "aria-label": label });
  for (let row = 0; row < 13; row++) {
    const line = el("div", { class: "grid-row", role: "row" });
    for (let column = 0; column < 13; column++) {
      cells.push(createCell(className(row, column), pick, point));
      line.append(cells.at(-1).node);
    }
    node.append(line);
  }
  node.addEventListener("keydown", (event) => (event.key === "Escape" ? point(null) : moveFocus(event, node, pick)));
  node.addEventListener("pointerleave", () => point(null));
  node.addEventListener("focusout", () => point(null));

  function draw(view, { heat = "strategy", selected = null, paint = null }) {
    const looks = paint ? paintedCells(paint) : heat === "strategy" ? stripes(view) : numbers(view, heat);
    cells.forEach((cell, place) => {
      const isTabStop = cell.name === (selected || "AA");
      cell.draw(looks(cell.name, Math.floor(place / 13), place % 13), cell.name === selected, isTabStop);
    });
  }

  return { node, draw };
}

/** The CSS properties in which cells differ. */
const CELL_STYLE = ["background-image", "background-size", "background-color", "color"];

/** Make the cell of a hand class. Its function `draw` changes only what is new, since the browser lays out the rest again. */
function createCell(name, pick, point) {
  const number = el("span", { class: "cell-number" });
  const node = el(
    "div",
    {
      role: "gridcell",
      "data-hand": name,
      onclick: () => pick(name),
      onpointerenter: (event) => point(name, event.currentTarget),
      onfocus: (event) => point(name, event.currentTarget),
    },
    el("span", { class: "cell-name" }, name),
  );

  function draw(look, isSelected, isTabStop) {
    const attributes = {
      class: `cell${look.empty ? " empty" : ""}${look.number ? " numbered" : ""}`,
      tabindex: isTabStop ? "0" : "-1",
      "aria-selected": isSelected ? "true" : "false",
      "aria-label": `${name}: ${look.text}`,
    };
    for (const [key, value] of Object.entries(attributes)) if (node.getAttribute(key) !== value) node.setAttribute(key, value);
    for (const property of CELL_STYLE) {
      const value = look.style[property] || "";
      if (node.style.getPropertyValue(property) !== value) node.style.setProperty(property, value);
    }
    if (number.textContent !== (look.number || "")) number.textContent = look.number || "";
    if (!look.number) number.remove();
    else if (!number.isConnected) node.append(number);
  }

  return { name, node, draw };
}

function stripes(view) {
  const classes = view.grid.classes;
  const highest = Math.max(NOBODY, ...Object.values(classes).map((cell) => cell.reach));
  return (name) => {
    const cell = classes[name];
    if (!cell || !(cell.reach >= NOBODY)) return { empty: true, text: cell ? "not in the range" : "blocked", style: {} };
    const mix = view.actions.length ? cell.frequencies : [1];
    const height = Math.min(1, cell.reach / highest);
    let start = 0;
    const stops = mix.map((share, i) => {
      const stop = `${view.colours[i]} ${(100 * start).toFixed(1)}% ${(100 * (start + share)).toFixed(1)}%`;
      start += share || 0;
      return stop;
    });
    const shares = view.words.map((word, i) => `${word} ${percent(mix[i])}`);
    return {
      text: [`reach ${weight(cell.reach)}`, ...shares].join(", "),
      style: {
        "background-image": `linear-gradient(to right, ${stops.join(", ")})`,
        "background-size": `100% ${(100 * height).toFixed(0)}%`,
      },
    };
  };
}

function paintedCells(paint) {
  return (name, row, column) => {
    const cell = paint(name, row, column);
    if (!cell) return { empty: true, text: "no value", style: {} };
    return { ...cell, style: { "background-color": cell.colour, color: cell.ink } };
  };
}

function numbers(view, heat) {
  const values = heat === "reach" ? null : view.heat[heat];
  const value = (name, row, column) =>
    values ? values[row][column] : view.grid.classes[name] ? view.grid.classes[name].reach : null;
  const all = [];
  for (let row = 0; row < 13; row++)
    for (let column = 0; column < 13; column++) {
      const number = value(className(row, column), row, column);
      if (known(number)) all.push(number);
    }
  const share = rescaled(all);
  const isShare = heat === "equity" || heat === "reach" || heat === "realisation";
  return (name, row, column) => {
    const number = value(name, row, column);
    if (!known(number)) return { empty: true, text: "no value", style: {} };
    const { colour, ink } = scaleColour(share(number));
    const text = isShare ? percent(number, 0) : amount(number);
    return {
      text: `${heat} ${text}`,
      number: isShare ? (100 * number).toFixed(0) : fixed(number, Math.abs(number) >= 100 ? 0 : 1),
      style: { "background-color": colour, color: ink },
    };
  };
}

function moveFocus(event, table, pick) {
  const here = table.getRootNode().activeElement;
  const name = here && here.getAttribute("data-hand");
  if (!name || !table.contains(here)) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    pick(name);
    return;
  }
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -13, ArrowDown: 13 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const cells = [...table.querySelectorAll("[data-hand]")];
  const next = cells[cells.indexOf(here) + step];
  if (!next) return;
  here.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}
