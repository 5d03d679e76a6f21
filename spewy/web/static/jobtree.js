/** Draws the betting tree of a job, round by round; the server builds it from the job itself. */

import { el, fill } from "./dom.js";
import { roundText } from "./format.js";
import { send } from "./source.js";
import { smallButton } from "./boardpicker.js";

const SEATS_OF_TREE = ["oop", "ip"];
const OPEN_DEPTH = 1;

/** Make the drawing of a draft's tree; `lock(line)` is called for a decision at which the user wants to lock hands. */
export function jobTree(draft, { lock }) {
  const body = el("div", { class: "job-tree" });
  const count = el("span", { class: "note" });
  const box = el("details", { class: "job-box" }, el("summary", {}, "Betting tree ", count), body);
  const state = { drawn: null, asked: 0 };
  box.addEventListener("toggle", refresh);

  function refresh() {
    const { facts } = draft;
    const nodes = facts ? `${facts.all_counted ? "" : "more than "}${facts.nodes.toLocaleString("en")} decisions and ends` : "";
    if (count.textContent !== nodes) fill(count, nodes);
    if (!box.open || !facts || state.drawn === draft.text) return;
    state.drawn = draft.text;
    draw(draft.text);
  }

  async function draw(text) {
    const number = ++state.asked;
    let found;
    try {
      found = await send("/api/setup/tree", { text });
    } catch (error) {
      if (number === state.asked) fill(body, el("p", { class: "error" }, error.message));
      return;
    }
    if (number === state.asked) fill(body, treeNode(found.root, 0, found.unit));
  }

  /** Make the list of a decision's actions with everything that follows in the round. */
  function treeNode(node, depth, unit) {
    if (node.more) return partButton("show more", node.line, depth, unit);
    const rows = (node.actions || []).map((action) => actionRow(action, depth, unit));
    return el(
      "div",
      { class: "tree-node" },
      el(
        "div",
        { class: "tree-title" },
        el("b", {}, SEATS_OF_TREE[node.player]),
        ` ${depth ? "" : `${roundText(node.round)}, `}pot ${chipsText(node.pot)} ${unit} `,
        smallButton("lock", () => lock(node.line), { title: "fix how often hands take each action here", class: "small quiet" }),
      ),
      el("ul", {}, rows),
    );
  }

  function actionRow(action, depth, unit) {
    const { node } = action;
    const name = [el("span", { class: "swatch", style: { "background-color": action.colour } }), action.words];
    if (node.kind === "fold") return el("li", {}, name);
    if (node.kind === "showdown") return el("li", {}, name, el("span", { class: "note" }, ` showdown, pot ${chipsText(node.pot)}`));
    if (node.kind === "chance") {
      const { line, round } = node.following;
      if (!line) return el("li", {}, name, el("span", { class: "note" }, ` all-in, pot ${chipsText(node.pot)}`));
      return el("li", {}, name, el("span", { class: "note" }, ` pot ${chipsText(node.pot)} `), partButton(`${round} …`, line, depth + 1, unit));
    }
    return el("li", {}, el("details", { open: depth < OPEN_DEPTH }, el("summary", {}, name), treeNode(node, depth + 1, unit)));
  }

  /** Make a button that, when clicked, is replaced by a further part of the tree. */
  function partButton(text, line, depth, unit) {
    const place = el("span", {});
    const button = smallButton(text, async () => {
      button.disabled = true;
      try {
        const found = await send("/api/setup/tree", { text: state.drawn, line });
        fill(place, treeNode(found.root, depth, unit));
      } catch (error) {
        fill(place, el("span", { class: "field-error" }, error.message));
      }
    });
    return fill(place, button);
  }

  return { node: box, refresh };
}

/** Write an amount with at most two decimals. */
function chipsText(value) {
  return String(Number(value.toFixed(2)));
}
