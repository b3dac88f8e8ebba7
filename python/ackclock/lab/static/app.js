// The page: brings the controls, the path, the curves, the results and the address together.

import { get } from "./api.js";
import { ageAdvice, noAdvice, showAdvice } from "./advice.js";
import { Charts } from "./charts.js";
import { Controls } from "./controls.js";
import { byId, element } from "./dom.js";
import { csvOf, numbersOf, pngOf, save } from "./downloads.js";
import { Editor } from "./editor.js";
import { noLesson, showLesson } from "./lesson.js";
import { Motion } from "./motion.js";
import { Old } from "./old.js";
import { goToControls, Path } from "./path.js";
import { svgOf } from "./picture.js";
import { showFaults, showResult } from "./results.js";
import { Runner } from "./runner.js";
import { decoded, encoded } from "./state.js";
import { makeTabs, showTab, shownTab } from "./tabs.js";

const app = { form: null, curves: null, result: null, pinned: null, lesson: "", advised: null, took: "" };

const old = new Old();
const charts = new Charts(byId("charts"), {
  cursor: (time) => !motion.motion && path.fillAt(charts.part ?? charts.chart, time),
  zoomed: () => remember(),
});
const path = new Path(byId("path"), goToControls);
const controls = new Controls(byId("controls"), (fields) => change(fields));
const editor = new Editor(byId("panel-scenario"), (text) => {
  byId("scenarios").value = "";
  closeMotion();
  runner.replace(text);
});
const motion = new Motion(byId("player"), { path, cursor: () => {}, roundTrip });
const runner = new Runner({ ready, curves, result, fault, progress }, () => ({
  columns: charts.columns(),
  range: charts.range,
}));

function change(fields) {
  byId("scenarios").value = "";
  closeMotion();
  editor.flush();
  runner.change(fields);
}

function ready({ toml, form }) {
  app.form = form;
  controls.hasFault = false;
  age(toml);
  controls.show(form);
  if (!motion.motion) path.show(form);
  old.path();
  editor.show(toml);
}

/** Shows that advice is old if it was for another text than this one. */
function age(toml) {
  if (app.advised !== null && app.advised !== toml) ageAdvice();
}

/** Shows the curves of a run; its tables and its verdict follow. */
function curves(line) {
  progress(null);
  old.curves();
  app.form = line.form;
  app.curves = line;
  controls.hasFault = false;
  age(line.toml);
  controls.show(line.form);
  if (!motion.motion) path.show(line.form);
  charts.showRun(line.chart, line.part ?? null);
  editor.show(line.toml);
  editor.mark([]);
  app.took = `${Math.round(line.seconds * 1000)} ms`;
  byId("status").textContent = app.took;
  document.documentElement.dataset.run = String(Number(document.documentElement.dataset.run ?? 0) + 1);
}

function result(answer, { more }) {
  app.result = { ...app.curves, ...answer };
  if (app.pinned?.waiting) pin(app.result);
  progress(null);
  byId("status").textContent = app.took;
  old.result();
  showFaults([]);
  showResult(app.result, app.pinned);
  if (!more) remember();
}

function fault(answer) {
  progress(null);
  controls.hasFault = true;
  old.fault();
  byId("status").textContent = answer.faults.length === 1 ? "1 fault" : `${answer.faults.length} faults`;
  showFaults(answer.faults, (line) => {
    showTab("scenario");
    editor.go(line);
  });
  if (answer.toml !== undefined) editor.show(answer.toml);
  editor.mark(answer.faults);
  document.documentElement.dataset.faults = String(answer.faults.length);
  remember(); // so that the text is there again when the page is loaded anew
}

/** Shows how far a run is; null when it begins or is over. A quick run shows nothing. */
function progress(fraction) {
  const bar = byId("progress");
  bar.hidden = fraction === null;
  if (fraction === null) return old.begin();
  bar.value = fraction;
  old.wait();
  byId("status").textContent = `${Math.round(fraction * 100)}%`;
}

