// Slow motion: packets and ACKs move along the drawing of the path; a click tells a packet's story.

import { ask, lost } from "./api.js";
import { element, svg } from "./dom.js";
import { described } from "./layout.js";
import { Positions, STATES } from "./positions.js";
import { show } from "./quantities.js";

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
const USUAL_SPEED = 0.02;
const FALL_S = 0.7; // time for which a dropped packet is seen, of the viewer
const LENGTH_TRIPS = 12;

export class Motion {
  /** `on.path` is the drawing, `on.cursor` gets the time, `on.form` gives the form, `on.near` a time to begin at. */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.time = 0;
    this.speed = USUAL_SPEED;
    this.playing = false;
    this.marks = new Map();
    this.build();
  }

  build() {
    const button = (words, label, act) =>
      element("button", { type: "button", "aria-label": label, title: label, onclick: act }, words);
    this.play = button("▶", "Play", () => this.toggle());
    this.slider = element("input", { type: "range", min: 0, max: 1000, value: 0, "aria-label": "Instant of the run" });
    this.slider.addEventListener("input", () =>
      this.go(this.start + (this.slider.value / 1000) * (this.end - this.start)),
    );
    const speed = element(
      "select",
      { "aria-label": "Speed" },
      ...SPEEDS.map((one) =>
        element(
          "option",
          { value: one, selected: one === this.speed },
          one === 1 ? "real time" : `1/${Math.round(1 / one)}`,
        ),
      ),
    );
    speed.addEventListener("change", () => (this.speed = Number(speed.value)));
    this.clock = element("output", { class: "clock" });
    this.jump = element("button", { type: "button", onclick: () => this.toNextDrop() }, "Next drop");
    this.story = element("div", {
      class: "story",
      role: "region",
      "aria-label": "Story of a packet",
      "aria-live": "polite",
      tabindex: "0",
    });
    this.message = element("p", { class: "note", role: "status" });
    const chooser = element(
      "form",
      { class: "chooser" },
      element(
        "label",
        {},
        "Packet ",
        element("select", { "aria-label": "Flow of the packet" }),
        element("input", { type: "number", min: 0, "aria-label": "Number of the packet" }),
      ),
      element("button", { type: "submit" }, "Tell"),
    );
    chooser.addEventListener("submit", (event) => {
      event.preventDefault();
      this.tell(chooser.querySelector("select").value, Number(chooser.querySelector("input").value));
    });
    this.chooser = chooser;
    const steps = element(
      "div",
      { class: "steps" },
      button("‹", "Step to the event before", () => this.step(-1)),
      this.play,
      button("›", "Step to the next event", () => this.step(1)),
      this.jump,
    );
    this.root.replaceChildren(
      element("div", { class: "player" }, steps, this.slider, this.clock, element("label", {}, "Speed ", speed)),
      this.message,
      chooser,
      this.story,
    );
  }

  /** Opens slow motion at a time of the last run; resolves when the packets are there, or it was closed before. */
  async open(time) {
    this.root.hidden = false;
    this.pause();
    this.message.textContent = "Recording each packet ...";
    const recording = (this.recording = new AbortController());
    const start = Math.max(0, time);
    const content = { start, end: start + LENGTH_TRIPS * this.on.roundTrip() };
    const onLine = (line) =>
      line.kind === "progress" &&
      (this.message.textContent = `Recording each packet: ${Math.round(line.fraction * 100)}%`);
    const answer = await ask("motion", content, { onLine, signal: recording.signal }).catch(lost);
    if (this.recording !== recording) return;
    if (answer.kind === "motion") this.show(answer);
    else this.message.textContent = answer.faults ? answer.faults.map((fault) => fault.text).join(" ") : "";
  }

  show(answer) {
    this.motion = answer;
    this.journeys = answer.journeys.sort((a, b) => a.sent - b.sent);
    [this.start, this.end] = [answer.start, answer.end];
    this.positions = new Positions(this.on.path.plan, answer);
    this.events = eventsOf(this.journeys, this.start, this.end);
    const drops = this.journeys.filter((one) => one.dropped && one.ended >= this.start && one.ended <= this.end).length;
    this.message.textContent = `${this.journeys.filter((one) => !one.ack).length} packets and ${this.journeys.filter((one) => one.ack).length} ACKs from ${show(this.start, "s")} to ${show(this.end, "s")}; ${drops} dropped. Click a packet for its story.`;
    const flows = [...new Set(this.journeys.filter((one) => !one.ack).map((one) => one.flow))];
    this.chooser
      .querySelector("select")
      .replaceChildren(...flows.map((flow) => element("option", { value: flow }, flow)));
    const first =
      this.journeys.find((one) => one.dropped && !one.ack) ??
      this.journeys.find((one) => !one.ack && one.sent >= this.start);
    if (first) {
      this.chooser.querySelector("select").value = first.flow;
      this.chooser.querySelector("input").value = first.number;
    }
    this.on.path.stage.replaceChildren();
    this.marks.clear();
    this.go(this.start);
  }

  close() {
    this.pause();
    this.recording?.abort();
    this.recording = null;
    this.root.hidden = true;
    this.on.path.stage?.replaceChildren();
    this.marks.clear();
    this.motion = null;
    this.on.cursor(null);
  }

  toggle() {
    if (this.playing) this.pause();
    else if (this.motion) {
      if (this.time >= this.end) this.go(this.start);
      this.playing = true;
      this.play.textContent = "⏸";
      this.play.setAttribute("aria-label", "Pause");
      this.before = null;
      requestAnimationFrame((now) => this.frame(now));
    }
  }

  pause() {
    this.playing = false;
    this.play.textContent = "▶";
    this.play.setAttribute("aria-label", "Play");
  }

  frame(now) {
    if (!this.playing) return;
    const passed = this.before === null ? 0 : Math.min(0.1, (now - this.before) / 1000);
    this.before = now;
    this.go(Math.min(this.end, this.time + passed * this.speed));
    if (this.time >= this.end) this.pause();
    else requestAnimationFrame((next) => this.frame(next));
  }

  /** Goes to the next instant at which something happens, or the one before. */
  step(direction) {
    if (!this.motion) return;
    this.pause();
    const { events } = this;
    const next =
      direction > 0
        ? events.find((time) => time > this.time + 1e-9)
        : events.findLast((time) => time < this.time - 1e-9);
    if (next !== undefined) this.go(next);
  }

  toNextDrop() {
    const next = this.journeys
      ?.filter((one) => one.dropped && one.ended > this.time + 1e-9)
      .sort((a, b) => a.ended - b.ended)[0];
    if (!next) return;
    this.pause();
    this.go(Math.min(this.end, next.ended));
    this.tell(next.flow, next.number);
  }

  /** Shows an instant. */
  go(time) {
    if (!this.motion) return;
    this.time = time;
    this.slider.value = Math.round((1000 * (time - this.start)) / Math.max(this.end - this.start, 1e-12));
    this.slider.setAttribute("aria-valuetext", `${time.toFixed(4)} s`);
    this.clock.textContent = `${time.toFixed(4)} s`;
    this.place();
    this.on.cursor(time);
  }

  place() {
    const waiting = this.byQueue();
    this.positions.begin();
    const seen = new Set();
    for (const journey of waiting) {
      const at = this.positions.at(journey, this.time, FALL_S * this.speed);
      if (at === null || at.hidden) continue;
      seen.add(journey);
      this.mark(journey).setAttribute("transform", `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`);
      this.marks.get(journey).classList.toggle("dropped", at.state === STATES.DROP);
    }
    for (const [journey, mark] of this.marks) {
      if (!seen.has(journey)) {
        mark.remove();
        this.marks.delete(journey);
      }
    }
    // Copies of a link are drawn as one, with the longest of their queues.
    const longest = new Map();
    for (const [element, packets] of this.positions.queued) {
      const name = described(this.motion.elements[element]);
      longest.set(name, Math.max(packets, longest.get(name) ?? 0));
    }
    for (const name of this.on.path.queues.keys()) this.on.path.fill(name, longest.get(name) ?? 0);
  }

  /** Gives the packets on the way, those that leave their queue first before the others. */
  byQueue() {
    const { time } = this;
    const fall = FALL_S * this.speed;
    const found = this.journeys.filter((one) => one.sent <= time && (one.ended === null || one.ended + fall >= time));
    const leaves = (one) =>
      one.hops.find(([, arrived, departed]) => arrived <= time && (departed === null || departed > time))?.[2] ??
      Infinity;
    return found
      .map((one) => [leaves(one), one])
      .sort((a, b) => a[0] - b[0])
      .map(([, one]) => one);
  }

  mark(journey) {
    let mark = this.marks.get(journey);
    if (mark) return mark;
    const index = this.on.path.plan.ends.get(described(journey.flow))?.index ?? 0;
    const kind = journey.ack ? "ack" : journey.again ? "data again" : "data";
    mark = svg(
      "rect",
      journey.ack ? { x: -1.5, y: -4, width: 3, height: 8, rx: 1 } : { x: -2.5, y: -6, width: 5, height: 12, rx: 1 },
    );
    mark.setAttribute("class", `packet ${kind} fill-${index % 6}`);
    mark.append(
      svg(
        "title",
        {},
        `${journey.flow} ${journey.ack ? "ACK" : "packet"} ${journey.number}${journey.again ? ", sent again" : ""}`,
      ),
    );
    mark.addEventListener("click", () => this.tell(journey.flow, journey.ack ? journey.number - 1 : journey.number));
    this.marks.set(journey, mark);
    this.on.path.stage.append(mark);
    return mark;
  }

  /** Tells the story of a packet. */
  tell(flow, number) {
    const lines = this.motion?.stories[`${flow} ${number}`];
    this.chooser.querySelector("select").value = flow;
    this.chooser.querySelector("input").value = number;
    const title = element("h3", {}, `Packet ${number} of ${flow}`);
    if (!lines) {
      this.story.replaceChildren(title, element("p", {}, "It is not in flight in this part of the run."));
      return;
    }
    const items = lines.map(([time, text]) =>
      element(
        "li",
        {},
        element(
          "button",
          { type: "button", onclick: () => this.go(Math.max(this.start, Math.min(this.end, time))) },
          `${time.toFixed(4)} s`,
        ),
        ` ${text}`,
      ),
    );
    this.story.replaceChildren(title, element("ol", {}, ...items));
    for (const [journey, mark] of this.marks)
      mark.classList.toggle("chosen", !journey.ack && journey.flow === flow && journey.number === number);
  }
}

/** Gives the instants at which something happens, in order. */
function eventsOf(journeys, start, end) {
  const times = new Set();
  for (const journey of journeys) {
    times.add(journey.sent);
    if (journey.ended !== null) times.add(journey.ended);
    for (const [, arrived, departed] of journey.hops) {
      times.add(arrived);
      if (departed !== null) times.add(departed);
    }
  }
  return [...times].filter((time) => time >= start && time <= end).sort((a, b) => a - b);
}
