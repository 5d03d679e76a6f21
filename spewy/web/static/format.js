/** Writes numbers for people, and gives colours to numbers; an undefined number is a dash. */

/** Write a share as a percentage, such as 31.5 %. */
export function percent(share, digits = 1) {
  return known(share) ? `${fixed(100 * share, digits)} %` : "–";
}

/** Write a small share with two digits that count. */
export function rarely(share) {
  return `${Number((100 * share).toPrecision(2))} %`;
}

/** Write an amount of chips or big blinds with at most two decimals. */
export function amount(value) {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  return fixed(value, size >= 1000 ? 0 : size >= 100 ? 1 : 2);
}

/** Write a number with some decimals and with commas between thousands; a number that rounds to zero has no sign. */
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  if (Math.abs(value) < 999) return Number(text) ? text : text.replace("-", "");
  const [whole, decimals] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (decimals ? `.${decimals}` : "");
}

/** Write a difference with its sign, or 0 without one. */
export function signedText(value, write) {
  if (!known(value)) return "–";
  const text = write(Math.abs(value));
  return /[1-9]/.test(text) ? `${value < 0 ? "−" : "+"}${text}` : text;
}

/** Return a function that writes EVs in a pot, all with the same number of decimals. */
export function evWriter(pot) {
  const digits = pot >= 1000 ? 0 : pot >= 100 ? 1 : 2;
  return (value) => (known(value) ? fixed(value, digits) : "–");
}

/** Write an amount of chips or big blinds without decimals that are 0, such as 200 or 3.63. */
export function chips(value) {
  return known(value) ? fixed(value, 2).replace(/\.?0+$/, "") : "–";
}

/** Write a weight from 0 to 1 with three decimals. */
export function weight(value) {
  return known(value) ? value.toFixed(3) : "–";
}

/** Whether a number of an answer is defined. */
export function known(value) {
  return value !== null && value !== undefined && !Number.isNaN(value);
}

/** Write a number of bytes, such as 1.5 GiB. */
export function bytes(number) {
  if (!known(number)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, number)) / 10));
  return `${(number / 1024 ** power).toFixed(power ? 1 : 0)} ${units[power]}`;
}

/** Write a number of seconds, such as 1:15 min. */
export function duration(seconds) {
  if (!known(seconds)) return "–";
  if (seconds < 0.995) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")} h`;
}

/** Write a whole number with commas. */
export function count(number) {
  return known(number) ? number.toLocaleString("en") : "–";
}

/** Write what a solve is and how good it is. */
export function summaryText({ kind, progress, exploitability_pct: gap }) {
  return `${kind}${known(gap) ? `, exploitability ${gap.toFixed(3)} % of the pot` : ""}, ${progress}`;
}

/** Say when a round is: on the turn, before the flop. */
export function roundText(round) {
  return round === "preflop" ? "before the flop" : `on the ${round}`;
}

// Colours for numbers, from dark blue to yellow: a scale that colour-blind readers can read, too.

const STOPS = [
  [0, 34, 78],
  [53, 69, 108],
  [102, 105, 112],
  [148, 142, 119],
  [200, 184, 102],
  [254, 232, 56],
];

const DIFFERENCE_STOPS = [
  [179, 88, 6],
  [241, 163, 64],
  [247, 247, 247],
  [153, 142, 195],
  [84, 39, 136],
];

/** Return the background and the ink for a share from 0 to 1 of the scale. */
export function scaleColour(share) {
  return colourBetween(STOPS, share);
}

/** Return the background and the ink for a difference from -1 to 1: orange, white for none, and purple. */
export function differenceColour(difference) {
  return colourBetween(DIFFERENCE_STOPS, (1 + difference) / 2);
}

function colourBetween(stops, share) {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const [red, green, blue] = stops[low].map((value, i) => Math.round(value + (at - low) * (stops[low + 1][i] - value)));
  return { colour: `rgb(${red}, ${green}, ${blue})`, ink: inkOn(red, green, blue) };
}

/** The numbers red, green and blue, 0 to 255, of a colour "#rrggbb". */
export function channels(colour) {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

/** Return black or white, whichever has more contrast with a background: at least 4.5 to 1. */
export function inkOn(...background) {
  const [red, green, blue] = background.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

/** Return a function from a number to its share of the range of some numbers; all equal numbers get 0.5. */
export function rescaled(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return (value) => (high > low ? (value - low) / (high - low) : 0.5);
}
