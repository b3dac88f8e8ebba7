// One panel of curves: a uPlot from a panel of the server's chart, with its phases, lines, events and legend.

import { colour, faded, property } from "./colours.js";
import { element } from "./dom.js";
import { drawEvents, drawLines, drawSpans, nameLines, nameTime, TIME_LEFT } from "./drawing.js";
import { timeUnit } from "./quantities.js";

const HEIGHT = 136;
const LANE_HEIGHT = 26;
const LEFT = 62; // of all panels, so that their time axes lie below each other

export class Panel {
  /** `data` is a panel of the chart, `ghosts` the curves of a pinned run, `right` the room at the right side, and
   *  `on` gets `zoom`, `reset` and `cursor`. */
  constructor(data, ghosts, width, right, on) {
    this.data = data;
    this.right = right;
    this.legend = element("div", { class: "legend" });
    this.title = element("h3", {}, data.title || data.y_label);
    this.place = element("div", { class: "plot" });
    this.root = element("figure", { class: "panel" }, element("figcaption", {}, this.title, this.legend), this.place);
    this.on = on;
    this.ghosts = ghosts;
    this.make(width);
  }

  make(width) {
    this.plot?.destroy();
    this.series = drawn(this.data, this.ghosts);
    this.plot = new uPlot(this.options(width), joined(this.series), this.place);
    this.showLegend(null);
    this.describe();
  }

  /** Shows new curves; the plot is made again only if their number or their looks changed. */
  show(data, ghosts) {
    const before = looks(this.data, this.ghosts);
    this.data = data;
    this.ghosts = ghosts;
    if (looks(data, ghosts) !== before) {
      this.make(this.plot.width);
      return;
    }
    this.series = drawn(data, ghosts);
    this.plot.batch(() => {
      this.plot.setData(joined(this.series), false);
      this.plot.setScale("x", { min: data.x_range[0], max: data.x_range[1] });
      const [min, max] = this.range();
      this.plot.setScale("y", { min, max });
    });
    this.showLegend(this.plot.cursor.left >= 0 ? this.plot.posToVal(this.plot.cursor.left, "x") : null);
    clearTimeout(this.describing);
    this.describing = setTimeout(() => this.describe(), 50); // after the curves are painted
  }

  resize(width) {
    this.plot.setSize({ width, height: this.height() });
  }

  destroy() {
    this.plot.destroy();
  }

  height() {
    return this.data.y_ticks ? 46 + LANE_HEIGHT * this.data.y_ticks.length : HEIGHT;
  }

