/** The page on which a person plays hands against a solved strategy. */

import { el, fill } from "./dom.js";
import { chooseSolve } from "./choosesolve.js";
import { placeAddress } from "./place.js";
import { reviewNode } from "./review.js";
import { sessionRequests } from "./session.js";
import { actionKeys, tableNode } from "./table.js";

const PLAY_SEATS = [
  ["", "alternate seats"],
  ["oop", "oop: act first after the flop"],
  ["ip", "ip: act last after the flop"],
];

/** Make the play page in an element; returns its functions `show(parameters)` and `key(event)`. */
export function playPage(root) {
  const head = el("div", { class: "solve" });
  const table = el("div", { class: "table" });
  const review = el("div", { class: "review" });
  fill(root, head, el("div", { class: "play-columns" }, table, review));
  const play = { folder: null, seat: "", state: null };
  const requests = sessionRequests(root, { done, failed });

  async function show({ folder, seat = "" }) {
    if (!folder) {
      Object.assign(play, { folder: null, state: null });
      document.title = "Play – Spewy";
      fill(head, el("h1", {}, "Play against a solved strategy"));
      fill(review);
      return chooseSolve(table, "play");
    }
    if (folder === play.folder && seat === play.seat && play.state) return null;
    Object.assign(play, { folder, seat, state: null });
    document.title = `Play ${folder} – Spewy`;
    drawHead();
    fill(review);
    fill(table, el("p", { class: "note" }, "opening the strategy …"));
    return requests.start("/api/play/new", { folder, seat });
  }

  function done(state) {
    play.state = state;
    draw();
  }

  function failed(error) {
    if (play.state) draw();
    else fill(table);
    table.append(
      el("p", { class: "error", role: "alert" }, error.message),
      el("p", {}, el("button", { type: "button", onclick: again }, "start again")),
    );
  }

  function again() {
    const { folder, seat } = play;
    play.state = null;
    show({ folder, seat });
  }

  function act(action) {
    requests.go("/api/play/act", { session: play.state.session, action });
  }

  function next() {
    requests.go("/api/play/next", { session: play.state.session });
  }

  function drawHead() {
    const { folder, seat } = play;
    fill(
      head,
      el("a", { href: "#play" }, "all solves"),
      el("h1", {}, folder),
      el("label", { for: "seat" }, "seat"),
      el(
        "select",
        {
          id: "seat",
          onchange: (event) => {
            location.hash = placeAddress("play", { folder, seat: event.target.value });
          },
        },
        PLAY_SEATS.map(([value, text]) => el("option", { value, selected: value === seat }, text)),
      ),
      el("a", { href: placeAddress("look", { folder }) }, "look at the solve"),
      play.state && play.state.kind === "spot" ? el("a", { href: placeAddress("train", { folder }) }, "train single decisions") : null,
    );
  }

  function draw() {
    const { state } = play;
    drawHead();
    fill(table, tableNode(state, { act, next }));
    fill(review, state.report ? reviewNode(state) : null);
    const main = table.querySelector("[data-main]");
    if (main) main.focus({ preventScroll: true });
  }

  function key(event) {
    const { state } = play;
    if (!state || requests.waits()) return false;
    if (event.key === "n" && !state.in_play) next();
    else {
      const action = actionKeys(state)[event.key];
      if (!action) return false;
      act(action);
    }
    return true;
  }

  return { show, key };
}
