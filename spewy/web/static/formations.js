/** Chooses presets and ranges in two steps: first the table and the stacks, then the pot or the position. */

import { el, fill } from "./dom.js";

/**
 * Split the description of a preset or a range.
 * @param {string} about such as "heads-up, 50 big blinds, solved: the button limps, the big blind checks" or "Six players:
 *   the button opens to 2.5.".
 * @returns {object} `group`: table and stacks; `title`: the rest; `owner`: who acts last in it, whose range it is.
 */
export function formationOf(about) {
  const table = /^heads-up/i.test(about) ? "heads-up" : "six players";
  const [, depth] = /(\d+) big blinds(?:, solved)?:/.exec(about) || [];
  const group = `${table}, ${depth || 100} big blinds${depth && table === "heads-up" ? ", solved" : ""}`;
  const title = about.replace(/^(?:heads-up|six players)[,:]? */i, "").replace(/^\d+ big blinds(?:, solved)?: */, "").replace(/\.$/, "");
  const [, owner = ""] = /^(?:the )?(button|big blind|small blind|cutoff|under the gun)/.exec(title.split(/, (?=the )/).at(-1)) || [];
  return { group, title, owner };
}

/**
 * Make two drop-downs: the first chooses a group of options, the second one of them.
 * @param {object} options `id` of the second drop-down (the first has `ID-group`); `label`: what is chosen; `picked(value)`:
 *   called once a person has chosen; `opened()`: called before a person looks at the groups.
 * @returns {object} `nodes`; `offer(options)`: sets the options `{group, part, title, value}`, in order, where `part` is a
 *   heading inside of the group; `show(value, otherwise)`: shows a value, or the text `otherwise` if there is no such option.
 */
export function twoSteps({ id, label, picked, opened = () => {} }) {
  const groups = el("select", { id: `${id}-group`, "aria-label": `${label}: table and stacks` });
  const options = el("select", { id, "aria-label": label });
  let offered = [];
  let shown = { value: "", otherwise: "choose …" };

  function fillOptions() {
    const inside = offered.filter(({ group }) => group === groups.value);
    const parts = [...new Set(inside.map(({ part }) => part))];
    const nodes = parts.map((part) => {
      const rows = inside.filter((each) => each.part === part).map(({ title, value }) => el("option", { value }, title));
      return part ? el("optgroup", { label: part }, rows) : rows;
    });
    const here = inside.some(({ value }) => value === shown.value);
    const elsewhere = offered.some(({ value }) => value === shown.value);
    fill(options, here ? null : el("option", { value: "" }, elsewhere ? "choose …" : shown.otherwise), nodes);
    options.value = here ? shown.value : "";
  }

  function show(value, otherwise = "choose …") {
    if (value === shown.value && otherwise === shown.otherwise) return;
    shown = { value, otherwise };
    const found = offered.find((each) => each.value === value);
    if (found) groups.value = found.group;
    fillOptions();
  }

  function offer(rows) {
    const before = groups.value;
    offered = rows;
    const names = [...new Set(rows.map(({ group }) => group))];
    fill(groups, names.map((name) => el("option", { value: name }, name)));
    const found = rows.find((each) => each.value === shown.value);
    if (found || names.includes(before)) groups.value = found ? found.group : before;
    fillOptions();
  }

  groups.addEventListener("focus", opened);
  options.addEventListener("focus", opened);
  groups.addEventListener("change", fillOptions);
  options.addEventListener("change", () => {
    if (!options.value) return;
    shown = { ...shown, value: options.value };
    fillOptions();
    picked(shown.value);
  });
  return { nodes: [groups, options], offer, show };
}
