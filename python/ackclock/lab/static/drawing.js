// What a panel shows next to its curves: phases, straight lines with their names, events, and what the time axis is.

import { colour, faded, property } from "./colours.js";
import { placed } from "./names.js";

/** Room between the name of the time axis and the axis, where no number of a tick goes [pixels]. */
export const TIME_LEFT = 8;

const SHADE = 0.22;
const DASHES = { theory: [6, 4], limit: [2, 3], whole: [] };

/** Shades the phases of a panel. */
export function drawSpans(plot, spans) {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  for (const span of spans) {
    const a = Math.max(left, plot.valToPos(span.start, "x", true));
    const b = Math.min(left + width, plot.valToPos(span.end, "x", true));
    if (b <= a) continue;
    const [y, tall] = span.low === null ? [top, height] : lane(plot, span);
    ctx.fillStyle =
      span.colour === null ? property("--shade") : faded(colour(span.colour), span.low === null ? SHADE : 0.7);
    ctx.fillRect(a, y, Math.max(1, b - a), tall);
  }
}

/** Draws straight lines from end to end of a panel. */
export function drawLines(plot, lines) {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  for (const line of lines) {
    const y = Math.round(plot.valToPos(line.value, "y", true));
    ctx.strokeStyle = line.colour === null ? property("--faint") : colour(line.colour);
    ctx.lineWidth = scale;
    ctx.setLineDash(DASHES[line.kind].map((dash) => dash * scale));
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
  }
  ctx.restore();
}

/** Writes the names of the lines that are in the panel where they hide least of the curves; gives their places. */
export function nameLines(plot, lines, series) {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * scale}px system-ui, sans-serif`;
  const box = { left: bbox.left / scale, top: bbox.top / scale, width: bbox.width / scale, height: bbox.height / scale };
  const named = lines
    .filter((line) => line.label)
    .map(({ label, value }) => ({
      label,
      y: plot.valToPos(value, "y", true) / scale,
      width: ctx.measureText(label).width / scale,
    }))
    .filter(({ y }) => y >= box.top && y <= box.top + box.height)
    .sort((a, b) => a.y - b.y);
  const curves = named.length ? series.map((one) => inPixels(plot, one)) : [];
  const names = placed(named, box, curves).map((place, index) => ({ ...place, label: named[index].label }));
  for (const { label, x, y } of names) writeName(ctx, label, x * scale, y * scale);
  ctx.restore();
  return names;
}

/** Writes what the time axis shows, with its unit, left of its first number. */
export function nameTime(plot, unit) {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * scale}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.fillStyle = property("--text");
  ctx.fillText(`time [${unit}]`, bbox.left - TIME_LEFT * scale, bbox.top + bbox.height + 7 * scale);
  ctx.restore();
}

/** Marks events along the upper edge of a panel. */
export function drawEvents(plot, all) {
  const { ctx } = plot;
  const { left, top, width } = plot.bbox;
  const scale = devicePixelRatio;
  for (const events of all) {
    ctx.fillStyle = property("--drop");
    for (const time of events.x) {
      const x = plot.valToPos(time, "x", true);
      if (x < left || x > left + width) continue;
      ctx.beginPath();
      ctx.moveTo(x - 3.5 * scale, top - 5 * scale);
      ctx.lineTo(x + 3.5 * scale, top - 5 * scale);
      ctx.lineTo(x, top + 2 * scale);
      ctx.fill();
    }
  }
}

/** Writes a name with a rim in the colour of the ground, so that a curve behind it does not make it illegible. */
function writeName(ctx, words, x, y) {
  ctx.textAlign = "right";
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.lineJoin = "round";
  ctx.strokeStyle = property("--card");
  ctx.strokeText(words, x, y);
  ctx.fillStyle = property("--muted");
  ctx.fillText(words, x, y);
}

/** Gives a curve in pixels of the panel. */
function inPixels(plot, { x, y, look, isStep }) {
  const [across, down] = ["x", "y"].map((axis) => {
    const [zero, one] = [0, 1].map((value) => plot.valToPos(value, axis, true) / devicePixelRatio);
    return (value) => zero + value * (one - zero);
  });
  return { points: x.map((time, index) => [across(time), y[index] === null ? null : down(y[index])]), look, isStep };
}

function lane(plot, span) {
  const [a, b] = [span.low, span.high].map((value) => plot.valToPos(value, "y", true));
  return [Math.min(a, b), Math.abs(b - a)];
}
