// What stands above each panel of a downloaded picture: its title, its units, and the names of all that it shows.

import { colour, faded, property } from "./colours.js";

/** Height of a line of entries [pixels]. */
export const LINE = 15;

const GAP = 12;
const MARK = 14; // room of a mark in front of its words
const SHADED = 0.4;

/** Gives the entries of a panel: words, weight, colour, and the mark in front of them, if they have one. */
export function entriesOf(panel) {
  const { data } = panel;
  const unit = (words) => ({ words, weight: 400, fill: property("--muted") });
  const entries = [{ words: data.title || data.y_label, weight: 600, fill: property("--text") }];
  if (data.title) entries.push(unit(data.y_label));
  if (data.second) entries.push(unit(`right: ${data.second.label}`));
  const curves = panel.series.filter((one) => !one.hidden);
  for (const [words, one] of byLabel(curves)) {
    const isFaint = one.ghost || one.colour === "grey";
    entries.push({ words, weight: 400, fill: isFaint ? property("--faint") : colour(one.colour) });
  }
  for (const [words, span] of byLabel(data.spans)) {
    const shade = span.colour === null ? property("--shade") : faded(colour(span.colour), SHADED);
    entries.push({ ...unit(words), mark: "shade", shade });
  }
  for (const [words] of byLabel(data.events.filter((one) => one.x.length)))
    entries.push({ ...unit(words), mark: "drop", shade: property("--drop") });
  return entries;
}

/** Places entries in as many lines as they need between two edges; `measure` gives the width of words. */
export function inLines(entries, left, right, measure) {
  let x = left;
  let line = 0;
  const placed = entries.map((entry) => {
    const start = entry.mark ? MARK : 0;
    const width = start + measure(entry.words, entry.weight);
    if (x > left && x + width > right) {
      x = left;
      line += 1;
    }
    const place = { ...entry, at: x, x: x + start, line };
    x += width + GAP;
    return place;
  });
  return { placed, lines: line + 1 };
}

/** Gives the first of each label, by the label; what has none is left out. */
function byLabel(all) {
  const found = new Map();
  for (const one of all) if (one.label && !found.has(one.label)) found.set(one.label, one);
  return found;
}
