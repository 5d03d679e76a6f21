/** The page that looks at the solves of the server: choose a solve, then walk through it. */

import { showBatch } from "./batchpage.js";
import { chooseSolve } from "./choosesolve.js";
import { el, fill } from "./dom.js";
import { summaryText } from "./format.js";
import { createLook } from "./look.js";
import { LOOK_PANELS } from "./panels.js";
import { placeAddress } from "./place.js";
import { serverSource } from "./source.js";

/** Make links to the pages that play a solve or batch, and that train its decisions; a whole game has no training. */
function playLinks(folder, { kind }) {
  return [
    el("a", { href: placeAddress("play", { folder }) }, "play against it"),
    kind === "whole game" ? null : el("a", { href: placeAddress("train", { folder }) }, "train its decisions"),
  ];
}

/** Make the look page in an element; returns its functions `show(parameters)` and `key(event)`. */
export function lookPage(root) {
  const source = serverSource();
  const head = el("div", { class: "solve" });
  const body = el("div", { class: "look" });
  fill(root, head, body);
  const look = createLook(body, source, {
    panels: LOOK_PANELS,
    moved: (place) => {
      location.hash = placeAddress("look", { folder: current.folder, ...place });
    },
    answered: refreshHead,
  });
  const current = { folder: null, summary: null, isBatch: false };

  async function show(parameters) {
    const { folder, ...place } = parameters;
    if (!folder) return choose();
    try {
      if (folder !== current.folder) {
        current.summary = await source.summary(folder);
        current.folder = folder;
      }
    } catch (error) {
      current.folder = null;
      fill(head, el("a", { href: "#look" }, "all solves"), el("h1", {}, folder));
      fill(body, el("p", { class: "error", role: "alert" }, error.message));
      return;
    }
    drawHead();
    current.isBatch = current.summary.kind === "batch";
    if (!current.isBatch) return look.show(folder, place, current.summary);
    const go = (change) => {
      location.hash = placeAddress("look", { folder, ...place, ...change });
    };
    return showBatch(body, parameters, current.summary, { source, go });
  }

  function drawHead() {
    const { summary, folder } = current;
    fill(
      head,
      el("a", { href: "#look" }, "all solves"),
      summary.batch ? el("a", { href: placeAddress("look", { folder: summary.batch }) }, `all boards of ${summary.batch}`) : null,
      el("h1", {}, folder),
      playLinks(folder, summary),
      el("span", { class: "note" }, summary.kind === "batch" ? `batch of ${summary.boards.length} boards` : summaryText(summary)),
    );
    document.title = `${folder} – Spewy`;
  }

  /** Ask for the facts about the solve again if a position shows that it has saved, or that another solve replaced it. */
  async function refreshHead({ name, progress }) {
    const { folder, summary } = current;
    if (name === summary.name && progress === summary.progress) return;
    try {
      const fresh = await source.summary(folder);
      if (folder !== current.folder) return;
      current.summary = fresh;
      drawHead();
    } catch (error) {
      if (folder === current.folder) fill(head, el("p", { class: "error", role: "alert" }, error.message));
    }
  }

  function choose() {
    current.folder = null;
    document.title = "Spewy";
    fill(head, el("h1", {}, "Solves"));
    return chooseSolve(body, "look");
  }

  return { show, key: (event) => current.summary !== null && !current.isBatch && look.key(event) };
}
