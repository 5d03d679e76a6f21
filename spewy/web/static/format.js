/** Writes numbers for people; an undefined number is a dash. */

/** Write a share as a percentage, such as 31.5 %. */
export function percent(share, digits = 1) {
  return known(share) ? `${(100 * share).toFixed(digits)} %` : "–";
}

/** Write an amount of chips or big blinds with at most two decimals. */
export function amount(value) {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : 2);
}

/** Write a weight from 0 to 1 with three decimals. */
export function weight(value) {
  return known(value) ? value.toFixed(3) : "–";
}

/** Whether a number of an answer is defined. */
export function known(value) {
  return value !== null && value !== undefined && !Number.isNaN(value);
}

/** Write what a solve is and how good it is. */
export function summaryText({ kind, progress, exploitability_pct: gap }) {
  return `${kind}, ${progress}${known(gap) ? `, exploitability ${gap.toFixed(3)} % of the pot` : ""}`;
}
