/** Colours for numbers, from dark blue to yellow: a scale that colour-blind readers can read, too. */

const STOPS = [
  [0, 34, 78],
  [53, 69, 108],
  [102, 105, 112],
  [148, 142, 119],
  [200, 184, 102],
  [254, 232, 56],
];

/** Return the background and the ink for a share from 0 to 1 of the scale. */
export function scaleColour(share) {
  const at = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  const rgb = STOPS[low].map((value, i) => Math.round(value + (at - low) * (STOPS[low + 1][i] - value)));
  return { colour: `rgb(${rgb.join(", ")})`, ink: at > 3 ? "#000" : "#fff" };
}

/** Return a function from a number to its share of the range of some numbers; all equal numbers get 0.5. */
export function rescaled(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return (value) => (high > low ? (value - low) / (high - low) : 0.5);
}
