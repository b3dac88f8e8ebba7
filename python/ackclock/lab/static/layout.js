// Where links, routers and hosts are in the drawing of the path.

export const GEOMETRY = { link: 190, side: 128, top: 40, lanes: 38, queue: 64, tall: 20, row: 24, inner: 18 };

/**
 * Lays a form out: links in columns in the order of the paths, flows at the routers where they begin and end.
 * Gives `links` by name, `ends` by flow, and the size of the drawing.
 */
export function layout(form) {
  const g = GEOMETRY;
  const order = inOrder(form);
  const index = new Map(order.map((name, number) => [name, number]));
  const routers = form.flows.map((flow) => routersOf(flow, index));
  const hosts = count(routers.flatMap(({ sender, receiver }) => [sender, receiver]));
  const inner = Math.max(0, ...[...hosts].filter(([at]) => at > 0 && at < order.length).map(([, number]) => number));
  const outer = Math.max(1, hosts.get(0) ?? 0, hosts.get(order.length) ?? 0);
  const top = Math.max(g.top, 22 + inner * g.inner, 8 + (outer * g.row) / 2);
  const links = new Map(
    order.map((name, number) => [
      name,
      {
        name,
        index: number,
        x: g.side + number * g.link,
        end: g.side + (number + 1) * g.link,
        forward: top,
        reverse: top + g.lanes,
      },
    ]),
  );
  const used = new Map(); // hosts at each router so far
  const place = (router) => {
    const row = used.get(router) ?? 0;
    used.set(router, row + 1);
    return host(router, row, { count: order.length, hosts: hosts.get(router), middle: top + g.lanes / 2 });
  };
  const ends = new Map(
    form.flows.map((flow, number) => [
      flow.name,
      { index: number, sender: place(routers[number].sender), receiver: place(routers[number].receiver) },
    ]),
  );
  const below = top + g.lanes / 2 + (outer * g.row) / 2;
  return {
    links,
    ends,
    width: 2 * g.side + order.length * g.link,
    height: Math.max(top + g.lanes + 44, below + 6),
    top,
    count: order.length,
  };
}

function count(numbers) {
  const found = new Map();
  for (const number of numbers) found.set(number, (found.get(number) ?? 0) + 1);
  return found;
}

/** Gives the numbers of the routers at which a flow begins and ends. */
function routersOf(flow, index) {
  const at = (name, isEnd) => {
    const back = name.endsWith(".reverse");
    return (index.get(back ? name.slice(0, -8) : name) ?? 0) + (back === isEnd ? 0 : 1);
  };
  return flow.path.length
    ? { sender: at(flow.path[0], false), receiver: at(flow.path.at(-1), true) }
    : { sender: 0, receiver: 0 };
}

function host(router, row, { count: routers, hosts, middle }) {
  const g = GEOMETRY;
  const at = g.side + router * g.link;
  const y = middle + (row - (hosts - 1) / 2) * g.row;
  if (router === 0) return { x: at - 62, y, at, side: "left" };
  if (router === routers) return { x: at + 62, y, at, side: "right" };
  return { x: at - 30, y: 12 + row * g.inner, at, side: "inner" };
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

/** Gives the name that a scenario has for a link or a flow: those that are there many times have numbers, as in "down[0][3]". */
export function described(name) {
  return name.replace(/\[\d+\]/g, "");
}
