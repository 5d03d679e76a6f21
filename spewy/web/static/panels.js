/**
 * The panels of the look page, in the order of their tabs. A panel asks only `context.source`, and shows only if the
 * source has the question: a notebook and an exported page have fewer questions than the server.
 */

import { drawAnswer, el, fill } from "./dom.js";
import { chunkPanel } from "./chunk.js";
import { comparePanel } from "./compare.js";
import { curvesPanel } from "./curves.js";
import { evWriter, known } from "./format.js";
import { meanOf, mixBar } from "./grid.js";
import { lockPanel } from "./locks.js";
import { handsPanel, inGroup, inPercent, seatButtons, unitsText } from "./look.js";
import { positionKey, remembering } from "./page.js";
import { runoutsPanel } from "./report.js";

/** Panel "Breakdown" of the look page: a player's range by made hand and by draw. A click on a group filters the grids. */
const breakdownPanel = {
  id: "breakdown",
  title: "Breakdown",
  shows: ({ position }) => Boolean(position.views && position.views[0].grid),
  draw(element, { position, place, go }) {
    const seat = Number(place.seat || position.player);
    const view = position.views.find((each) => each.player === seat);
    const rows = Object.values(view.hands).filter(({ reach }) => reach > 0);
    const hasDraws = view.groups.draws.length > 0;
    const choose = (group) => go({ group: group === place.group ? "" : group, hand: "" });
    const table = (title, names) => groupTable(view, title, groups(rows, names), { chosen: place.group, choose, ev: evWriter(position.pot) });
    fill(
      element,
      el("div", { class: "tools" }, seatButtons(seat, go), el("span", { class: "note" }, `${place.group ? "Click the group again to show all hands." : "Click a group to show only its hands."} ${unitsText(position.unit)}.`)),
      el("div", { class: "groups" }, el("div", {}, table("made hand", view.groups.made), hasDraws ? table("draw", [...view.groups.draws, "no draw"]) : null)),
    );
  },
};

function groups(rows, names) {
  const whole = rows.reduce((sum, { reach }) => sum + reach, 0);
  return names
    .map((name) => ({ name, members: rows.filter((row) => inGroup(row, name)) }))
    .filter(({ members }) => members.length)
    .map(({ name, members }) => ({ name, ...meanOf(members) }))
    .map((group) => ({ ...group, share: group.reach / whole }));
}

function groupTable(view, title, found, { chosen, choose, ev }) {
  const acts = view.actions.length > 0;
  const hasEv = found.some((group) => known(group.ev));
  const hasEquity = found.some((group) => known(group.equity));
  const head = [[title], ["hands", "weight"], ["%"], acts && ["strategy"], hasEv && ["EV"], hasEquity && ["equity"]].filter(Boolean);
  return el(
    "table",
    { class: "breakdown" },
    el("thead", {}, el("tr", {}, head.map(([text, style]) => el("th", { scope: "col", class: style }, text)))),
    el(
      "tbody",
      {},
      found.map((group) =>
        el(
          "tr",
          { "data-group": group.name, class: group.name === chosen ? "chosen" : null, onclick: () => choose(group.name) },
          el("th", { scope: "row" }, el("button", { type: "button", "aria-pressed": group.name === chosen ? "true" : "false" }, group.name)),
          el("td", { class: "weight" }, group.reach.toFixed(1)),
          el("td", {}, inPercent(group.share, 1)),
          acts ? el("td", { class: "mix" }, mixBar(view, group.frequencies)) : null,
          hasEv ? el("td", {}, ev(group.ev)) : null,
          hasEquity ? el("td", {}, inPercent(group.equity, 1)) : null,
        ),
      ),
    ),
  );
}

// The panel that copies and saves a position: ranges as text, the table of hands, pictures, and the page's address.

const rememberedRanges = remembering();
const PICTURE_MAPS = [
  ["strategy", "strategy"],
  ["reach", "reach"],
  ["EV", "EV"],
  ["equity", "equity"],
];
const chosenPicture = { map: "strategy" };

/** Panel "Copy and save" of the look page: ranges, tables, pictures and the address of a position. */
const savePanel = {
  id: "save",
  title: "Copy and save",
  shows: ({ position, source }) => Boolean(position.views && source.ranges),
  draw: drawSave,
};

