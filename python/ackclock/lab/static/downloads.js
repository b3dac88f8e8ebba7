// Downloads: the scenario, the curves as CSV, the panels as one picture.

import { element } from "./dom.js";
import { colour, property } from "./colours.js";

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
  const heads = 26 * scale;
  const plots = panels.map((panel) => panel.plot.ctx.canvas);
  const canvas = element("canvas", {
    width: Math.max(...plots.map((one) => one.width)),
    height: plots.reduce((sum, one) => sum + one.height + heads, heads * 1.4),
  });
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = property("--page");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = property("--text");
  ctx.font = `600 ${15 * scale}px system-ui, sans-serif`;
  ctx.fillText(title, 8 * scale, 20 * scale);
  let y = heads * 1.4;
  panels.forEach((panel, index) => {
    ctx.font = `600 ${12 * scale}px system-ui, sans-serif`;
    ctx.fillStyle = property("--text");
    ctx.fillText(panel.title.textContent, 8 * scale, y + 16 * scale);
    let x = 12 * scale + ctx.measureText(panel.title.textContent).width + 8 * scale;
    ctx.font = `${11 * scale}px system-ui, sans-serif`;
    for (const one of panel.series.filter((each) => !each.hidden)) {
      ctx.fillStyle = one.ghost || one.colour === "grey" ? property("--faint") : colour(one.colour);
      ctx.fillText(one.label, x, y + 16 * scale);
      x += ctx.measureText(one.label).width + 12 * scale;
    }
    ctx.drawImage(plots[index], 0, y + heads);
    y += heads + plots[index].height;
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
