// Where links, routers and hosts are in the drawing of the path.

export const GEOMETRY = { link: 170, side: 96, top: 46, lanes: 40, queue: 58, tall: 20, row: 26 };

/**
 * Lays a form out: links in columns in the order of the paths, flows at the routers where they begin and end.
 * Gives `links` by name, `ends` by flow, and the size of the drawing.
 */
export function layout(form) {
  const g = GEOMETRY;
  const order = inOrder(form);
  const links = new Map();
  const most = Math.max(1, ...form.flows.map((_, index) => index + 1));
  const top = g.top + Math.max(0, Math.min(most, 8) - 2) * (g.row / 2);
  order.forEach((name, index) => {
    const x = g.side + index * g.link;
    links.set(name, { name, x, end: x + g.link, forward: top, reverse: top + g.lanes, index });
  });
  const width = 2 * g.side + order.length * g.link;
  const ends = new Map();
  const used = new Map(); // hosts at each router, to put the next one below
  form.flows.forEach((flow, index) => {
    ends.set(flow.name, { index, ...hostsOf(flow, links, order.length, used) });
  });
  const rows = Math.max(1, ...[...used.values()]);
  const height = Math.max(top + g.lanes + 64, 14 + g.row * rows + 20);
  return { links, ends, width, height, top, count: order.length };
}

/** Orders the links so that each path crosses them from left to right, or from right to left. */
function inOrder(form) {
  const names = form.links.map((link) => link.name);
  const after = new Map(names.map((name) => [name, new Set()]));
  for (const flow of form.flows) {
    const path = flow.path.map((one) => one.replace(/\.reverse$/, ""));
    const crossed = flow.path[0]?.endsWith(".reverse") ? path.reverse() : path;
    for (let index = 1; index < crossed.length; index += 1) after.get(crossed[index - 1])?.add(crossed[index]);
  }
  const found = [];
  const waiting = new Set(names);
  while (waiting.size) {
    const isFree = (name) => ![...waiting].some((other) => other !== name && after.get(other).has(name));
    const next = [...waiting].find(isFree) ?? [...waiting][0];
    waiting.delete(next);
    found.push(next);
  }
  return found;
}

function hostsOf(flow, links, count, used) {
  const first = links.get(flow.path[0]?.replace(/\.reverse$/, ""));
  const last = links.get(flow.path.at(-1)?.replace(/\.reverse$/, ""));
  if (!first || !last) return { sender: { x: 20, y: 40, at: 0 }, receiver: { x: 60, y: 40, at: 0 } };
  const back = flow.path[0].endsWith(".reverse");
  const begin = back ? first.index + 1 : first.index;
  const end = flow.path.at(-1).endsWith(".reverse") ? last.index : last.index + 1;
  return { sender: host(begin, count, used), receiver: host(end, count, used), back };
}

function host(router, count, used) {
  const g = GEOMETRY;
  const row = used.get(router) ?? 0;
  used.set(router, row + 1);
  const x = g.side + router * g.link;
  const y = 20 + row * g.row;
  if (router === 0) return { x: 18, y, at: x, side: "left" };
  if (router === count) return { x: x + g.side - 18, y, at: x, side: "right" };
  return { x: x - 40, y: 12 + row * g.row, at: x, side: "inner" };
}
