// Runs of the scenario: one at a time. A quick run is waited for, a slow one is cancelled by the next change.

import { ask, lost } from "./api.js";

/** Time that a run has before the next change cancels it [ms]: most runs are over by then. */
const PATIENCE_MS = 200;

export class Runner {
  /** `on` has the functions `ready`, `curves`, `result`, `fault` and `progress`; `view` what is shown: `columns` and `range`. */
  constructor(on, view) {
    this.on = on;
    this.view = view;
    this.toml = "";
    this.pending = new Map(); // changes that the scenario's text does not have yet, by dotted path
    this.current = null; // the run that goes on: its controller, its start, what it was asked to change
    this.again = false;
    this.version = 0; // grows when the text is replaced: answers to older texts do not overwrite it
  }

  /** Changes fields of the scenario, by dotted path; null takes a field away. */
  change(fields) {
    for (const [path, value] of Object.entries(fields)) this.pending.set(path, value);
    this.next();
  }

  /** Replaces the whole text, and changes fields of the new one. */
  replace(toml, fields = {}) {
    this.toml = toml;
    this.version += 1;
    this.pending = new Map(Object.entries(fields));
    this.next();
  }

  next() {
    if (this.current === null) {
      this.start();
      return;
    }
    this.again = true;
    const waits = this.current.started + PATIENCE_MS - performance.now();
    clearTimeout(this.timer);
    const run = this.current;
    this.timer = setTimeout(() => run === this.current && run.controller.abort(), Math.max(0, waits));
  }

  async start() {
    const changes = Object.fromEntries(this.pending);
    const run = { controller: new AbortController(), started: performance.now(), changes, version: this.version };
    this.current = run;
    this.again = false;
    this.on.progress(null);
    let answer;
    try {
      const content = { toml: this.toml, set: changes, ...this.view() };
      answer = await ask("run", content, { signal: run.controller.signal, onLine: (line) => this.line(run, line) });
    } catch (error) {
      answer = error.name === "AbortError" ? { kind: "superseded" } : lost();
    }
    await run.painted; // the tables must not keep the curves waiting
    this.current = null;
    this.settle(run, answer);
    if (this.again) this.start();
  }

  line(run, line) {
    if (line.kind === "ready") {
      this.adopt(run, line.toml);
      this.on.ready(line);
    } else if (line.kind === "curves") {
      this.adopt(run, line.toml);
      this.on.curves(line);
      run.painted = painted();
    } else if (line.kind === "progress") {
      this.on.progress(line.fraction);
    }
  }

  settle(run, answer) {
    if (answer.kind === "superseded") return;
    if (answer.toml !== undefined) this.adopt(run, answer.toml);
    if (answer.kind === "result") this.on.result(answer, { more: this.again });
    else this.on.fault(answer);
  }

  /** Takes over the text with the changes that a run was asked for. */
  adopt(run, toml) {
    if (run.version !== this.version) return;
    this.toml = toml;
    for (const [path, value] of Object.entries(run.changes)) {
      if (this.pending.get(path) === value) this.pending.delete(path);
    }
    run.changes = {};
  }
}

/** Resolves when what was drawn is on the screen, or after a moment where nothing is painted, as in a hidden tab. */
function painted() {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });
}
