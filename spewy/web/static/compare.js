/** The panel that compares two solves, A and B, at one decision. */

import { drawAnswer, el, fill, sortTable } from "./dom.js";
import { cardList, cardNode } from "./cards.js";
import { amount, count, differenceColour, evWriter, known, percent, signedText } from "./format.js";
import { gridNode } from "./grid.js";
import { remembering } from "./page.js";

const SIDE_NAMES = ["A", "B"];
const SMALLEST_DIFFERENCE = 1e-3;
const rememberedSolves = remembering(2);
const rememberedComparisons = remembering(4);
const comparedOrder = { column: "ev", ascending: false };

/** Panel "Compare" of the look page: differences between two solves at a position. */
export const comparePanel = {
  id: "compare",
  title: "Compare",
  shows: ({ position, source }) => Boolean(position.views && source.comparison),
  draw: drawComparison,
};

async function drawComparison(element, context) {
  const { folder, position, place, source, go } = context;
  let solves;
  try {
    solves = (await rememberedSolves([folder, Date.now() >> 13], () => source.comparable(folder))).solves;
  } catch (error) {
    fill(element, el("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  if (!solves.length) {
    fill(element, el("p", { class: "note" }, "There is no other solve of the same game in these folders. Solve the job again in another folder, with a lock, another bet size or another target, to compare the two."));
    return;
  }
  const body = el("div", {});
  fill(element, el("div", { class: "tools" }, solveField(solves, folder, place.with, (name) => go({ with: name }))), body);
  if (!place.with) return;
  const query = { folder, with: place.with, line: position.line, board: position.board };
  await drawAnswer(
    body,
    "comparison",
    (progress, wanted) => rememberedComparisons([position.progress, query], () => source.comparison(query, progress, wanted)),
    (answer) => comparisonNodes(answer, context),
  );
}

function solveField(solves, folder, chosen, choose) {
  const option = ({ id }) => el("option", { value: id, selected: id === chosen }, id);
  const batches = [...new Set(solves.map(({ batch }) => batch))];
  const groups = batches.map((batch) => {
    const options = solves.filter((solve) => solve.batch === batch).map(option);
    return batch ? el("optgroup", { label: batch }, options) : options;
  });
  return [
    el("label", { for: "with" }, "compare A, ", el("b", {}, folder), ", with B:"),
    el("select", { id: "with", onchange: (event) => choose(event.target.value) }, el("option", { value: "" }, "choose a solve"), groups),
  ];
}

function comparisonNodes(answer, context) {
  const { folder, place } = context;
  const names = [folder, place.with];
  const seat = answer.player ? "ip" : "oop";
  return [
    el(
      "p",
      {},
      names.map((name, i) => [el("b", {}, `${SIDE_NAMES[i]}: ${name}`), ` (${answer.progress[i]})${i ? "" : ", "}`]),
      `. ${seat} to act ${answer.words ? `after ${answer.words}` : "first"}; ${percent(answer.range_moved)} of the range plays differently.`,
    ),
    startNote(answer),
    totalsTable(answer),
    onlyNotes(answer),
    answer.sides ? comparedGrids(answer, names, context) : null,
    comparedLines(answer, context),
    comparedHands(answer),
  ];
}

/** Say what each player gains or loses in B, counted from the first decision: the price of B's locks. */
function startNote({ start_ev: [a, b], unit }) {
  if (!a || !b || ![...a, ...b].every(known)) return null;
  const change = (seat) => `${seat ? "ip" : "oop"} ${signedText(b[seat] - a[seat], amount)} ${unit}`;
  return el("p", { id: "start-ev" }, `EV at the first decision, B − A: ${change(0)}, ${change(1)}.`);
}

function totalsTable(answer) {
  const rows = answer.action_words.map((word, i) => [
    [el("span", { class: "swatch", style: { "background-color": answer.colours[i] } }), word],
    answer.frequencies.map((shares) => shares[i]),
    percent,
  ]);
  for (const seat of [0, 1]) rows.push([`EV of ${seat ? "ip" : "oop"}, ${answer.unit}`, answer.ev.map((pair) => pair[seat]), evWriter(answer.pot[0])]);
  for (const seat of [0, 1]) rows.push([`equity of ${seat ? "ip" : "oop"}`, answer.equity.map((pair) => pair[seat]), percent]);
  return el(
    "table",
    { class: "totals" },
    el("thead", {}, el("tr", {}, ["", "A", "B", "B − A"].map((text) => el("th", { scope: "col" }, text)))),
    el(
      "tbody",
      {},
      rows.map(([name, [a, b], write]) =>
        el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, write(a)), el("td", {}, write(b)), el("td", {}, signedText(minus(b, a), write))),
      ),
    ),
  );
}

