// All panels: they share the time axis, the cursor and the part of the run that is shown.

import { ask, lost } from "./api.js";
import { onScheme } from "./colours.js";
import { element } from "./dom.js";
import { Panel } from "./panel.js";

const MARGIN = 12; // at the right of all panels
const SECOND_AXIS = 40; // the same, if one of them has a second scale there

export class Charts {
  /** `on` has `cursor`, which gets a time or null, and `zoomed`, which gets a range or null. */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.panels = new Map();
    this.chart = null; // of the whole run
    this.part = null; // of the part that is shown
    this.pinned = null;
    this.range = null;
    this.notice = element("p", { class: "note" });
    new ResizeObserver(() => this.resize()).observe(root);
    onScheme(() => this.remake());
    root.addEventListener("keydown", (event) => this.key(event));
    root.tabIndex = 0;
  }

  /** Gives the width of the curves in pixels. */
  columns() {
    return Math.max(200, Math.min(3000, Math.round((this.root.clientWidth - 80) * devicePixelRatio)));
  }

  /** Shows a run, and the part of it that was shown of the one before, if it has one. */
  showRun(chart, part) {
    this.chart = chart;
    this.part = part;
    this.range = part ? this.range : null;
    this.draw();
  }

  /** Shows all of the next run, whatever part was shown of the one before. */
  showWhole() {
    this.range = null;
    this.part = null;
  }

  pin(chart) {
    this.pinned = chart;
    this.draw();
  }

  draw() {
    const chart = this.part ?? this.chart;
    if (!chart) return;
    const names = chart.panels.map(nameOf);
    for (const [name, panel] of this.panels) {
      if (!names.includes(name)) {
        panel.destroy();
        panel.root.remove();
        this.panels.delete(name);
      }
    }
    const on = { zoom: (a, b) => this.zoom(a, b), reset: () => this.zoom(null), cursor: (time) => this.moved(time) };
    const right = chart.panels.some((panel) => panel.second) ? SECOND_AXIS : MARGIN;
    const seen = new Set([...this.panels.values()].filter((panel) => isSeen(panel.root))); // before anything is moved
    const later = []; // what draws the others
    chart.panels.forEach((data, index) => {
      const name = names[index];
      const ghosts = this.ghosts(name);
      const old = this.panels.get(name);
      if (old && old.right === right) {
        if (seen.has(old)) old.show(data, ghosts);
        else later.push(() => old.show(data, ghosts));
      } else {
        old?.destroy();
        old?.root.remove();
        this.panels.set(name, new Panel(data, ghosts, this.width(), right, on));
      }
      const panel = this.panels.get(name);
      const { root } = panel;
      this.panels.delete(name); // and back at the end: the map has the order of the page
      this.panels.set(name, panel);
      if (this.root.children[index] !== root) this.root.insertBefore(root, this.root.children[index] ?? null);
    });
    this.drawLater(later);
  }

  /** Draws panels after the next frame, unless others are to be drawn by then. */
  drawLater(later) {
    const drawing = (this.drawing = (this.drawing ?? 0) + 1);
    if (!later.length) return;
    requestAnimationFrame(() => setTimeout(() => this.drawing === drawing && later.forEach((draw) => draw())));
  }

  /** Gives the curves of the pinned run for a panel: lines alone, as its marks would hide the others. */
  ghosts(name) {
    const panel = this.pinned?.panels.find((one) => nameOf(one) === name);
    return panel
      ? panel.curves.filter((curve) => !curve.kind.includes("marks") && !curve.kind.endsWith("guide") && curve.low === null)
      : [];
  }

  width() {
    return Math.max(260, this.root.clientWidth);
  }

  resize() {
    for (const panel of this.panels.values()) if (panel.plot.width !== this.width()) panel.resize(this.width());
  }

  remake() {
    for (const panel of this.panels.values()) panel.make(this.width());
  }

  /** Shows a part of the run, or all of it, in as many points as the pixels can show. */
  async zoom(start, end) {
    if (start === null) {
      this.range = null;
      this.part = null;
      this.draw();
      this.on.zoomed(null);
      return;
    }
    const [, whole] = this.chart.panels[0].x_range;
    const range = [Math.max(0, start), Math.min(whole, end)];
    this.range = range;
    const content = { start: range[0], end: range[1], columns: this.columns() };
    const answer = await ask("window", content).catch(lost);
    if (answer.kind === "chart" && this.range === range) {
      this.part = answer.chart;
      this.draw();
      this.on.zoomed(range);
    }
  }

  moved(time) {
    if (this.time === time) return;
    this.time = time;
    this.on.cursor(time);
  }

  /** Moves the cursor by arrows, shows less by +, more by -, all by 0. */
  key(event) {
    const first = this.panels.values().next().value;
    if (!first || event.target.closest("input, button, select")) return;
    const [low, high] = first.data.x_range;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      const width = first.plot.over.clientWidth;
      const now = first.plot.cursor.left >= 0 ? first.plot.cursor.left : width / 2;
      const left = Math.max(0, Math.min(width - 1, now + (step * width * (event.shiftKey ? 10 : 1)) / 200));
      for (const panel of this.panels.values()) panel.plot.setCursor({ left, top: 10 });
    } else if (event.key === "+" || event.key === "-") {
      const middle = this.time ?? (low + high) / 2;
      const half = ((high - low) / 2) * (event.key === "+" ? 0.5 : 2);
      if (event.key === "-" && this.range === null) return;
      this.zoom(middle - half, middle + half);
    } else if (event.key === "0") this.zoom(null);
    else return;
    event.preventDefault();
  }
}

function isSeen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function nameOf(panel) {
  return panel.title || panel.y_label;
}
