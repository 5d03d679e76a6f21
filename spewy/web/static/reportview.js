/** A report over cards or boards: bars, a sortable table, and what a reader can choose to see. */

import { el, fill, svg } from "./dom.js";
import { cardList, cardNode, cardText } from "./cards.js";
import { amount, fixed, known, percent } from "./format.js";
import { sortTable } from "./sorttable.js";

const SEATS_OF_REPORT = ["oop", "ip"];
const BAR_HEIGHT = 190;
const MOST_LABELS = 52;

/** Return the rows of a report as a list, each with its `name`. */
export function reportRows(report) {
  return Object.entries(report.cards || report.boards).map(([name, row]) => ({ name, ...row }));
}

/**
 * Return the quantities of a report: each has an `id`, a `title`, `value(row)`, `text(value)`, and `brief(value)` with a
 * shorter text; the quantity `mix` is the frequencies of all actions and has no value.
 */
export function reportQuantities(report) {
  const found = report.actions.map((action, i) => ({
    id: action,
    title: `how often ${report.action_words[i]}`,
    short: report.action_words[i],
    value: (row) => row.frequencies[i],
    text: percent,
    brief: briefShare,
  }));
  const figures = [
    ["ev", `EV in ${report.unit}`, "EV", amount, (value) => fixed(value, Math.abs(value) < 100 ? 1 : 0)],
    ["equity", "equity", "equity", percent, briefShare],
    ["realisation", "EV realised", "realised", (value) => percent(value, 0), briefShare],
  ];
  for (const [key, title, short, text, brief] of figures)
    for (const seat of [0, 1])
      found.push({
        id: `${key}_${SEATS_OF_REPORT[seat]}`,
        title: `${title} of ${SEATS_OF_REPORT[seat]}`,
        short: `${short} ${SEATS_OF_REPORT[seat]}`,
        value: (row) => row[key][seat],
        text,
        brief,
      });
  const useful = found.filter((quantity) => known(quantity.value(report.average)));
  return report.actions.length > 1 ? [{ id: "mix", title: "how often each action" }, ...useful] : useful;
}

function briefShare(share) {
  return (100 * share).toFixed(0);
}

/** Make a select field with which a reader chooses the quantity of a report to show. */
export function quantityField(quantities, chosen, choose) {
  return [
    el("label", { for: "report-quantity" }, "show"),
    el(
      "select",
      { id: "report-quantity", onchange: (event) => choose(event.target.value) },
      quantities.map(({ id, title }) => el("option", { value: id, selected: id === chosen.id }, title)),
    ),
  ];
}

/** Make a legend of the actions with their frequencies on average. */
export function actionLegend(report) {
  return el(
    "ul",
    { class: "shares" },
    report.action_words.map((word, i) =>
      el("li", {}, el("span", { class: "swatch", style: { "background-color": report.colours[i] } }), word, " ", el("b", {}, percent(report.average.frequencies[i]))),
    ),
  );
}

/**
 * Draw bars of a quantity, one for each row, with a line at the average.
 * @param {Array<object>} rows rows in the order of the bars.
 * @param {object} options `open(row)`: called for a click on a bar.
 */