function onlyNotes({ only }) {
  return only.map((lines, i) =>
    lines.length ? el("p", { class: "note" }, `${SIDE_NAMES[i]} has ${count(lines.length)} lines after this decision that ${SIDE_NAMES[1 - i]} lacks, such as ${lines[0]}.`) : null,
  );
}

function comparedGrids(answer, names, { place, go }) {
  const maps = { EV: `EV, ${answer.unit}`, moved: "how often it plays differently" };
  for (const [i, action] of answer.actions.entries()) maps[action] = `how often ${answer.action_words[i]}`;
  const shown = Object.keys(maps).filter((name) => answer.maps[name].flat().some(known));
  const chosen = shown.includes(place.difference) ? place.difference : shown[0];
  const pick = (name) => go({ hand: name });
  const grid = (title, node) => el("article", { class: "seat" }, el("h3", {}, title), node);
  return [
    el(
      "div",
      { class: "tools" },
      el("label", { for: "difference" }, "difference of"),
      el("select", { id: "difference", onchange: (event) => go({ difference: event.target.value }) }, shown.map((name) => el("option", { value: name, selected: name === chosen }, maps[name]))),
    ),
    el(
      "div",
      { class: "three-grids" },
      ["a", "b"].map((side, i) => grid(`${SIDE_NAMES[i]}: ${names[i]}`, gridNode(answer.sides[side], { pick, selected: place.hand || null, label: `strategy in ${SIDE_NAMES[i]}` }))),
      grid(`B − A: ${maps[chosen]}`, differenceGrid(answer, chosen, maps[chosen], { pick, selected: place.hand || null })),
    ),
    el("p", { class: "note" }, "Purple: larger in B. Orange: larger in A. White: no difference."),
  ];
}

function differenceGrid(answer, name, title, options) {
  const values = answer.maps[name].flat().filter(known).map(Math.abs);
  const limit = Math.max(...values, name === "EV" ? SMALLEST_DIFFERENCE * answer.pot[0] : SMALLEST_DIFFERENCE);
  const write = name === "EV" ? amount : percent;
  const short = name === "EV" ? (value) => value.toFixed(Math.abs(value) >= 10 ? 0 : 1) : (value) => (100 * value).toFixed(0);
  const paint = (hands, row, column) => {
    const value = answer.maps[name][row][column];
    if (!known(value)) return null;
    return { ...differenceColour(value / limit), text: `${title}, B − A: ${signedText(value, write)}`, number: Number(short(value)) ? signedText(value, short) : "0" };
  };
  return gridNode(null, { ...options, label: `difference of ${title}`, paint });
}

function comparedLines(answer, { go, position }) {
  const lines = Object.entries(answer.line_words).filter(([line]) => line !== answer.line || answer.lines[line].moved);
  if (lines.length < 2) return null;
  return [
    el("h3", {}, "Decisions of this round that changed most"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "decisions that changed most" }, el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ["after", "to act", "plays differently", "reached in A", "in B"].map((text) => el("th", { scope: "col" }, text)))),
      el(
        "tbody",
        {},
        lines.map(([line, words]) => {
          const { player, moved, likely } = answer.lines[line];
          return el(
            "tr",
            {},
            el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => go({ line, board: position.board }) }, words || "first decision")),
            [player ? "ip" : "oop", percent(moved), ...likely.map((share) => percent(share))].map((text) => el("td", {}, text)),
          );
        }),
      ),
    )),
  ];
}

function comparedHands(answer) {
  const ev = evWriter(answer.pot[0]);
  const rows = answer.order.map((hand, place) => ({ hand, place, ...answer.hands[hand] }));
  const two = (id, title, key, write) => SIDE_NAMES.map((side, i) => ({ id: `${id}-${i}`, title: `${title} ${side}`, value: (row) => row[key][i], text: (row) => write(row[key][i]) }));
  const columns = [
    { id: "hand", title: "hand", head: true, value: (row) => row.place, text: (row) => cardList(row.hand).map(cardNode) },
    ...two("reach", "reach", "reach", (value) => percent(value, 0)),
    ...two("ev", "EV", "ev", ev),
    { id: "ev", title: "EV, B − A", value: (row) => (known(row.ev_difference) ? Math.abs(row.ev_difference) : null), text: (row) => signedText(row.ev_difference, ev) },
    { id: "moved", title: "plays differently", value: (row) => row.moved, text: (row) => percent(row.moved, 0) },
    ...answer.actions.flatMap((action, a) =>
      SIDE_NAMES.map((side, i) => ({ id: `${action}-${i}`, title: `${answer.action_words[a]} ${side}`, value: (row) => row.strategy[i][a], text: (row) => percent(row.strategy[i][a], 0) })),
    ),
  ];
  return [el("h3", {}, "Hands"), sortTable(rows, columns, { order: comparedOrder, label: "hands in A and B", most: 30 })];
}

function minus(b, a) {
  return known(a) && known(b) ? b - a : null;
}