/** Gives the longest round trip of the run that is shown [s], for the length of slow motion. */
function roundTrip() {
  const trips = app.result.numbers.filter((one) => one.quantity === "rtt_mean_s").map((one) => one.mean);
  return Math.max(1e-4, ...trips) || 0.1;
}

// The address

let remembering = 0;
let went = 0; // times that the user went to another entry of the history: what is written meanwhile is not for that one

function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(rememberNow, 300);
}

/** Writes what is shown into the address. */
async function rememberNow() {
  clearTimeout(remembering);
  const before = went;
  const state = {
    toml: runner.toml,
    tab: shownTab(),
    lesson: app.lesson || undefined,
    range: charts.range ?? undefined,
    pinned: app.pinned?.toml,
  };
  const address = await encoded(state);
  if (went === before) history.replaceState(null, "", address);
}

async function begin() {
  const start = await get("start");
  fillSelect(byId("scenarios"), start.scenarios);
  fillSelect(byId("lessons"), start.lessons);
  byId("skip").addEventListener("click", () => byId("results").focus());
  const state = await decoded(location.hash);
  await restore(state ?? { toml: start.scenario });
}

async function restore(state) {
  unpin();
  byId("scenarios").value = "";
  closeLesson();
  noAdvice();
  showTab(["numbers", "scenario", "models", "advice", "lesson"].includes(state.tab) ? state.tab : "numbers");
  if (state.lesson && [...byId("lessons").options].some((one) => one.value === state.lesson))
    await openLesson(state.lesson, false);
  if (typeof state.pinned === "string") {
    app.pinned = { waiting: true };
    await once(state.pinned);
  }
  editor.force(state.toml);
  await once(state.toml);
  if (Array.isArray(state.range) && state.range.length === 2) charts.zoom(...state.range.map(Number));
}

/** Runs a text, and resolves when its run is over. */
function once(toml) {
  runner.replace(toml);
  return new Promise((resolve) => {
    const look = () => (runner.current === null ? resolve() : setTimeout(look, 10));
    look();
  });
}

function fillSelect(select, titles) {
  for (const [name, title] of Object.entries(titles)) select.append(element("option", { value: name }, title));
}

// What the buttons do

function pin(answer) {
  app.pinned = { chart: answer.chart, numbers: answer.numbers, toml: answer.toml };
  charts.pin(answer.chart);
  byId("pin").setAttribute("aria-pressed", "true");
  byId("pin").textContent = "Unpin";
}

function unpin() {
  app.pinned = null;
  charts.pin(null);
  byId("pin").setAttribute("aria-pressed", "false");
  byId("pin").textContent = "Pin to compare";
}

byId("pin").addEventListener("click", () => {
  if (app.pinned) unpin();
  else if (hasResult()) pin(app.result);
  if (app.result) showResult(app.result, app.pinned);
  remember();
});

byId("motion").addEventListener("click", async () => {
  if (byId("motion").getAttribute("aria-expanded") === "true") closeMotion();
  else if (hasResult()) {
    byId("motion").setAttribute("aria-expanded", "true");
    await motion.open(charts.range?.[0] ?? firstDrop());
    if (motion.motion) document.documentElement.dataset.motion = "shown";
  }
});

/** Returns whether there is a run to work with, and says so if there is none. */
function hasResult() {
  if (!app.result) byId("status").textContent = "There is no run yet.";
  return app.result !== null;
}

function closeMotion() {
  if (byId("motion").getAttribute("aria-expanded") !== "true") return;
  byId("motion").setAttribute("aria-expanded", "false");
  delete document.documentElement.dataset.motion;
  motion.close();
}

/** Gives a time a little before the first drop, where most is to be seen; the begin of the run if there is none. */
function firstDrop() {
  const events = app.result.chart.panels.flatMap((panel) => panel.events.flatMap((one) => one.x));
  return events.length ? Math.max(0, Math.min(...events) - 2 * roundTrip()) : 0;
}

