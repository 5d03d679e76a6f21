/** The grid of 13 x 13 hand classes: frequencies as stripes of colour, numbers of each class, or both. */

import { el } from "./dom.js";
import { RANKS, cardList } from "./cards.js";
import { amount, channels, fixed, inkOn, known, percent, rescaled, scaleColour, weight } from "./format.js";

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

// Means over hands: of a class, of a group, or of a whole range.

const MEANS = ["ev", "equity", "realisation", "regret"];

/** Average hands, the rows of a view, weighted by reach: `reach` is their sum, and a number that no hand has is null. */
export function meanOf(rows) {
  const mean = { reach: 0, frequencies: [] };
  for (const row of rows) {
    mean.reach += row.reach;
    row.strategy.forEach((share, i) => (mean.frequencies[i] = (mean.frequencies[i] || 0) + row.reach * share));
  }
  mean.frequencies = mean.frequencies.map((share) => (mean.reach > 0 ? share / mean.reach : null));
  for (const name of MEANS) {
    let [total, mass] = [0, 0];
    for (const row of rows)
      if (row.reach > 0 && known(row[name])) {
        total += row.reach * row[name];
        mass += row.reach;
      }
    mean[name] = mass > 0 ? total / mass : null;
  }
  return mean;
}

/**
 * Average the hands of hold'em by hand class. The reach of a class is the mean over all its hands that the board leaves.
 * @param {object} hands a row for each hand, by name.
 * @param {string} board public cards.
 */
export function handClasses(hands, board) {
  const members = {};
  for (const [hand, row] of Object.entries(hands)) (members[classOf(hand)] ||= []).push(row);
  const classes = {};
  for (let row = 0; row < 13; row++)
    for (let column = 0; column < 13; column++) {
      const name = className(row, column);
      const all = handsLeft(name, cardList(board));
      if (!all) continue;
      const mean = meanOf(members[name] || []);
      classes[name] = { ...mean, reach: mean.reach / all };
    }
  return classes;
}

function handsLeft(name, board) {
  const suits = (rank) => [..."shdc"].filter((suit) => !board.includes(rank + suit));
  const [first, second] = [suits(name[0]), suits(name[1])];
  if (name[0] === name[1]) return (first.length * (first.length - 1)) / 2;
  const suited = first.filter((suit) => second.includes(suit)).length;
  return name[2] === "s" ? suited : first.length * second.length - suited;
}

/** Make a bar in the colours of the actions; wide parts have their frequency in %. */
export function mixBar(view, frequencies) {
  const parts = frequencies.map((share, i) =>
    share >= NOBODY ? el("span", { style: { "flex-grow": String(share), "background-color": view.colours[i], color: inkOn(...channels(view.colours[i])) } }, share >= 0.2 ? (100 * share).toFixed(0) : "") : null,
  );
  const text = view.words.map((word, i) => `${word} ${percent(frequencies[i])}`).join(", ");
  return el("span", { class: "mix-bar", role: "img", "aria-label": text, title: text }, parts);
}

/**
 * Make the grid of one player's 13 x 13 hand classes.
 * @param {object} view one player's hands, as the server's position has them; null with `paint`.
 * @param {object} options the options of `createGrid` and of its function `draw`.
 */
export function gridNode(view, { pick, point, ...options }) {
  const grid = createGrid({ pick, point });
  grid.draw(view, options);
  return grid.node;
}

/**
 * Make an empty grid of 13 x 13 hand classes, which can be drawn again and again.
 * @param {object} options `pick(name)`: called for a click or Enter; `point(name, cell)`: called when the pointer or the
 *   focus comes to a class, and with null when they leave the grid.
 * @returns {object} `node`, and a function `draw(view, options)` with the options `label`: accessible name of the grid;
 *   `heat`: `"strategy"`, `"both"` (with EVs), `"EV"`, or another number of the classes; `full`: whether bars are as high as their cell, instead of as high as
 *   the reach; `selected`: a hand class; `paint(name, row, column)`: in place of `heat`, returns `{colour, ink, text,
 *   number}` of a hand class, where `number` is a short text, or null for an empty cell.
 */
export function createGrid({ pick, point = () => {} }) {
  const cells = [];
  const node = el("div", { class: "grid", role: "grid" });
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
  new ResizeObserver(([{ contentRect }]) => fitText(node, contentRect.width)).observe(node);

  function draw(view, { label, heat = "strategy", full = false, selected = null, paint = null }) {
    node.setAttribute("aria-label", label);
    const looks = paint ? paintedCells(paint) : heat === "strategy" || heat === "both" ? stripes(view, full, heat === "both") : numbers(view, heat);
    cells.forEach((cell, place) => {
      const isTabStop = cell.name === (selected || "AA");
      const look = looks(cell.name, Math.floor(place / 13), place % 13);
      cell.draw(view && view.marked && view.marked.has(cell.name) ? { ...look, marked: true, text: `${look.text}, changed by the lock` } : look, cell.name === selected, isTabStop);
    });
  }

  return { node, draw };
}