export function reportBars(report, rows, quantity, open) {
  const width = 1000;
  const step = width / Math.max(rows.length, 1);
  const told = el("p", { class: "chart-values", "aria-live": "polite" }, "Point at a bar to see its values.");
  const tell = (row) => fill(told, el("b", {}, cardText(row.name)), " ", rowText(report, row, quantity));
  const heights = quantity.id === "mix" ? null : barScale(rows.map(quantity.value), quantity.value(report.average));
  const bars = rows.map((row, i) =>
    svg(
      "g",
      { onpointerenter: () => tell(row), onclick: () => open(row) },
      svg("rect", { class: "bar-back", x: i * step, y: 0, width: step, height: BAR_HEIGHT }),
      quantity.id === "mix" ? stackedBar(report, row, i, step) : plainBar(quantity.value(row), heights, i, step),
    ),
  );
  const mean = heights ? svg("line", { class: "bar-mean", x1: 0, x2: width, y1: heights(quantity.value(report.average)), y2: heights(quantity.value(report.average)) }) : null;
  return el(
    "div",
    {},
    svg(
      "svg",
      { class: "bars", style: { width: `min(100%, ${5 * rows.length}rem)` }, viewBox: `0 0 ${width} ${BAR_HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `bars: ${quantity.title}, by ${report.cards ? "card" : "board"}; the table has the numbers` },
      bars,
      mean,
    ),
    rows.length <= MOST_LABELS ? barLabels(rows) : null,
    told,
    heights ? el("p", { class: "note" }, barNote(rows, quantity, quantity.value(report.average))) : null,
  );
}

function barLabels(rows) {
  const cells = rows.map((row) => el("span", {}, cardList(row.name).map((card) => el("span", { class: `suit-${card[1]}` }, cardText(card)))));
  return el("div", { class: rows.length > 14 ? "bar-labels many" : "bar-labels", "aria-hidden": "true", style: { width: `min(100%, ${5 * rows.length}rem)` } }, cells);
}

function barNote(rows, quantity, mean) {
  const values = rows.map(quantity.value).filter(known);
  const [low, high] = [Math.min(...values), Math.max(...values)].map(quantity.text);
  return `${quantity.title}: the lowest bar is ${low}, the highest ${high}; the dashed line is the average, ${quantity.text(mean)}.`;
}

function rowText(report, row, quantity) {
  const shares = report.action_words.map((word, i) => `${word} ${percent(row.frequencies[i])}`);
  const seats = [0, 1].map((seat) => `EV ${SEATS_OF_REPORT[seat]} ${amount(row.ev[seat])}, equity ${percent(row.equity[seat])}`);
  const first = quantity.id === "mix" ? shares : [`${quantity.short} ${quantity.text(quantity.value(row))}`, ...shares];
  return [...first, ...seats].join(", ");
}

function stackedBar(report, row, i, step) {
  let below = 0;
  return row.frequencies.map((share, a) => {
    const height = (share || 0) * BAR_HEIGHT;
    below += height;
    return svg("rect", { x: i * step, y: BAR_HEIGHT - below, width: step * 0.92, height, fill: report.colours[a] });
  });
}

function plainBar(value, height, i, step) {
  if (!known(value)) return null;
  return svg("rect", { class: "bar-plain", x: i * step, y: height(value), width: step * 0.92, height: BAR_HEIGHT - height(value) });
}

/** Return a function from a value to its height in the drawing; the lowest bar keeps a tenth of the height. */
function barScale(values, mean) {
  const all = [...values, mean].filter(known);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return (value) => BAR_HEIGHT * (1 - (high > low ? 0.1 + (0.88 * (value - low)) / (high - low) : 0.5));
}

/**
 * Make the table of a report.
 * @param {object} options `order`: the order of the rows, which the table changes; `open(row)`: called for a click on a
 *   row's name; `extra`: more columns; `sorted(rows)`: called with the rows in their order.
 */
export function reportTable(report, rows, { order, open, extra = [], sorted }) {
  const quantities = reportQuantities(report).filter(({ id }) => id !== "mix");
  const name = {
    id: "name",
    title: report.cards ? "card" : "board",
    head: true,
    value: (row) => row.place,
    text: (row) => (row.place === null ? "average" : nameButton(row, open)),
  };
  const weight = { id: "weight", title: "weight", value: (row) => row.weight, text: (row) => percent(row.weight, 2) };
  const figures = quantities.map(({ id, short, value, text }) => ({ id, title: short, value, text: (row) => text(value(row)) }));
  const placed = rows.map((row, place) => ({ ...row, place }));
  return sortTable(placed, [name, weight, ...figures, ...extra], {
    order,
    label: `table by ${name.title}`,
    last: { ...report.average, name: "average", place: null },
    sorted,
  });
}

function nameButton(row, open) {
  return el("button", { type: "button", class: "cards-button", "data-open": row.name, onclick: () => open(row) }, cardList(row.name).map(cardNode));
}
