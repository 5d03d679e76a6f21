/** The list of the server's solves and batches, from which a person chooses one, and what stands there before the first solve. */

import { el, fill, sortTable } from "./dom.js";
import { boardNode } from "./cards.js";
import { bytes, chips, count, known } from "./format.js";
import { smallButton } from "./job.js";
import { placeAddress } from "./page.js";
import { ask, send } from "./source.js";

/** How the list is sorted and searched, as long as the page is open. */
const listing = { order: { column: "saved", ascending: false }, search: "" };

/** Fill an element with the table of solves, whose links lead to a page; folders that cannot be opened have their reason. */
export async function chooseSolve(root, page) {
  let listed;
  try {
    listed = await ask("/api/folders");
  } catch (error) {
    fill(root, el("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  const inside = new Set(listed.folders.flatMap((entry) => entry.boards));
  const tops = listed.folders.filter((entry) => !inside.has(entry.id));
  const reason = (entry) => (entry.problem ? `cannot be opened: ${entry.problem}` : page === "train" && entry.is_game ? "is a whole game; the trainer asks decisions of spots" : "");
  const rows = tops.filter((entry) => !reason(entry));
  const again = () => chooseSolve(root, page);
  const others = [...tops, ...listed.problems].filter(reason).sort((a, b) => (a.id < b.id ? -1 : 1));
  fill(
    root,
    rows.length ? solveTable(rows, page, again) : firstStart(),
    others.length ? el("ul", { class: "broken-solves" }, others.map((entry) => el("li", {}, entry.id, el("span", { class: "note" }, ` ${reason(entry)}`)))) : null,
  );
}

function solveTable(rows, page, again) {
  const place = el("div");
  const failure = el("p", { class: "field-error", role: "alert" });
  const found = el("span", { class: "note", role: "status" });
  const field = el("input", { id: "search-solves", type: "search", size: 28, value: listing.search, placeholder: "name, board, ranges", "aria-label": "search the solves", autocomplete: "off", spellcheck: "false", oninput: search });

  function search() {
    listing.search = field.value;
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = rows.filter((entry) => words.every((word) => searchText(entry).includes(word)));
    fill(found, words.length ? `${shown.length} of ${rows.length}` : "");
    fill(place, sortTable(shown, [...solveColumns(page), removeColumn(again, failure)], { order: listing.order, label: "solves", style: "solves" }));
  }

  search();
  return el("div", {}, el("div", { class: "tools" }, field, found), failure, place);
}

/** The column with a button that deletes a solve, after the reader has confirmed its name and size. */
function removeColumn(again, failure) {
  const remove = async ({ id, boards, disk, saved_at }) => {
    const what = boards.length ? `the batch ${id} with its ${boards.length} boards` : `the solve ${id}`;
    if (!confirm(`Delete ${what} (${bytes(disk)})?\nThis cannot be undone. A job file beside the folder stays.`)) return;
    try {
      await send("/api/folders/remove", { folder: id, saved_at });
      await again();
    } catch (error) {
      fill(failure, error.message);
    }
  };
  const button = (entry) => (entry.removable && known(entry.disk) ? smallButton("delete", () => remove(entry), { "aria-label": `delete ${entry.id}` }) : "");
  return { id: "remove", text: button };
}

/** The text in which a search looks; a board is found in either spelling of the flop, with and without blanks. */
function searchText({ id, board, about, boards }) {
  return [id, about, board, board.replace(/../g, "$& "), boards.length ? "batch" : ""].join(" ").toLowerCase();
}

function solveColumns(page) {
  const link = (entry) => el("a", { href: placeAddress(page, { folder: entry.id }) }, entry.id);
  return [
    { id: "name", title: "solve", head: true, value: ({ id }) => id.toLowerCase(), text: link },
    { id: "board", title: "board", value: (entry) => entry.board || entry.boards.length || null, text: (entry) => boardsOf(entry, page), style: "left" },
    { id: "about", title: "ranges", value: ({ about }) => about || null, text: ({ about }) => about, style: "left wide-only about" },
    { id: "pot", title: "pot", value: inChips("pot"), text: (entry) => money(entry, "pot") },
    { id: "stack", title: "stack", value: inChips("stack"), text: (entry) => money(entry, "stack") },
    { id: "exploitability", title: "exploitability", value: ({ exploitability }) => exploitability, text: gapText },
    { id: "done", title: "sweeps", value: ({ done }) => done, text: ({ done }) => (known(done) ? count(done) : ""), style: "wide-only" },
    { id: "saved", title: "saved", value: (entry) => entry.saved_at, text: ({ saved_at }) => savedText(saved_at) },
    { id: "disk", title: "size", value: ({ disk }) => disk, text: ({ disk }) => (known(disk) ? bytes(disk) : ""), style: "wide-only" },
  ];
}

function boardsOf(entry, page) {
  if (entry.kind !== "batch") return entry.board ? boardNode(entry.board) : entry.is_game ? "whole game" : "";
  if (page !== "look") return `a random board of ${entry.boards.length} for each hand`;
  const boards = entry.boards.map((id) => el("a", { class: "chip", href: placeAddress("look", { folder: id }) }, id.slice(entry.id.length + 1)));
  return el("details", {}, el("summary", {}, `${boards.length} boards`), el("div", { class: "chips" }, boards));
}

/** Return a function that gives an amount of a solve for sorting; solves in big blinds stand before those in chips. */
function inChips(name) {
  return (entry) => (known(entry[name]) ? entry[name] + (entry.unit === "bb" ? 0 : 1e6) : null);
}

function money(entry, name) {
  return known(entry[name]) ? `${chips(entry[name])}${entry.unit === "bb" ? " bb" : ""}` : "";
}

function gapText({ exploitability, measure, quick }) {
  if (quick) return "quick answer";
  return known(exploitability) ? `${Number(exploitability.toPrecision(3))} ${measure}` : "";
}

/** Write a time as the hour of today, or else as a day. */
function savedText(seconds) {
  if (!known(seconds)) return "";
  const time = new Date(1000 * seconds);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return el("time", { datetime: time.toISOString(), title: time.toLocaleString() }, time.toDateString() === new Date().toDateString() ? `today ${two(time.getHours())}:${two(time.getMinutes())}` : day);
}

// What a reader finds before the first solve: an example that is solved by one click, and a door for each kind of reader.

const EXAMPLE = "R1.toml";
const ASK_MS = 400;

/** The doors: for whom, what it is about, links to pages, commands, and the page of the documentation. */
const DOORS = [
  {
    title: "You play poker",
    text: "Set up a spot from a formation, solve it, and see what each hand should do, on every next card, and against an opponent who plays badly.",
    links: [["#solve", "Set up a spot"], ["#hands", "Review your own hands"]],
    commands: ["spewy new my-spot.toml --preset srp-btn-bb", "spewy solve my-spot.toml"],
    page: "docs/start/player.md",
  },
  {
    title: "You do research",
    text: "Solve games by CFR or as a linear program, read every strategy, value and payoff matrix in Python, and check exploitability in the full game.",
    links: [],
    commands: ["spewy examples examples", "spewy solve examples/leduc.toml"],
    page: "docs/start/researcher.md",
  },
  {
    title: "You write bots",
    text: "Let your bot play against a solved game over the ACPC protocol, in matches with little luck, and see which decisions lose.",
    links: [],
    commands: ["spewy examples examples", "spewy solve examples/leduc.toml", "spewy match results/leduc call --hands 1000"],
    page: "docs/start/bot-author.md",
  },
];

function firstStart() {
  const state = el("p", { class: "note", role: "status" }, "A river with 20 decisions; the solve takes about a second. The first one also compiles the program, which takes half a minute.");
  const button = el("button", { type: "button", class: "primary", id: "solve-example", onclick: () => solveExample(button, state) }, "Solve an example and look at it");
  return el(
    "div",
    { class: "first-start" },
    el("p", {}, "There is no solve yet. ", el("a", { href: "#solve" }, "Set one up"), ", or begin with one that comes with Spewy:"),
    el("div", { class: "first-example" }, boardNode("Td9d6hQcAs"), button, state),
    el("div", { class: "doors" }, DOORS.map(door)),
  );
}

function door({ title, text, links, commands, page }) {
  return el(
    "section",
    { class: "job-box", "aria-label": title },
    el("h2", {}, title),
    el("p", {}, text),
    links.length ? el("p", { class: "tools" }, links.map(([href, name]) => el("a", { href }, name))) : null,
    el("pre", {}, commands.join("\n")),
    el("p", { class: "note" }, "Step by step: ", el("code", {}, page)),
  );
}

/** Solve the example, tell how far it is, and open it. */
async function solveExample(button, state) {
  button.disabled = true;
  const shown = location.hash;
  try {
    const { text } = await ask("/api/setup/example", { name: EXAMPLE });
    const started = await send("/api/jobs/start", { text, continue: true });
    for (;;) {
      const { job, solve } = await ask("/api/jobs/progress", { folder: started.id });
      if (location.hash !== shown) return; // the reader has gone to another page
      if (job && job.error) throw new Error(job.error);
      if ((!job || job.state === "ended") && solve && solve.saved) break;
      fill(state, `It is being solved. ${job && job.line ? job.line : ""}`);
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    }
    location.hash = placeAddress("look", { folder: started.id });
  } catch (error) {
    button.disabled = false;
    fill(state, el("span", { class: "field-error" }, error.message));
  }
}
