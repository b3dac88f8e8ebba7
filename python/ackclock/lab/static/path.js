// The drawing of the path: hosts, links with their queues in both directions, and the flows over them.

import { byId, svg } from "./dom.js";
import { described, GEOMETRY, layout } from "./layout.js";
import { show } from "./quantities.js";

/** Queues that a panel of curves draws at most: of the others only that they are shorter is known. */
const MOST_LINES = 6;

export class Path {
  /** `chosen` gets the link or flow whose controls are wanted, such as "link satellite". */
  constructor(root, chosen) {
    this.root = root;
    this.chosen = chosen;
    this.queues = new Map();
  }

  /** Draws the path of a form; nothing is done if it looks as before. */
  show(form) {
    const looks = JSON.stringify([
      form.links.map(({ name, forward, reverse }) => [name, facts(forward), facts(reverse)]),
      form.flows.map(({ name, count, path }) => [name, count, path]),
    ]);
    if (looks === this.looks) return;
    this.looks = looks;
    this.plan = layout(form);
    this.queues.clear();
    const { width, height, links, ends } = this.plan;
    const focused = this.focused();
    const drawing = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": this.words(form),
      class: "path",
    });
    drawing.style.maxWidth = `${width * 1.3}px`;
    const below = svg("g", {});
    for (const flow of form.flows) below.append(...this.flow(flow, ends.get(flow.name)));
    drawing.append(below);
    for (const link of form.links) drawing.append(this.link(link, links.get(link.name)));
    for (let index = 0; index <= this.plan.count; index += 1) drawing.append(this.router(index));
    for (const flow of form.flows) drawing.append(...this.hosts(flow, ends.get(flow.name)));
    this.stage = svg("g", { class: "stage" });
    drawing.append(this.stage);
    this.root.replaceChildren(drawing);
    if (focused) this.root.querySelector(focused)?.focus();
  }

  /** Gives the selector of the link or the flow that has the focus; null if none has. */
  focused() {
    const { link, flow } = this.root.contains(document.activeElement) ? document.activeElement.dataset : {};
    if (link !== undefined) return `[data-link="${CSS.escape(link)}"]`;
    return flow === undefined ? null : `[data-flow="${CSS.escape(flow)}"][tabindex]`;
  }

  /** Makes a part of the drawing a button that leads to the controls of a link or a flow. */
  leads(group, wanted, words) {
    const attributes = { role: "button", tabindex: 0, "aria-label": words };
    for (const [key, value] of Object.entries(attributes)) group.setAttribute(key, value);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.chosen(wanted);
    });
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
    group.append(
      this.queue(link.forward, at.x + 12, at.forward, false),
      this.queue(link.reverse, at.end - 12 - g.queue, at.reverse, true),
    );
    const [first, ...others] = facts(link.forward);
    const words = [first, ...others].join(" · ");
    group.append(svg("text", { x: middle, y: at.forward - 18, class: "name" }, link.name));
    group.append(svg("text", { x: middle, y: at.reverse + 25, class: "fact" }, words));
    const back = facts(link.reverse).join(" · ");
    if (back.split(" · ")[0] !== first || link.reverse.buffer)
      group.append(svg("text", { x: middle, y: at.reverse + 38, class: "fact" }, `back ${back}`));
    group.addEventListener("click", () => this.chosen(`link ${link.name}`));
    this.leads(group, `link ${link.name}`, `Link ${link.name}, ${words}: go to its controls`);
    return group;
  }

  /** Draws a queue as a box that fills from its exit. */
  queue(direction, x, y, back) {
    const g = GEOMETRY;
    const box = svg("g", { class: "queue" });
    const fill = svg("rect", { x, y: y - g.tall / 2, width: 0, height: g.tall, class: "fill" });
    box.append(
      svg("rect", {
        x,
        y: y - g.tall / 2,
        width: g.queue,
        height: g.tall,
        rx: 3,
        class: direction.buffer ? "box" : "box open",
      }),
      fill,
    );
    const label = svg("text", { x, y: y - g.tall / 2 - 3, class: "count" }, "");
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
    const curves = chart?.panels.find((one) => one.title === "Queues")?.curves.filter((one) => one.kind === "step") ?? [];
    for (const [name, queue] of this.queues) {
      // Copies of a link are drawn as one, with the longest of their queues.
      const own = time === null ? [] : curves.filter((one) => described(one.label) === name);
      this.fill(name, Math.max(0, ...own.map((curve) => held(curve, time))));
      if (time !== null && !own.length && curves.length >= MOST_LINES) queue.label.textContent = "?";
    }
  }

  router(index) {
    const x = GEOMETRY.side + index * GEOMETRY.link;
    const { top } = this.plan;
    return svg("rect", { x: x - 7, y: top - 16, width: 14, height: GEOMETRY.lanes + 32, rx: 5, class: "router" });
  }

  flow(flow, { sender, receiver, index }) {
    if (!flow.path.length) return [];
    const lane = (name) => (name.endsWith(".reverse") ? this.plan.top + GEOMETRY.lanes : this.plan.top);
    const joint = (end, y) =>
      svg("path", {
        d: `M${end.x} ${end.y} C ${(end.x + end.at) / 2} ${end.y}, ${(end.x + end.at) / 2} ${y}, ${end.at} ${y}`,
        class: `wire-to-host stroke-${index % 6}`,
      });
    return [joint(sender, lane(flow.path[0])), joint(receiver, lane(flow.path.at(-1)))];
  }

  /** Draws the ends of a flow: a disc where it sends, with its name, and a square where it receives. */
  hosts(flow, { sender, receiver, index }) {
    const disc = svg("circle", { cx: sender.x, cy: sender.y, r: 7, class: `fill-${index % 6}` });
    const square = svg("rect", {
      x: receiver.x - 6,
      y: receiver.y - 6,
      width: 12,
      height: 12,
      rx: 2,
      class: `fill-${index % 6}`,
    });
    const words = flow.count > 1 ? `${flow.name} ×${flow.count}` : flow.name;
    return [sender, receiver].map((end, number) => {
      const isRight = end.side === "right";
      const name = svg(
        "text",
        { x: end.x + (isRight ? 11 : -11), y: end.y + 4, class: "label", "text-anchor": isRight ? "start" : "end" },
        number ? "" : words,
      );
      const group = svg(
        "g",
        { class: "host", "data-flow": flow.name },
        svg("title", {}, `${words} ${number ? "receives" : "sends"} here`),
        number ? square : disc,
        name,
      );
      group.addEventListener("click", () => this.chosen(`flow ${flow.name}`));
      if (number) group.setAttribute("role", "img"); // one stop of the Tab key for a flow
      else this.leads(group, `flow ${flow.name}`, `Flow ${words}: go to its controls`);
      return group;
    });
  }
}

function facts(direction) {
  const rate = direction.rate_bps === null ? "unlimited" : show(direction.rate_bps, "bit/s");
  const found = [rate];
  if (direction.delay_s > 0) found.push(show(direction.delay_s, "s"));
  if (direction.buffer) found.push(direction.buffer.replace("-packet", " pkt").replace("-byte", " B"));
  if (direction.discipline !== "drop-tail") found.push(direction.discipline);
  return found;
}

function held(curve, time) {
  let value = 0;
  for (let index = 0; index < curve.x.length && curve.x[index] <= time; index += 1) value = curve.y[index];
  return value;
}

/** Brings the controls of a link or a flow into view, such as "link satellite". */
export function goToControls(name) {
  const fields = [...byId("controls").querySelectorAll("fieldset")];
  const wanted = fields.find((one) => one.dataset.of === name) ?? fields[0];
  wanted?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  wanted?.querySelector("input, select")?.focus({ preventScroll: true });
}