byId("advise").addEventListener("click", () => {
  showTab("advice");
  editor.flush();
  app.advised = runner.toml;
  showAdvice(runner.toml, (changes) => change(changes));
});

byId("models").addEventListener("click", () => {
  showTab("models");
  byId("panel-models").focus();
});

byId("share").addEventListener("click", async () => {
  editor.flush();
  await rememberNow();
  try {
    await navigator.clipboard.writeText(location.href);
    byId("status").textContent = "Address copied: ackclock lab ADDRESS opens it";
  } catch {
    byId("status").textContent = "Copy the address of this page: ackclock lab ADDRESS opens it";
  }
});

for (const button of document.querySelectorAll("[data-download]")) {
  button.addEventListener("click", async () => {
    editor.flush();
    if (button.dataset.download !== "toml" && !hasResult()) return;
    const name =
      (app.form?.title ?? "scenario")
        .replace(/[^A-Za-z0-9]+/g, "-")
        .replace(/^-|-$/g, "")
        .toLowerCase() || "scenario";
    const shown = [...charts.panels.values()];
    const makers = {
      toml: () => save(`${name}.toml`, runner.toml, "application/toml"),
      csv: () => save(`${name}.csv`, csvOf(charts.part ?? charts.chart), "text/csv"),
      numbers: () => save(`${name}-numbers.csv`, numbersOf(app.result.numbers), "text/csv"),
      png: async () => save(`${name}.png`, await pngOf(app.result.title, shown)),
      svg: () => save(`${name}.svg`, svgOf(app.result.title, shown), "image/svg+xml"),
    };
    await makers[button.dataset.download]();
    byId("downloads").open = false;
  });
}

byId("scenarios").addEventListener("change", async (event) => {
  const name = event.target.value;
  if (!name) return;
  const answer = await get(`scenario/${name}`);
  if (answer.kind === "fault") {
    event.target.value = "";
    return showFaults(answer.faults);
  }
  await leave();
  closeLesson();
  if (shownTab() === "lesson") showTab("numbers");
  charts.showWhole();
  show(answer.scenario);
});

byId("lessons").addEventListener("change", async (event) => {
  if (event.target.value) await openLesson(event.target.value, true);
  else closeLesson();
  remember();
});

function closeLesson() {
  app.lesson = "";
  byId("lessons").value = "";
  noLesson();
}

async function openLesson(name, runs) {
  const lesson = await get(`lesson/${name}`);
  if (lesson.kind === "fault") {
    byId("lessons").value = app.lesson;
    return showFaults(lesson.faults);
  }
  if (runs) await leave();
  app.lesson = name;
  byId("lessons").value = name;
  showLesson(lesson, { apply: (one, step) => open(one.scenario, step.set), restart: (one) => open(one.scenario) });
  showTab("lesson");
  if (!runs) return;
  byId("scenarios").value = "";
  charts.showWhole();
  show(lesson.scenario);
}

/** Opens a scenario, with some of its fields changed, in place of what is shown. */
async function open(toml, fields = {}) {
  await leave();
  show(toml, fields);
}

/** Leaves what is shown in the browser's history, one step back: to be called before anything of it changes. */
async function leave() {
  closeMotion();
  editor.flush();
  await rememberNow();
  history.pushState(null, "", location.href);
}

/** Shows a scenario, with some of its fields changed. */
function show(toml, fields = {}) {
  app.advised = null;
  noAdvice();
  editor.force(toml);
  runner.replace(toml, fields);
}

makeTabs(() => remember());
globalThis.addEventListener("popstate", async () => {
  went += 1;
  clearTimeout(remembering);
  const state = await decoded(location.hash);
  if (state && (state.toml !== runner.toml || (state.lesson ?? "") !== app.lesson)) restore(state);
});
globalThis.lab = { app, charts, motion, path, runner }; // for the console, and for the tests
begin();
