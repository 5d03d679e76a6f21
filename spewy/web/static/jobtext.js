/** The text of the job file, to read, change, download or paste. */

import { el } from "./dom.js";
import { smallButton } from "./boardpicker.js";

/** Make the box with the text of a draft. */
export function jobText(draft) {
  const area = el("textarea", { class: "job-text", rows: 24, spellcheck: "false", "aria-label": "job file" });
  const node = el(
    "details",
    { class: "job-box" },
    el("summary", {}, "Job file as text"),
    el(
      "p",
      { class: "note" },
      "This is what spewy solve reads. Change it here for whatever the form lacks; docs/reference/job-file.md explains every key. ",
      "A change in the form writes the text anew, without your own comments.",
    ),
    el("div", { class: "tools" }, smallButton("download", download)),
    area,
  );
  area.addEventListener("input", () => draft.setText(area.value));

  function download() {
    const link = el("a", { href: URL.createObjectURL(new Blob([draft.text], { type: "text/plain" })), download: `${draft.get("name") || "job"}.toml` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function refresh() {
    if (document.activeElement !== area && area.value !== draft.text) area.value = draft.text;
  }

  return { node, refresh };
}
