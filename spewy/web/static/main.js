/** Starts the page: shows the page that the address names, and passes keys to it. */

import { el, fill } from "./dom.js";
import { handsPage } from "./handspage.js";
import { lookPage } from "./lookpage.js";
import { listenToKeys, readPlace, startTheme } from "./page.js";
import { playPage } from "./playpage.js";
import { solvePage } from "./solvepage.js";
import { trainPage } from "./trainpage.js";

/** The pages: name in the address, title in the navigation, and function that makes the page in an element. */
const PAGES = [
  ["look", "Look", lookPage],
  ["solve", "Solve", solvePage],
  ["play", "Play", playPage],
  ["train", "Train", trainPage],
  ["hands", "Hands", handsPage],
];

const made = {};
const main = document.getElementById("main");

function showPlace() {
  const { page, parameters } = readPlace();
  const [name, , make] = PAGES.find(([each]) => each === page) || PAGES[0];
  if (!made[name]) {
    const root = el("div", { class: `page page-${name}` });
    made[name] = { root, ...make(root) };
  }
  const arrives = !main.contains(made[name].root);
  if (arrives) {
    fill(main, made[name].root);
    scrollTo(0, 0);
  }
  for (const link of document.querySelectorAll("header nav a"))
    link.setAttribute("aria-current", link.getAttribute("href") === `#${name}` ? "page" : "false");
  made[name].show(parameters, arrives);
}

function pressed(event) {
  const shown = made[readPlace().page];
  return Boolean(shown && shown.key && shown.key(event));
}

startTheme(document.getElementById("theme"));
fill(
  document.getElementById("pages"),
  PAGES.map(([name, title]) => el("a", { href: `#${name}` }, title)),
);
addEventListener("hashchange", showPlace);
listenToKeys(document, pressed);
showPlace();
