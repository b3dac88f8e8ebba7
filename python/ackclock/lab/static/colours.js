// Colours of curves: those of Okabe and Ito, lighter on a dark page, and the page's own from its style sheet.

/** Gives the colour with a number, as the style sheet has it. */
export function colour(number, fallback = "--faint") {
  return property(number === null || number === undefined ? fallback : `--colour-${number % 6}`);
}

const known = new Map(); // properties that were looked up: curves ask for them again and again

export function property(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return known.get(name);
}

/** Gives a colour with an opacity. */
export function faded(hex, opacity) {
  const number = parseInt(hex.slice(1), 16);
  return `rgba(${number >> 16}, ${(number >> 8) & 255}, ${number & 255}, ${opacity})`;
}

/** Calls a function when the page becomes dark or light. */
export function onScheme(changed) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    known.clear();
    changed();
  });
}
