// The drawing of the path: hosts, links with their queues in both directions, and the flows over them.

import { byId, svg } from "./dom.js";
import { GEOMETRY, layout } from "./layout.js";
import { show } from "./quantities.js";

export class Path {
  /** `chosen` gets the name of the link or flow whose controls are wanted. */
  constructor(root, chosen) {
    this.root = root;
    this.chosen = chosen;
    this.queues = new Map();
  }

  show(form) {
    this.form = form;
    this.plan = layout(form);
    this.queues.clear();
    const { width, height, links, ends } = this.plan;
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": this.words(form), class: "path" });
    drawing.style.maxWidth = `${Math.max(460, width * 1.25)}px`;
    const below = svg("g", {});
    for (const flow of form.flows) below.append(...this.flow(flow, ends.get(flow.name)));
    drawing.append(below);
    for (const link of form.links) drawing.append(this.link(link, links.get(link.name)));
    for (let index = 0; index <= this.plan.count; index += 1) drawing.append(this.router(index));
    for (const flow of form.flows) drawing.append(...this.hosts(flow, ends.get(flow.name)));
    this.stage = svg("g", { class: "stage" });
    drawing.append(this.stage);
    this.root.replaceChildren(drawing);
  }

  words(form) {
    const links = form.links.map(({ name, forward }) => `${name}, ${facts(forward).join(", ")}`);
    const flows = form.flows.map((flow) => `${flow.name} over ${flow.path.join(", ")}`);
    return `Links: ${links.join("; ")}. Flows: ${flows.join("; ")}.`;
  }

  link(link, at) {
    const g = GEOMETRY;
    const group = svg("g", { class: "link", "data-link": link.name });
    const middle = (at.x + at.end) / 2;
    group.append(svg("line", { x1: at.x, x2: at.end, y1: at.forward, y2: at.forward, class: "wire" }));
    group.append(svg("line", { x1: at.x, x2: at.end, y1: at.reverse, y2: at.reverse, class: "wire back" }));
    group.append(this.queue(link.forward, at.x + 12, at.forward, false), this.queue(link.reverse, at.end - 12 - g.queue, at.reverse, true));
    const [first, ...others] = facts(link.forward);
    group.append(svg("text", { x: middle + 22, y: at.forward - 16, class: "name" }, link.name));
    group.append(svg("text", { x: middle, y: at.reverse + 26, class: "fact" }, [first, ...others].join(" · ")));
    const back = facts(link.reverse);
    if (back[0] !== first) group.append(svg("text", { x: middle, y: at.reverse + 40, class: "fact" }, `back ${back[0]}`));
    group.addEventListener("click", () => this.chosen(link.name));
    return group;
  }

  /** Draws a queue as a box that fills from its exit. */
  queue(direction, x, y, back) {
    const g = GEOMETRY;
    const box = svg("g", { class: "queue" });
    const fill = svg("rect", { x, y: y - g.tall / 2, width: 0, height: g.tall, class: "fill" });
    box.append(svg("rect", { x, y: y - g.tall / 2, width: g.queue, height: g.tall, rx: 3, class: direction.buffer ? "box" : "box open" }), fill);
    const label = svg("text", { x: x + g.queue / 2, y: y + 4, class: "count" }, "");
    box.append(label);
    this.queues.set(direction.name, { x, y, back, fill, label, room: direction.buffer_packets });
    return box;
  }

  /** Shows how many packets a queue holds. */
  fill(name, packets) {
    const queue = this.queues.get(name);
    if (!queue) return;
    const share = queue.room ? Math.min(1, packets / queue.room) : 1 - 1 / (1 + packets / 40);
    const width = GEOMETRY.queue * share;
    queue.fill.setAttribute("width", width);
    queue.fill.setAttribute("x", queue.back ? queue.x : queue.x + GEOMETRY.queue - width);
    queue.label.textContent = packets > 0 ? String(Math.round(packets)) : "";
  }

  /** Shows the queues of a chart at a time; empties them all without one. */
  fillAt(chart, time) {
    const panel = chart?.panels.find((one) => one.title === "Queues");
    for (const name of this.queues.keys()) {
      const curve = time === null ? null : panel?.curves.find((one) => one.label === name);
      this.fill(name, curve ? held(curve, time) : 0);
    }
  }

  router(index) {
    const x = GEOMETRY.side + index * GEOMETRY.link;
    const { top } = this.plan;
    return svg("rect", { x: x - 7, y: top - 16, width: 14, height: GEOMETRY.lanes + 32, rx: 5, class: "router" });
  }

  flow(flow, { sender, receiver, index }) {
    const { top } = this.plan;
    const joint = (end) => svg("path", { d: `M${end.x} ${end.y} C ${(end.x + end.at) / 2} ${end.y}, ${(end.x + end.at) / 2} ${top}, ${end.at} ${top}`, class: `wire-to-host stroke-${index % 6}` });
    return flow.path.length ? [joint(sender), joint(receiver)] : [];
  }

  hosts(flow, { sender, receiver, index }) {
    const mark = (end, shape) => {
      const group = svg("g", { class: "host", "data-flow": flow.name });
      group.append(shape === "sender" ? svg("circle", { cx: end.x, cy: end.y, r: 8, class: `fill-${index % 6}` }) : svg("rect", { x: end.x - 7, y: end.y - 7, width: 14, height: 14, rx: 2, class: `fill-${index % 6}` }));
      const anchor = { left: "start", right: "end", inner: "end" }[end.side] ?? "start";
      const words = flow.count > 1 ? `${flow.name} ×${flow.count}` : flow.name;
      if (shape === "sender") group.append(svg("text", { x: end.side === "left" ? end.x - 10 : end.x + (end.side === "right" ? 10 : -12), y: end.side === "inner" ? end.y + 4 : end.y - 11, class: "label", "text-anchor": anchor }, words));
      group.addEventListener("click", () => this.chosen(flow.name));
      return group;
    };
    return [mark(sender, "sender"), mark(receiver, "receiver")];
  }
}

function facts(direction) {
  const rate = direction.rate_bps === null ? "unlimited" : show(direction.rate_bps, "bit/s");
  const found = [rate];
  if (direction.delay_s > 0) found.push(show(direction.delay_s, "s"));
  if (direction.buffer) found.push(direction.buffer.replace("-packet", " pkt").replace("-byte", " B"));
  if (!["fifo"].includes(direction.discipline)) found.push(direction.discipline);
  return found;
}

function held(curve, time) {
  let value = 0;
  for (let index = 0; index < curve.x.length && curve.x[index] <= time; index += 1) value = curve.y[index];
  return value;
}

/** Brings the controls of a link or a flow into view. */
export function goToControls(name) {
  const fields = [...byId("controls").querySelectorAll("fieldset")];
  const wanted = fields.find((one) => one.querySelector("legend").textContent.startsWith(`${name} `)) ?? fields[0];
  wanted?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  wanted?.querySelector("input, select")?.focus({ preventScroll: true });
}
