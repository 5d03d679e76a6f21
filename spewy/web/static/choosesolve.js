/** The list of the server's solves and batches, from which a person chooses one for a page. */

import { el, fill } from "./dom.js";
import { placeAddress } from "./place.js";
import { ask } from "./source.js";

/** Fill an element with links to a page, one for each solve or batch; folders that cannot be opened have their reason. */
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
  const rows = [...tops, ...listed.problems].sort((a, b) => (a.id < b.id ? -1 : 1));
  fill(
    root,
    rows.some((entry) => !entry.problem) ? null : el("p", {}, "There is no solve yet. ", el("a", { href: "#solve" }, "Set one up"), "."),
    rows.length ? el("ul", { class: "solves" }, rows.map((entry) => solveRow(entry, page))) : null,
  );
}

function solveRow(entry, page) {
  if (entry.problem) return el("li", { class: "broken" }, entry.id, el("span", { class: "note" }, ` cannot be opened: ${entry.problem}`));
  if (entry.is_game && page === "train")
    return el("li", { class: "broken" }, entry.id, el("span", { class: "note" }, " is a whole game; the trainer asks decisions of spots"));
  const link = el("a", { href: placeAddress(page, { folder: entry.id }) }, entry.id);
  if (entry.kind !== "batch") return el("li", {}, link);
  if (page !== "look") return el("li", {}, link, `, a random board of ${entry.boards.length} for each hand`);
  const boards = entry.boards.map((id) =>
    el("a", { class: "chip", href: placeAddress("look", { folder: id }) }, id.slice(entry.id.length + 1)),
  );
  return el("li", {}, link, el("details", {}, el("summary", {}, `${boards.length} boards`), el("div", { class: "chips" }, boards)));
}
