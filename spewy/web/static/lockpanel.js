/** The panel that begins a locked solve at a decision of a solved spot. */

import { el, fill } from "./dom.js";
import { placeAddress } from "./place.js";

/** Panel "Lock" of the look page: a link that sets up the same job with a lock at the shown decision. */
export const lockPanel = {
  id: "lock",
  title: "Lock",
  shows: ({ position, source, summary }) =>
    Boolean(source.locks && position.kind === "decision" && position.views && summary && !summary.board_buckets),
  draw(element, { position, place, folder }) {
    const seat = position.player ? "ip" : "oop";
    const address = (hand) => placeAddress("solve", { from: folder, lock: position.line || "", board: position.board, hand }) + (position.line ? "" : "&lock=");
    const { hand } = place;
    const held = hand && position.views[position.player].grid && position.views[position.player].grid.classes[hand];
    fill(
      element,
      el("p", {}, `A lock fixes how often ${seat} takes each action here. The next solve then finds how both players adapt to it, and can be compared with this one.`),
      el(
        "p",
        { class: "tools" },
        el("a", { class: "primary", href: address("") }, `Lock the whole range of ${seat} here`),
        held && held.reach > 0 ? el("a", { href: address(hand) }, `lock only ${hand}`) : null,
      ),
      el("p", { class: "note" }, "The page that opens begins with this solve's job and the frequencies of this solution; change them before you start."),
    );
  },
};