function drawSave(element, context) {
  const { position, source, filter } = context;
  const ranges = el("div", {});
  fill(
    element,
    filter ? el("p", { class: "note" }, `Only hands that pass the filter ${filter}.`) : null,
    position.views[0].grid ? [el("h3", {}, "Ranges as text"), ranges] : null,
    source.tableAddress ? tableLinks(context) : null,
    source.picture && position.views[0].grid ? pictureTools(context) : null,
    source.tableAddress ? addressField() : null,
  );
  if (position.views[0].grid) drawRanges(ranges, context);
}

async function drawRanges(element, context) {
  const { folder, position, source, filter } = context;
  const query = { folder, line: position.line, board: position.board, filter };
  try {
    const { ranges } = await rememberedRanges(positionKey(context), () => source.ranges(query));
    fill(
      element,
      el("p", { class: "note" }, "The form of most other programs: groups of hands with weights from 0 to 1. The weight of a hand for an action is its weight in the range times how often it takes the action."),
      ranges.map(rangeRow),
    );
  } catch (error) {
    fill(element, el("p", { class: "error", role: "alert" }, error.message));
  }
}

function rangeRow(range, number) {
  const seat = range.player ? "ip" : "oop";
  const id = `range-${number}`;
  const name = `${seat}, ${range.words}`;
  const field = el("textarea", { id, class: "copied", rows: "2", readonly: true, spellcheck: "false", "data-range": `${seat} ${range.action}`.trim() });
  field.value = range.text;
  return el(
    "div",
    { class: "copy-row" },
    el("label", { for: id }, name, el("small", {}, ` ${range.combos.toFixed(1)} hands`)),
    field,
    copyButton(() => field.value, `copy ${name}`, field),
  );
}

/** Make a button that copies a text; `field` is selected if the browser does not let pages copy. */
function copyButton(read, label, field) {
  const button = el("button", { type: "button", "aria-label": label, onclick: copy }, "copy");

  async function copy() {
    try {
      await navigator.clipboard.writeText(read());
    } catch {
      field.select();
      if (!document.execCommand("copy")) {
        button.textContent = "press Ctrl-C";
        return;
      }
    }
    button.textContent = "copied";
    setTimeout(() => fill(button, "copy"), 1500);
  }

  return button;
}

function tableLinks({ folder, position, source, filter }) {
  const links = position.views.map((view) => {
    const seat = view.player ? "ip" : "oop";
    const query = { folder, line: position.line, board: position.board, filter, seat };
    return el("a", { class: "chip", href: source.tableAddress(query), download: `${fileName(folder, position)}-${seat}.csv` }, `hands of ${seat} (CSV)`);
  });
  return [el("h3", {}, "Table of hands"), el("div", { class: "chips" }, links)];
}

function pictureTools(context) {
  const shown = el("div", { class: "picture" });
  const select = el(
    "select",
    { id: "picture-map", onchange: (event) => (chosenPicture.map = event.target.value) },
    PICTURE_MAPS.map(([value, text]) => el("option", { value, selected: value === chosenPicture.map }, text)),
  );
  const button = (format) => el("button", { type: "button", id: `picture-${format}`, onclick: () => drawPicture(shown, format, context) }, `save ${format.toUpperCase()}`);
  return [
    el("h3", {}, "Picture of both grids"),
    el("div", { class: "tools" }, el("label", { for: "picture-map" }, "show"), select, button("png"), button("svg")),
    shown,
  ];
}

function drawPicture(shown, format, { folder, position, source, filter }) {
  const map = chosenPicture.map;
  const query = { folder, line: position.line, board: position.board, filter, map, format };
  return drawAnswer(
    shown,
    "picture",
    (progress, wanted) => source.picture(query, progress, wanted),
    (blob) => {
      const address = URL.createObjectURL(blob);
      el("a", { href: address, download: `${fileName(folder, position)}-${map}.${format}` }).click();
      return el("img", { src: address, alt: `${map} of both players` });
    },
  );
}

function fileName(folder, position) {
  return [folder, position.line, position.board].filter(Boolean).join("-").replace(/[^\w.-]+/g, "_");
}

function addressField() {
  const field = el("input", { id: "address", class: "copied", readonly: true, value: location.href });
  return [
    el("h3", {}, "Address of this place"),
    el("div", { class: "copy-row" }, el("label", { for: "address" }, "opens this decision again"), field, copyButton(() => field.value, "copy the address", field)),
  ];
}

export const LOOK_PANELS = [breakdownPanel, handsPanel, curvesPanel, runoutsPanel, comparePanel, lockPanel, savePanel, chunkPanel];
