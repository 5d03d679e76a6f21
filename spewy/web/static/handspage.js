/** The page of played hands: drop a file, choose a hand, set up its spot, and see what its decisions cost. */

import { cardList, cardNode } from "./cards.js";
import { el, fill } from "./dom.js";
import { amount, known, percent } from "./format.js";
import { placeAddress } from "./page.js";
import { send } from "./source.js";

const MOST_BYTES = 1_000_000;

/** The file of hands that is shown: the solve page takes a hand's spot from its text. */
export const heldHands = { text: "", name: "" };

/** Make the page of hands in an element; returns its function `show()`. */
export function handsPage(root) {
  const chosen = { place: null };
  const failure = el("p", { class: "field-error", role: "alert" });
  const input = el("input", { type: "file", id: "hands-file", accept: ".txt,.phh,.phhs,.log", onchange: () => input.files[0] && takeFile(input.files[0]) });
  // Leaving the field is a change, too: the same text again would take away the hand that is being clicked.
  const takePasted = () => pasted.value.trim() && pasted.value !== heldHands.text && take("the pasted hands", pasted.value);
  const pasted = el("textarea", { id: "hands-text", rows: "2", spellcheck: "false", "aria-label": "hands as text", placeholder: "or paste hands here", onpaste: () => setTimeout(takePasted), onchange: takePasted });
  const drop = el(
    "div",
    { class: "job-box hands-drop" },
    el("label", { for: "hands-file" }, "Drop a file of hands here, or choose one "),
    input,
    pasted,
    el("p", { class: "note" }, "Text of PokerStars or GGPoker in English, a Poker Hand History (.phh, .phhs), a log of a match or of Slumbot. Nothing is stored."),
  );
  const list = el("div", { class: "scroll" });
  const detail = el("div", { "aria-live": "polite" });
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) takeFile(event.dataTransfer.files[0]);
  });
  fill(root, el("h1", {}, "Your hands"), drop, failure, detail, list);

  async function takeFile(file) {
    if (file.size > MOST_BYTES)
      fill(failure, `${file.name} has ${Math.ceil(file.size / 1e6)} MB, and this page takes at most 1 MB; divide the file, or use spewy review`);
    else await take(file.name, await file.text());
  }

  async function take(name, text) {
    fill(failure);
    fill(detail);
    fill(list);
    chosen.place = null;
    try {
      const found = await send("/api/hands", { text });
      Object.assign(heldHands, { text, name });
      drawList(found);
    } catch (error) {
      fill(failure, error.message);
    }
  }

  function drawList({ hands, others }) {
    const head = ["hand", "seats and pot", "players", "board", "won"];
    fill(
      list,
      el("p", {}, `${heldHands.name}: ${hands.length} hand${hands.length === 1 ? "" : "s"} with a flop of two players, ${others.length} others`),
      el(
        "table",
        { class: "decisions" },
        el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
        el("tbody", {}, hands.map(handRow)),
      ),
      others.length ? el("details", {}, el("summary", {}, "the other hands"), el("ul", {}, others.slice(0, 100).map(({ number, reason }) => el("li", {}, `${number}: ${reason}`)))) : null,
    );
  }

  function handRow(hand) {
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, el("button", { type: "button", "data-place": hand.place, onclick: () => choose(hand) }, hand.number)),
      el("td", {}, hand.about),
      el("td", {}, hand.players.map(({ name, hole }) => [`${name} `, hole ? cardList(hole).map(cardNode) : "", " "])),
      el("td", {}, cardList(hand.board).map(cardNode)),
      el("td", {}, hand.won ? `${hand.players[0].name} ${hand.won[0] > 0 ? "+" : ""}${amount(hand.won[0])} bb` : "–"),
    );
  }

  async function choose(hand) {
    chosen.place = hand.place;
    fill(failure);
    fill(detail, el("p", { class: "note" }, "The hand is being reviewed."));
    try {
      const found = await send("/api/hands/review", { text: heldHands.text, place: hand.place });
      if (chosen.place === hand.place) fill(detail, detailNode(hand, found));
    } catch (error) {
      fill(detail);
      fill(failure, error.message);
    }
  }

  return {
    show() {
      document.title = "Hands – Spewy";
      const hand = chosen.place;
      if (hand !== null) list.querySelector(`[data-place="${hand}"]`)?.focus();
    },
  };
}

function detailNode(hand, { folder, decisions, reason }) {
  const setUp = hand.streets.map((street) => el("a", { class: street === "flop" ? "primary" : null, href: placeAddress("solve", { hand: String(hand.place), street }) }, `Set up its spot from the ${street}`));
  return el(
    "section",
    { class: "report", "aria-label": "review" },
    el("h2", {}, `Hand ${hand.number}`),
    el("p", {}, hand.about),
    folder ? el("p", { class: "note" }, "Compared with ", el("a", { href: placeAddress("look", { folder }) }, folder)) : null,
    reason ? el("p", { class: "note" }, folder ? reason : `No solve of this server has the spot: ${reason}. Solve it first, and choose the hand again.`) : null,
    decisions.length ? reviewTable(decisions, folder) : null,
    el("p", { class: "tools" }, setUp),
  );
}

function reviewTable(decisions, folder) {
  const head = ["decision", "player", "done", "the strategy with this hand", "loss to the best"];
  return el(
    "table",
    { class: "decisions" },
    el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, decisions.map((each) => reviewRow(each, folder))),
  );
}

function reviewRow(decision, folder) {
  const where = `${decision.round} ${decision.line || "(first)"}`;
  const address = placeAddress("look", { folder, line: decision.line, board: decision.board });
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, decision.look ? el("a", { href: address }, where) : where),
    el("td", {}, `${decision.name} `, decision.hole ? cardList(decision.hole).map(cardNode) : ""),
    el("td", {}, decision.played, decision.off >= 0.05 ? el("small", {}, ` (sizes differ by ${decision.off.toFixed(1)} % of the pot)`) : null),
    el(
      "td",
      { class: "mixed" },
      decision.frequencies ? decision.words.map((words, i) => el("span", { class: `mix-part${decision.actions[i] === decision.action ? " played" : ""}` }, `${words} ${percent(decision.frequencies[i], 0)} `, decision.values ? el("small", {}, `EV ${amount(decision.values[i])}`) : null)) : "–",
    ),
    el("td", {}, known(decision.loss) ? `${amount(decision.loss)} ${decision.unit}` : "–"),
  );
}
