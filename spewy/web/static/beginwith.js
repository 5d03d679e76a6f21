/** The rows above the form of the solve page that fill it: presets, jobs of solves, and pasted spots and hands. */

import { cardList, cardNode, boardCards } from "./cards.js";
import { el, fill } from "./dom.js";
import { formationOf, twoSteps } from "./formations.js";
import { smallButton } from "./job.js";
import { ask, send } from "./source.js";

const OF_A_SOLVE = "the job of a solve";
const PASTED = "a pasted text";

/** Make the rows above the form of a draft; `presets` is a promise of the rows of presets. */
export function beginWith(draft, presets) {
  const steps = twoSteps({ id: "begin-with", label: "begin with", picked: begin, opened: listSolves });
  const error = el("span", { class: "field-error", role: "alert" });
  const changed = el("div", { class: "tools begun" });
  const known = { presets: [], solves: [] };
  let before = null;

  presets.then((rows) => {
    known.presets = rows.map(({ name, about }) => {
      const { group, title } = formationOf(about);
      return { group, title, value: `preset:${name}` };
    });
    steps.offer([...known.presets, ...known.solves]);
    listSolves();
  }, (failure) => fill(error, failure.message));

  async function listSolves() {
    const { folders } = await ask("/api/folders").catch(() => ({ folders: [] }));
    const inside = new Set(folders.flatMap((entry) => entry.boards));
    const solves = folders.filter(({ id }) => !inside.has(id)).map(({ id }) => ({ group: OF_A_SOLVE, title: id, value: `solve:${id}` }));
    if (JSON.stringify(solves) === JSON.stringify(known.solves)) return; // an open list stays as it is
    known.solves = solves;
    steps.offer([...known.presets, ...solves]);
  }

  function begin(value) {
    const [kind, name] = [value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1)];
    const board = boardCards(draft.get("spot.board")).join("");
    const query = kind === "preset" ? { name, board: board.length >= 6 && board.length <= 10 ? board : "" } : { folder: name };
    return takeOver(ask(`/api/setup/${kind}`, query), error, value);
  }

  async function takeOver(answer, failed, begun) {
    const kept = draft.text ? draft.state() : null;
    try {
      const found = await answer;
      fill(failed);
      if (!found.hands) {
        draft.take(found, { begun });
        before = kept;
        refresh();
      }
      return found;
    } catch (failure) {
      fill(failed, failure.message);
      refresh();
      return null;
    }
  }

  function undo() {
    draft.restore(before);
    before = null;
    refresh();
  }

  function refresh() {
    steps.show(draft.begun, draft.begun === PASTED ? PASTED : "choose …");
    const again = draft.changed && draft.begun && draft.begun !== PASTED;
    fill(
      changed,
      draft.changed && draft.begun ? el("span", { class: "note" }, "changed since you chose it") : null,
      again ? smallButton("begin again", () => begin(draft.begun)) : null,
      before ? smallButton("undo", undo) : null,
    );
  }

  draft.subscribe(refresh);

  // The paste field.

  const pasted = el("textarea", { id: "pasted-spot", rows: 2, spellcheck: "false", "aria-describedby": "paste-note", placeholder: "text of PioViewer, TexasSolver, WASM Postflop, PokerStars, GGPoker, a PHH or a job file" });
  const pasteError = el("p", { class: "field-error", role: "alert" });
  const told = el("div", { "aria-live": "polite" });
  const paste = el(
    "div",
    { class: "paste" },
    el("label", { for: pasted.id }, "Paste a spot or a hand"),
    pasted,
    el("div", { class: "tools", id: "paste-note" }, smallButton("fill in the form", readPasted), el("span", { class: "note" }, "or drop a file here")),
    pasteError,
    told,
  );
  pasted.addEventListener("paste", () => setTimeout(readPasted));
  paste.addEventListener("dragover", (event) => event.preventDefault());
  paste.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    pasted.value = await file.text();
    readPasted();
  });

  async function readPasted() {
    const text = pasted.value;
    const found = await takeOver(send("/api/setup/paste", { text }), pasteError, PASTED);
    if (found && found.hands) return fill(told, el("p", {}, `${found.hands.length} hands have a spot; choose one:`), el("ul", { class: "pasted-hands" }, found.hands.map((hand) => handRow(hand, text))));
    showLines(told, found ? found.told : [], "note");
  }

  function handRow({ place, number, about, board }, text) {
    const take = async () => {
      const found = await takeOver(send("/api/hands/job", { text, place }), pasteError, PASTED);
      if (found) showLines(told, found.from_hand, "note");
    };
    return el("li", {}, smallButton(number, take), ` ${about} `, cardList(board).map(cardNode));
  }

  const choice = el("div", { class: "begin" }, el("label", { for: "begin-with-group" }, "Begin with"), el("div", { class: "two-steps" }, steps.nodes), changed, error);
  return el("div", { class: "begin-rows" }, choice, paste);
}

/** Fill an element with a paragraph for each line, unless it shows these lines already. */
export function showLines(element, lines, kind) {
  if (element.textContent === lines.join("")) return;
  fill(element, lines.map((line) => el("p", { class: kind }, line)));
}
