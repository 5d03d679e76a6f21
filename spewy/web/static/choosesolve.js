/** A list of the server's solves and batches, from which a person chooses one for a page. */

import { el, fill } from "./dom.js";
import { placeAddress } from "./place.js";
import { ask } from "./source.js";

/** Fill an element with links to a page, one for each solve or batch. */
export async function chooseSolve(root, page) {
  try {
    const { folders } = await ask("/api/folders");
    const inside = new Set(folders.flatMap((entry) => entry.boards));
    const tops = folders.filter((entry) => !inside.has(entry.id));
    if (tops.length) fill(root, el("ul", { class: "solves" }, tops.map((entry) => solveLink(entry, page))));
    else fill(root, el("p", {}, "There is no solve yet. ", el("a", { href: "#solve" }, "Set one up"), "."));
  } catch (error) {
    fill(root, el("p", { class: "error", role: "alert" }, error.message));
  }
}

function solveLink(entry, page) {
  const boards = entry.kind === "batch" ? `, a random board of ${entry.boards.length} for each hand` : "";
  return el("li", {}, el("a", { href: placeAddress(page, { folder: entry.id }) }, entry.id), boards);
}
