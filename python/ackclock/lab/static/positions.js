// Where a packet is in the drawing at an instant: on a wire, in a queue, or on its way to or from a host.

import { described, GEOMETRY } from "./layout.js";

export const STATES = { HOST: "host", QUEUE: "queue", WIRE: "wire", DROP: "drop" };
const FALL = 46; // pixels that a dropped packet falls
const SLOT = 5; // pixels between packets of a queue

/**
 * Finds where the packets of a journey are. `plan` is the layout, `motion` the answer of the server.
 * `at(journey, time, fallen)` gives x, y and the state, or null where the packet is not on the way;
 * a dropped one is seen for `fallen` seconds.
 */
export class Positions {
  constructor(plan, motion) {
    this.plan = plan;
    this.elements = motion.elements;
    this.queued = new Map(); // packets in each queue at the time of the last `at`
  }

  /** Forgets who waits: to be called before the packets of an instant are placed, in the order of their arrival. */
  begin() {
    this.queued.clear();
  }

  at(journey, time, fallen) {
    if (time < journey.sent) return null;
    const dropped = journey.dropped !== null && journey.ended !== null && time >= journey.ended;
    if (dropped) return this.falling(journey, time, fallen);
    if (journey.ended !== null && time > journey.ended) return null;
    const { hops } = journey;
    let index = hops.length - 1;
    while (index >= 0 && hops[index][1] > time) index -= 1;
    if (index < 0) return this.fromHost(journey, time);
    const [element, , departed] = hops[index];
    if (departed === null || time < departed) return this.waiting(element);
    const next = hops[index + 1]?.[1] ?? null;
    return next === null
      ? this.toHost(journey, time, hops[index])
      : this.between(element, (time - departed) / Math.max(next - departed, 1e-12));
  }

  /** Gives the flight of a packet on the wire of a link, from its queue to the other router. */
  between(element, share) {
    const { x, y, end } = this.wire(element);
    return { x: x + (end - x) * Math.min(1, share), y, state: STATES.WIRE };
  }

  waiting(element) {
    const { queue, y, back } = this.wire(element);
    const place = this.queued.get(element) ?? 0;
    this.queued.set(element, place + 1);
    const most = GEOMETRY.queue - 8;
    const step = Math.min(SLOT * place, most);
    return {
      x: back ? queue + 4 + step : queue + GEOMETRY.queue - 4 - step,
      y,
      state: STATES.QUEUE,
      hidden: SLOT * place > most,
    };
  }

  falling(journey, time, fallen) {
    const share = (time - journey.ended) / fallen;
    if (share > 1) return null;
    const { queue, y, back } = this.wire(this.elements.indexOf(journey.dropped));
    const x = back ? queue + GEOMETRY.queue : queue;
    return { x: journey.lost ? x - (back ? -12 : 12) : x, y: y + FALL * share * share + 6, state: STATES.DROP };
  }

  fromHost(journey, time) {
    const { from, entry } = this.ends(journey);
    const first = journey.hops[0]?.[1] ?? time;
    return along(from, entry, (time - journey.sent) / Math.max(first - journey.sent, 1e-12));
  }

  toHost(journey, time, hop) {
    const { to, exit } = this.ends(journey);
    const [element, , departed] = hop;
    if (journey.ended === null) return this.between(element, 0.5);
    const { x, end } = this.wire(element);
    const all = Math.abs(end - x) + Math.hypot(to.x - exit.x, to.y - exit.y);
    const share = (time - departed) / Math.max(journey.ended - departed, 1e-12);
    const onWire = Math.abs(end - x) / all;
    return share < onWire ? this.between(element, share / onWire) : along(exit, to, (share - onWire) / (1 - onWire));
  }

  /** Gives the hosts of a journey, and the points at which it enters and leaves the links. */
  ends(journey) {
    const flow = this.plan.ends.get(described(journey.flow));
    const [from, to] = journey.ack ? [flow.receiver, flow.sender] : [flow.sender, flow.receiver];
    const first = this.wire(journey.hops[0]?.[0] ?? 0);
    const last = this.wire(journey.hops.at(-1)?.[0] ?? 0);
    return { from, to, entry: { x: first.start, y: first.y }, exit: { x: last.end, y: last.y } };
  }

  /** Gives the geometry of one direction of a link by the index of its element. */
  wire(element) {
    const name = described(this.elements[element] ?? "");
    const back = name.endsWith(".reverse");
    const link = this.plan.links.get(back ? name.slice(0, -8) : name) ?? [...this.plan.links.values()][0];
    if (back)
      return {
        back,
        y: link.reverse,
        start: link.end,
        queue: link.end - 12 - GEOMETRY.queue,
        x: link.end - 12 - GEOMETRY.queue,
        end: link.x,
      };
    return { back, y: link.forward, start: link.x, queue: link.x + 12, x: link.x + 12 + GEOMETRY.queue, end: link.end };
  }
}

function along(from, to, share) {
  const part = Math.max(0, Math.min(1, share));
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part, state: STATES.HOST };
}
