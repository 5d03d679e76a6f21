/** Answers questions about positions from the data of an exported page, which `spewy/web/export.py` packs. */

/**
 * Make the source of an exported page.
 * @param {object} contents data of the page.
 */
export function packedSource(contents) {
  const parents = new Map();
  for (const [line, { steps }] of Object.entries(contents.positions))
    steps.forEach((step, taken) => parents.set(step.line, { line, taken }));

  async function position({ line, board }) {
    const here = line || contents.root.line;
    const packed = contents.positions[here];
    if (!packed || (board && board !== contents.root.board))
      throw new Error(`The position after ${line || "the start"}${board ? ` on ${board}` : ""} is not in this file.`);
    const found = { ...packed, path: [...contents.path, ...stagesBefore(here)] };
    if (packed.kind === "chance") found.absent = contents.later;
    if (packed.views) found.views = (await plainViews(packed.views)).map((view) => unpackedView(view, contents));
    return found;
  }

  function stagesBefore(line) {
    const stages = [];
    for (let step = parents.get(line); step; step = parents.get(step.line)) {
      const { player, line: before, board, steps } = contents.positions[step.line];
      stages.unshift({ kind: "decision", player, line: before, board, taken: step.taken, steps });
    }
    return stages;
  }

  return { position };
}

async function plainViews(views) {
  if (typeof views !== "string") return views;
  if (typeof DecompressionStream === "undefined")
    throw new Error("This browser is too old to unpack the hands of this page; open it with a browser of 2023 or later.");
  const bytes = Uint8Array.from(atob(views), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function unpackedView(view, { hands, kinds }) {
  const { names, rows, columns } = view.hands;
  const spread = (column) => (rows ? rows.map((row) => column[row]) : column);
  const { strategy, action_ev, ...single } = columns;
  const found = {
    ...view,
    hands: {
      names: names.map((number) => hands[number]),
      columns: {
        ...Object.fromEntries(Object.entries(single).map(([name, column]) => [name, spread(column)])),
        strategy: strategy.map(spread),
        action_ev: action_ev.map(spread),
      },
    },
  };
  if (kinds) found.kinds = names.map((number) => kinds[number]);
  return found;
}
