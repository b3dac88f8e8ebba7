// The panels as SVG, drawn from the same data as the curves on the page.

import { colour, property } from "./colours.js";
import { svg } from "./dom.js";
import { LINE, entriesOf, inLines } from "./legends.js";
import { placed } from "./names.js";
import { short } from "./panel.js";
import { timeUnit } from "./quantities.js";

const WIDTH = 900;
const HEIGHT = 180;
const LEFT = 62;
const RIGHT = 46; // room for the numbers of a second scale
const TOP = 30;
const BOTTOM = 26;
const LETTER = 6.4; // width of a letter, about
const BOLD = 7.2; // that of a bold one

/** Writes all panels below each other as the text of an SVG file. */
export function svgOf(title, panels) {
  const measure = (words, weight) => words.length * (weight > 400 ? BOLD : LETTER);
  const legends = panels.map((panel) => inLines(entriesOf(panel), LEFT, WIDTH - 8, measure));
  const more = legends.map(({ lines }) => (lines - 1) * LINE);
  const total = 34 + panels.length * HEIGHT + more.reduce((sum, one) => sum + one, 0);
  const root = svg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${WIDTH} ${total}`,
    "font-family": "system-ui, sans-serif",
    "font-size": 11,
  });
  root.append(
    svg("rect", { width: WIDTH, height: total, fill: property("--page") }),
    text(8, 22, title, { "font-size": 15, "font-weight": 600 }),
  );
  let y = 34;
  panels.forEach((panel, index) => {
    root.append(legend(legends[index].placed, y), drawn(panel, y + more[index], index));
    y += HEIGHT + more[index];
  });
  return new XMLSerializer().serializeToString(root);
}

function drawn(panel, y, index) {
  const { data } = panel;
  const [x0, x1] = data.x_range;
  let [y0, y1] = panel.range();
  if (data.y_down) [y0, y1] = [y1, y0];
  const across = (value) => LEFT + ((value - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
  const down = (value) => HEIGHT - BOTTOM - ((value - y0) / (y1 - y0)) * (HEIGHT - BOTTOM - TOP);
  const group = svg("g", { transform: `translate(0 ${y})` });
  const inside = svg("g", { "clip-path": `url(#clip-${index})` });
  group.append(
    svg(
      "clipPath",
      { id: `clip-${index}` },
      svg("rect", { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM }),
    ),
  );
  for (const span of data.spans) inside.append(shade(span, across, down));
  const lines = data.lines.filter((one) => one.axis === "y");
  inside.append(...lines.map((line) => reference(line, down)));
  for (const one of panel.series.filter((each) => !each.band)) inside.append(curve(one, across, down));
  inside.append(...names(lines, panel.series, across, down));
  group.append(frame(data, across, down, [y0, y1]), inside);
  for (const events of data.events)
    for (const x of events.x)
      group.append(svg("path", { d: `M${across(x) - 3} ${TOP - 5}h6l-3 6z`, fill: property("--drop") }));
  return group;
}

function shade(span, across, down) {
  const [y, height] =
    span.low === null
      ? [TOP, HEIGHT - TOP - BOTTOM]
      : [Math.min(down(span.low), down(span.high)), Math.abs(down(span.low) - down(span.high))];
  const fill = span.colour === null ? property("--shade") : colour(span.colour);
  return svg("rect", {
    x: across(span.start),
    y,
    width: Math.max(0.5, across(span.end) - across(span.start)),
    height,
    fill,
    opacity: span.colour === null ? 1 : 0.25,
  });
}

function reference(line, down) {
  const y = down(line.value);
  const dash = { theory: "6 4", limit: "2 3" }[line.kind] ?? "";
  const stroke = line.colour === null ? property("--faint") : colour(line.colour);
  return svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, stroke, "stroke-dasharray": dash });
}

