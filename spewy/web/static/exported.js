/** Starts an exported page: shows the positions that the page's file holds. */

import { el, fill } from "./dom.js";
import { createLook } from "./look.js";
import { listenToKeys, placeAddress, readPlace, startTheme } from "./page.js";
import { LOOK_PANELS } from "./panels.js";
import { packedSource } from "./unpack.js";

const contents = JSON.parse(document.getElementById("solution").textContent);
const exportedBody = el("div", { class: "look" });
const exportedLook = createLook(exportedBody, packedSource(contents), {
  panels: LOOK_PANELS,
  filters: false,
  moved: (place) => {
    location.hash = placeAddress("look", place);
  },
});

function showExported() {
  exportedLook.show("", readPlace().parameters, contents.summary);
}

startTheme(document.getElementById("theme"));
fill(
  document.getElementById("look"),
  exportedBody,
  el("p", { class: "note" }, contents.later, " Numbers are rounded to five digits."),
);
addEventListener("hashchange", showExported);
listenToKeys(document, exportedLook.key);
showExported();
