// Names of straight lines in a panel: each is where it hides least of the curves, the right end first.

const COLUMN = 2; // pixels of a column in which curves are looked at
const PLACES = 16; // places along a line that are tried
const TALL = 13; // height of a name
const GAP = 3; // between a line and its name
const DESCENT = 3; // from the baseline of a name to its bottom
const OVER = 1000; // cost of hiding another name, or of leaving the panel

/**
 * Places the names of lines. `lines` have `y` and the `width` of the name, `box` is the panel (`left`, `top`, `width`,
 * `height`), `curves` have `points` ([x, y], y null at a gap), `look` ("points" or another) and `isStep`; all in
 * pixels. Gives for each line the right end `x` and the baseline `y` of its name, and in how many columns it `hides` a
 * curve.
 */
export function placed(lines, box, curves) {
  const profiles = curves.map((curve) => profile(curve, box));
  const taken = [];
  return lines.map((line) => {
    const free = Math.max(0, box.width - line.width - 8);
    let best = null;
    for (let place = 0; place < PLACES; place += 1) {
      for (const bottom of [line.y - GAP, line.y + GAP + TALL]) {
        const x = box.left + box.width - 4 - (place * free) / (PLACES - 1);
        const room = { left: x - line.width, right: x, top: bottom - TALL, bottom };
        const hides = profiles.reduce((sum, one) => sum + hidden(one, room, box), 0);
        const cost = hides + 0.5 * place + OVER * collisions(room, box, taken) + crossed(lines, line, room);
        if (best === null || cost < best.cost) best = { x, y: bottom - DESCENT, hides, cost, room };
      }
    }
    taken.push(best.room);
    return best;
  });
}

/** Gives the smallest and the largest y of a curve in each column of a panel. */
function profile({ points, look, isStep }, box) {
  const columns = Math.ceil(box.width / COLUMN) + 1;
  const low = new Float32Array(columns).fill(Infinity);
  const high = new Float32Array(columns).fill(-Infinity);
  const mark = (column, y) => {
    if (column < 0 || column >= columns) return;
    if (y < low[column]) low[column] = y;
    if (y > high[column]) high[column] = y;
  };
  let before = null;
  for (const [x, y] of points) {
    if (y === null) continue; // curves go on over gaps
    const column = Math.floor((x - box.left) / COLUMN);
    if (before && look !== "points") {
      const width = column - before.column;
      for (let at = Math.max(before.column, 0); at < Math.min(column, columns); at += 1)
        mark(at, isStep ? before.y : before.y + ((y - before.y) * (at - before.column)) / width);
      if (isStep) mark(column, before.y); // the step itself
    }
    mark(column, y);
    before = { column, y };
  }
  return { low, high };
}

/** Counts the columns of a curve that lie behind a name. */
function hidden({ low, high }, room, box) {
  const first = Math.max(0, Math.floor((room.left - box.left) / COLUMN));
  const last = Math.min(low.length - 1, Math.floor((room.right - box.left) / COLUMN));
  let count = 0;
  for (let column = first; column <= last; column += 1)
    if (high[column] >= room.top && low[column] <= room.bottom) count += 1;
  return count;
}

function collisions(room, box, taken) {
  const isOut = room.top < box.top || room.bottom > box.top + box.height;
  return isOut + taken.filter((one) => meet(one, room)).length;
}

function meet(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** Gives the cost of the other lines that a name would lie on. */
function crossed(lines, own, room) {
  const others = lines.filter((line) => line !== own && line.y > room.top && line.y < room.bottom);
  return (others.length * own.width) / COLUMN;
}