  options(width) {
    const text = property("--text");
    const grid = { stroke: property("--grid"), width: 1 };
    const axis = { stroke: text, grid, ticks: { ...grid, size: 4 }, font: "11px system-ui, sans-serif", gap: 3 };
    const lanes = this.data.y_ticks;
    const size = LEFT;
    return {
      width,
      height: this.height(),
      padding: [6, this.data.second ? 0 : this.right, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: "run", setSeries: false },
        drag: { x: true, y: false, setScale: false },
        points: { show: false },
        y: false,
        bind: { dblclick: () => () => this.on.reset() },
      },
      scales: {
        x: { time: false, range: () => this.data.x_range },
        y: { auto: false, range: () => this.range(), dir: this.data.y_down ? -1 : 1 },
      },
      axes: [
        { ...axis, size: 24, values: (plot, values) => this.times(plot, values) },
        lanes
          ? {
              ...axis,
              size,
              splits: () => lanes.map((_, index) => index),
              values: () => lanes.map((name) => (name.length > 10 ? `${name.slice(0, 9)}…` : name)),
              grid: { show: false },
            }
          : { ...axis, size, values: (_, values) => values.map(short) },
        ...(this.data.second ? [this.secondAxis(axis)] : []),
      ],
      series: [{}, ...this.series.map((one) => one.options)],
      bands: bandsOf(this.series),
      hooks: {
        drawClear: [(plot) => drawSpans(plot, this.data.spans)],
        draw: [(plot) => this.drawOver(plot)],
        setCursor: [(plot) => this.moved(plot)],
        setSelect: [(plot) => this.selected(plot)],
      },
    };
  }

  /** Gives the axis at the right, which shows the same values in another unit. */
  secondAxis(axis) {
    const { factor } = this.data.second;
    const splits = (plot) => {
      const [low, high] = [plot.scales.y.min * factor, plot.scales.y.max * factor];
      const step = roundStep((high - low) / 4.5);
      const found = [];
      for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(value / factor);
      return found;
    };
    return {
      ...axis,
      scale: "y",
      side: 1,
      size: this.right,
      splits,
      values: (_, values) => values.map((value) => short(value * factor)),
      grid: { show: false },
    };
  }

  range() {
    const { lines, y_ticks: lanes, from_zero: fromZero, y_top: top } = this.data;
    if (lanes) return [-0.7, lanes.length - 0.3];
    let low = Infinity;
    let high = -Infinity;
    for (const one of this.series) {
      const [least, largest] = extremes(one.y);
      low = Math.min(low, least);
      high = Math.max(high, largest);
    }
    for (const line of lines)
      if (line.axis === "y" && (line.kind !== "limit" || line.value < 3 * high)) high = Math.max(high, line.value);
    if (!Number.isFinite(high)) return [0, 1];
    const isNumber = this.data.y_label === "packet number";
    const bottom = fromZero && !isNumber ? 0 : low - 0.04 * (high - low || 1);
    return [bottom, top !== null && top < high ? top : high + 0.08 * (high - bottom || 1)];
  }

  /** Draws over the curves: straight lines with their names, events, and what the time axis shows. */
  drawOver(plot) {
    const lines = this.data.lines.filter((line) => line.axis === "y");
    drawLines(plot, lines);
    this.names = nameLines(plot, lines, this.series);
    nameTime(plot, timeUnit(this.data.x_range)[0]);
    drawEvents(plot, this.data.events);
  }

  /** Writes the numbers of the time axis; none where the name of the axis is. */
  times(plot, values) {
    const [, factor] = timeUnit(this.data.x_range);
    return values.map((value) => {
      const words = `${Number((value * factor).toPrecision(8))}`;
      return plot.valToPos(value, "x") - 3.5 * words.length < -TIME_LEFT ? "" : words;
    });
  }

  moved(plot) {
    const isOut = plot.cursor.left === null || plot.cursor.left < 0;
    const time = isOut ? null : plot.posToVal(plot.cursor.left, "x");
    this.showLegend(time);
    this.on.cursor(time);
  }

  selected(plot) {
    const { left, width } = plot.select;
    if (width < 5) return;
    this.on.zoom(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  /** Names the curves, with their values at a time. */
  showLegend(time) {
    const entries = [];
    const seen = new Set();
    for (const one of this.series) {
      if (one.hidden || seen.has(one.label)) continue;
      seen.add(one.label);
      const value = time === null ? null : valueAt(one, time);
      const mark = element("i", {
        class: `mark ${one.look}`,
        "data-colour": one.ghost ? "ghost" : (one.colour ?? "grey"),
      });
      entries.push(element("span", {}, mark, one.label, value === null ? "" : element("b", {}, ` ${short(value)}`)));
    }
    for (const label of new Set(this.data.spans.map((span) => span.label).filter(Boolean))) {
      const span = this.data.spans.find((one) => one.label === label);
      entries.push(
        element("span", {}, element("i", { class: "mark shade", "data-colour": span.colour ?? "grey" }), label),
      );
    }
    for (const label of this.eventCounts().keys())
      entries.push(element("span", {}, element("i", { class: "mark drop" }), label));
    if (time !== null) entries.push(element("span", { class: "time" }, this.timeText(time)));
    if (this.data.second) entries.push(element("span", { class: "unit" }, `right: ${this.data.second.label}`));
    const unit = this.data.title ? element("span", { class: "unit" }, this.data.y_label) : null;
    const next = element("div", { class: "legend" }, unit, ...entries);
    if (!next.isEqualNode(this.legend)) this.legend.replaceChildren(...next.childNodes);
  }

  /** Counts the events by their labels, such as the drops of a link. */
  eventCounts() {
    const counts = new Map();
    for (const { label, x } of this.data.events) if (x.length) counts.set(label, (counts.get(label) ?? 0) + x.length);
    return counts;
  }

  timeText(time) {
    const [unit, factor] = timeUnit(this.data.x_range);
    return `${Number((time * factor).toPrecision(5))} ${unit}`;
  }

  /** Says for screen readers what is drawn. */
  describe() {
    const parts = this.series
      .filter((one) => !one.hidden && one.y.length)
      .map((one) => {
        const [low, high] = extremes(one.y);
        return `${one.label} from ${short(low)} to ${short(high)}`;
      });
    for (const [label, places] of this.eventCounts()) parts.push(`${label} at ${places} places`);
    const [from, to] = this.data.x_range.map((time) => this.timeText(time));
    this.place.setAttribute("role", "img");
    const name = `${this.data.title || this.data.y_label}, ${this.data.y_label}`;
    const shown = parts.join("; ") || "phases only";
    this.place.setAttribute("aria-label", `${name}: ${shown}; time from ${from} to ${to}`);
  }
}

/** Gives the series of a panel: curves, ends of bands, and the pinned run's curves behind. */
function drawn(data, ghosts) {
  const found = ghosts.flatMap((curve) => seriesOf(curve, null, true));
  const labels = [...new Set(data.curves.map((curve) => curve.label))];
  for (const curve of data.curves) found.push(...seriesOf(curve, curve.colour ?? labels.indexOf(curve.label), false));
  return found;
}

function seriesOf(curve, number, ghost) {
  const label = ghost ? `${curve.label}, pinned` : curve.label;
  const isStep = curve.kind.startsWith("step");
  const isGuide = curve.kind.endsWith("guide");
  const isMarks = curve.kind.includes("marks");
  const isHollow = isMarks && curve.kind !== "marks";
  const stroke = ghost || isGuide ? () => property("--faint") : () => colour(number);
  const base = {
    spanGaps: true,
    points: { show: false },
    stroke,
    width: ghost ? 1 : 1.4,
    dash: ghost ? [1.5, 2.5] : isGuide ? [7, 3] : undefined,
  };
  if (isStep) base.paths = uPlot.paths.stepped({ align: 1 });
  if (isMarks) {
    const size = /sent$/.test(curve.label) ? 2.5 : 5;
    Object.assign(base, {
      paths: () => null,
      points: isHollow
        ? { show: true, size, fill: "transparent", stroke, width: 1 }
        : { show: true, size, fill: stroke, stroke, width: 0 },
    });
  }
  const look = isMarks ? "points" : ghost ? "dotted" : isGuide ? "dashed" : "line";
  const colourName = isGuide ? "grey" : number;
  const one = { label, look, ghost, colour: colourName, x: curve.x, y: curve.y, isStep, options: base };
  if (curve.low === null) return [one];
  const edge = { ...base, width: 0, stroke: "transparent" };
  const band = ["high", "low"].map((end) => ({
    ...one,
    hidden: end === "low",
    y: curve[end],
    options: edge,
    band: end,
    fill: () => faded(colour(number), 0.25),
  }));
  return band;
}

function bandsOf(series) {
  return series.flatMap((one, index) =>
    one.band === "high" ? [{ series: [index + 1, index + 2], fill: one.fill }] : [],
  );
}

/** Brings curves with times of their own into the one table that uPlot draws. */
function joined(series) {
  if (!series.length) return [[0, 1]];
  if (series.length === 1) return [series[0].x, series[0].y];
  return uPlot.join(series.map((one) => [one.x, one.y]));
}

function looks(data, ghosts) {
  const look = (curve) => [curve.label, curve.kind, curve.colour, curve.low !== null];
  return JSON.stringify([data.curves.map(look), ghosts.map(look), data.y_ticks, data.y_label, data.second]);
}

/** Gives the round number, 1, 2 or 5 times a power of ten, that is not below a value. */
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value);
}

/** Gives the smallest and the largest of some values, of which some may be null. */
function extremes(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

function valueAt(one, time) {
  if (one.look === "points") return null;
  let low = 0;
  let high = one.x.length - 1;
  if (high < 0 || time < one.x[0] || time > one.x[high]) return null; // before its flow began, or after it ended
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (one.x[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return one.y[low];
}

/** Writes a number with four digits, thousands as k and millions as M. */
export function short(value) {
  if (value === null || !Number.isFinite(value)) return "";
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(4))}k`;
  return String(Number(value.toPrecision(4)));
}