/** Let the text of a grid fit its width. Container queries would do the same, but for each click they take 10 ms. */
function fitText(node, width) {
  node.style.fontSize = `${Math.min(16, Math.max(11, 0.022 * width)).toFixed(1)}px`;
  node.classList.toggle("small", width <= 350);
}

const BAR_STYLE = ["background-image", "background-size", "background-color"];

/**
 * Make the cell of a hand class. Its function `draw` changes only what is new, since the browser computes the rest again;
 * the bar is an element of its own because a new style of the cell, with its shadows and texts, takes five times as long.
 */
function createCell(name, pick, point) {
  const number = el("span", { class: "cell-number" });
  const bar = el("span", { class: "cell-bar" });
  const node = el(
    "div",
    {
      role: "gridcell",
      "data-hand": name,
      onclick: () => pick(name),
      onpointerenter: (event) => point(name, event.currentTarget),
      onfocus: (event) => point(name, event.currentTarget),
    },
    bar,
    el("span", { class: name[2] ? "cell-name" : "cell-name pair" }, name),
  );

  function draw(look, isSelected, isTabStop) {
    const attributes = {
      class: `cell${look.empty ? " empty" : ""}${look.painted ? " painted" : ""}${look.marked ? " marked" : ""}`,
      tabindex: isTabStop ? "0" : "-1",
      "aria-selected": isSelected ? "true" : "false",
      "aria-label": `${name}: ${look.text}`,
    };
    for (const [key, value] of Object.entries(attributes)) if (node.getAttribute(key) !== value) node.setAttribute(key, value);
    for (const property of BAR_STYLE) put(bar, property, look.style[property]);
    put(node, "color", look.style.color);
    if (number.textContent !== (look.number || "")) number.textContent = look.number || "";
    if (!look.number) number.remove();
    else if (!number.isConnected) node.append(number);
  }

  return { name, node, draw };
}

function put(element, property, value = "") {
  if (element.style.getPropertyValue(property) !== value) element.style.setProperty(property, value);
}

function stripes(view, full, withEv) {
  const classes = view.grid.classes;
  const highest = Math.max(NOBODY, ...Object.values(classes).map((cell) => cell.reach));
  return (name) => {
    const cell = classes[name];
    if (!cell || !(cell.reach >= NOBODY)) return { empty: true, text: cell ? "not in the range" : "blocked", style: {} };
    const mix = view.actions.length ? cell.frequencies : [1];
    const height = full ? 1 : Math.min(1, cell.reach / highest);
    let start = 0;
    const stops = mix.map((share, i) => {
      const stop = `${view.colours[i]} ${(100 * start).toFixed(1)}% ${(100 * (start + share)).toFixed(1)}%`;
      start += share || 0;
      return stop;
    });
    const shares = view.words.map((word, i) => `${word} ${percent(mix[i])}`);
    const ev = withEv && known(cell.ev) ? [`EV ${amount(cell.ev)}`] : [];
    return {
      text: [`reach ${weight(cell.reach)}`, ...shares, ...ev].join(", "),
      number: ev.length ? cellAmount(cell.ev) : "",
      style: {
        "background-image": `linear-gradient(to right, ${stops.join(", ")})`,
        "background-size": `100% ${(100 * height).toFixed(0)}%`,
      },
    };
  };
}

function cellAmount(value) {
  return fixed(value, Math.abs(value) >= 100 ? 0 : 1);
}

function paintedCells(paint) {
  return (name, row, column) => {
    const cell = paint(name, row, column);
    if (!cell) return { empty: true, text: "no value", style: {} };
    return { ...cell, painted: true, style: { "background-color": cell.colour, color: cell.ink } };
  };
}

function numbers(view, heat) {
  const classes = view.grid.classes;
  const key = heat.toLowerCase();
  const value = (name) => (classes[name] && classes[name].reach >= NOBODY ? classes[name][key] : null);
  const share = rescaled(Object.keys(classes).map(value).filter(known));
  const isShare = key === "equity" || key === "reach" || key === "realisation";
  return (name) => {
    const number = value(name);
    if (!known(number)) return { empty: true, text: "no value", style: {} };
    const { colour, ink } = scaleColour(share(number));
    return {
      text: `${heat} ${isShare ? percent(number, 0) : amount(number)}`,
      number: isShare ? (100 * number).toFixed(0) : cellAmount(number),
      painted: true,
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
