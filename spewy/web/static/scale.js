/** Colours for numbers, from dark blue to yellow: a scale that colour-blind readers can read, too. */

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

/** Return black or white, whichever has more contrast with a background: at least 4.5 to 1. */
function inkOn(...background) {
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
