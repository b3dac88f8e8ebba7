// Downloads: the scenario, the curves as CSV, the panels as one picture.

import { element } from "./dom.js";
import { property } from "./colours.js";
import { LINE, entriesOf, inLines } from "./legends.js";

/** Saves a text or a blob under a name. */
export function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** Writes all curves as a table: panel, curve, time, value. */
export function csvOf(chart) {
  const rows = [["panel", "curve", "kind", "x", "y", "low", "high"]];
  for (const panel of chart.panels) {
    const name = panel.title || panel.y_label;
    for (const curve of panel.curves) {
      curve.x.forEach((x, index) =>
        rows.push([name, curve.label, curve.kind, x, curve.y[index], curve.low?.[index], curve.high?.[index]]),
      );
    }
    for (const line of panel.lines)
      rows.push([
        name,
        line.label,
        line.kind,
        line.axis === "x" ? line.value : null,
        line.axis === "y" ? line.value : null,
      ]);
    for (const events of panel.events) for (const x of events.x) rows.push([name, events.label, "event", x]);
  }
  return csv(rows);
}

/** Writes all numbers of a run as a table: of what, name, quantity, mean, half the interval; in SI units. */
export function numbersOf(numbers) {
  const rows = numbers.map((one) => [one.of, one.name, one.quantity, one.mean, one.half]);
  return csv([["of", "name", "quantity", "mean", "half_interval"], ...rows]);
}

function csv(rows) {
  return rows.map((row) => row.map(quoted).join(",")).join("\n");
}

function quoted(cell) {
  if (cell === null || cell === undefined) return "";
  const text = String(cell);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Draws all panels below each other into one canvas, and gives it as a PNG. */
export function pngOf(title, panels) {
  const scale = devicePixelRatio;
  const plots = panels.map((panel) => panel.plot.ctx.canvas);
  const canvas = element("canvas", { width: Math.max(...plots.map((one) => one.width)) });
  const ctx = canvas.getContext("2d");
  const font = (weight, size) => `${weight} ${size * scale}px system-ui, sans-serif`;
  const measure = (words, weight) => {
    ctx.font = font(weight, weight > 400 ? 12 : 11);
    return ctx.measureText(words).width / scale;
  };
  const legends = panels.map((panel) => inLines(entriesOf(panel), 8, canvas.width / scale - 8, measure));
  const heads = legends.map(({ lines }) => (11 + LINE * lines) * scale);
  const top = 36 * scale;
  canvas.height = plots.reduce((sum, one, index) => sum + one.height + heads[index], top); // forgets the font
  ctx.fillStyle = property("--page");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = property("--text");
  ctx.font = font(600, 15);
  ctx.fillText(title, 8 * scale, 20 * scale);
  let y = top;
  legends.forEach(({ placed }, index) => {
    for (const entry of placed) {
      ctx.font = font(entry.weight, entry.weight > 400 ? 12 : 11);
      writeEntry(ctx, entry, y + (16 + LINE * entry.line) * scale, scale);
    }
    ctx.drawImage(plots[index], 0, y + heads[index]);
    y += heads[index] + plots[index].height;
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Writes an entry of a legend, with its mark. */
function writeEntry(ctx, { words, fill, mark, shade, at, x }, y, scale) {
  ctx.fillStyle = shade;
  if (mark === "shade") ctx.fillRect(at * scale, y - 9 * scale, 10 * scale, 10 * scale);
  if (mark === "drop") {
    ctx.beginPath();
    ctx.moveTo(at * scale, y - 8 * scale);
    ctx.lineTo((at + 8) * scale, y - 8 * scale);
    ctx.lineTo((at + 4) * scale, y);
    ctx.fill();
  }
  ctx.fillStyle = fill;
  ctx.fillText(words, x * scale, y);
}