/** Writes the names of lines where they hide least of the curves, with a rim in the colour of the ground. */
function names(lines, series, across, down) {
  const box = { left: LEFT, top: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
  const named = lines
    .filter((line) => line.label)
    .map(({ label, value }) => ({ label, y: down(value), width: label.length * LETTER }))
    .filter(({ y }) => y >= box.top && y <= box.top + box.height)
    .sort((a, b) => a.y - b.y);
  const curves = series.map(({ x, y, look, isStep }) => ({
    points: x.map((time, index) => [across(time), y[index] === null ? null : down(y[index])]),
    look,
    isStep,
  }));
  const rim = { stroke: property("--page"), "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke" };
  return placed(named, box, curves).map(({ x, y }, index) =>
    text(round(x), round(y), named[index].label, { "text-anchor": "end", fill: property("--muted"), ...rim }),
  );
}

function curve(one, across, down) {
  const stroke = one.ghost || one.colour === "grey" ? property("--faint") : colour(one.colour);
  const points = one.x
    .map((x, index) => [across(x), one.y[index] === null ? null : down(one.y[index])])
    .filter(([, y]) => y !== null);
  if (one.look === "points") {
    const d = points.map(([x, y]) => `M${round(x)} ${round(y)}h0`).join("");
    return svg("path", {
      d,
      stroke,
      "stroke-width": /sent$/.test(one.label) ? 1.5 : 4,
      "stroke-linecap": "round",
      fill: "none",
    });
  }
  const d = points
    .map(([x, y], index) =>
      index === 0 ? `M${round(x)} ${round(y)}` : one.isStep ? `H${round(x)}V${round(y)}` : `L${round(x)} ${round(y)}`,
    )
    .join("");
  return svg("path", {
    d,
    stroke,
    fill: "none",
    "stroke-width": 1.3,
    "stroke-dasharray": one.ghost ? "1.5 2.5" : one.look === "dashed" ? "7 3" : "",
  });
}

function frame(data, across, down, [y0, y1]) {
  const group = svg("g", { fill: property("--text") });
  const [x0, x1] = data.x_range;
  const [unit, factor] = timeUnit(data.x_range);
  group.append(text(LEFT - 8, HEIGHT - 8, `time [${unit}]`, { "text-anchor": "end" }));
  for (const x of ticks(x0, x1, 8)) {
    const words = String(Number((x * factor).toPrecision(6)));
    group.append(rule(across(x), across(x), TOP, HEIGHT - BOTTOM));
    if (across(x) - (words.length * LETTER) / 2 > LEFT - 8)
      group.append(text(across(x), HEIGHT - 8, words, { "text-anchor": "middle" }));
  }
  const rows = data.y_ticks
    ? data.y_ticks.map((name, index) => [index, name])
    : ticks(Math.min(y0, y1), Math.max(y0, y1), 4).map((y) => [y, short(y)]);
  for (const [y, name] of rows)
    group.append(
      rule(LEFT, WIDTH - RIGHT, down(y), down(y)),
      text(LEFT - 5, down(y) + 4, name, { "text-anchor": "end" }),
    );
  if (data.second) {
    const { factor } = data.second;
    for (const value of ticks(y0 * factor, y1 * factor, 5))
      group.append(text(WIDTH - RIGHT + 5, down(value / factor) + 4, short(value)));
  }
  return group;
}

/** Writes the entries of a legend, each with its mark. */
function legend(placed, y) {
  const group = svg("g", {});
  for (const { words, weight, fill, mark, shade, at, x, line } of placed) {
    const below = y + 16 + line * LINE;
    if (mark === "shade") group.append(svg("rect", { x: at, y: below - 9, width: 10, height: 10, fill: shade }));
    if (mark === "drop") group.append(svg("path", { d: `M${at} ${below - 8}h8l-4 8z`, fill: shade }));
    group.append(text(round(x), below, words, { fill, "font-weight": weight }));
  }
  return group;
}

function ticks(low, high, number) {
  const raw = (high - low) / number;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step)
    found.push(Number(value.toPrecision(12)));
  return found;
}

function rule(x1, x2, y1, y2) {
  return svg("line", { x1, x2, y1, y2, stroke: property("--grid") });
}

function text(x, y, words, attributes = {}) {
  return svg("text", { x, y, fill: property("--text"), ...attributes }, words);
}

function round(value) {
  return Math.round(value * 10) / 10;
}
