/** The field for filters of hands: suggests names, and shows an error beside the field. */

import { el, fill } from "./dom.js";

const SEPARATOR = /[,&;]/;

/**
 * Make the field in which a reader types a filter of hands.
 * @param {object} options `value`: the filter now; `error`: what is wrong with it, or null; `names()`: promise of the
 *   names that a filter can have; `choose(text)`: called with a new filter.
 */
export function filterField({ value, error, names, choose }) {
  const list = el("datalist", { id: "filter-names" });
  const input = el("input", {
    id: "filter",
    type: "search",
    list: "filter-names",
    autocomplete: "off",
    value,
    placeholder: "pair+&flush draw",
    title: "hands, such as AK, QQ+, Axs & hh, or kinds of hands, such as pair+&flush draw, set: a comma means or, & means and, + means or better; a semicolon separates filters that must all hold",
    "aria-invalid": error ? "true" : null,
    "aria-describedby": error ? "filter-error" : null,
    onchange: () => choose(input.value.trim()),
    oninput: suggest,
    onfocus: suggest,
  });

  async function suggest() {
    const known = await names().catch(() => []);
    const end = input.value.split(SEPARATOR).at(-1);
    const start = input.value.slice(0, input.value.length - end.length);
    fill(list, known.map((name) => el("option", { value: start + name })));
  }

  return [
    el("label", { for: "filter" }, "filter"),
    input,
    list,
    error ? el("span", { id: "filter-error", class: "field-error", role: "alert" }, error) : null,
  ];
}
