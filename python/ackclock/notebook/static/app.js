// The page inside the widget: controls, path, curves and results, as in the lab.

import { Charts } from "./charts.js";
import { Controls } from "./controls.js";
import { byId } from "./dom.js";
import { Old } from "./old.js";
import { goToControls, Path } from "./path.js";
import { showFaults, showResult } from "./results.js";
import { Runner } from "./runner.js";

const old = new Old();
const charts = new Charts(byId("charts"), {
  cursor: (time) => charts.chart && path.fillAt(charts.part ?? charts.chart, time),
  zoomed: () => {},
});
const path = new Path(byId("path"), goToControls);
const controls = new Controls(byId("controls"), (fields) => runner.change(fields));
const runner = new Runner({ ready, curves, result: showRun, fault, progress }, () => ({
  columns: charts.columns(),
  range: charts.range,
}));

function ready({ form }) {
  controls.show(form);
  path.show(form);
  old.path();
}

function curves(line) {
  ready(line);
  old.curves();
  charts.showRun(line.chart, line.part ?? null);
}

function showRun(answer) {
  progress(undefined);
  old.result();
  showFaults([]);
  showResult(answer, null);
}

function fault({ faults }) {
  progress(undefined);
  old.fault();
  showFaults(faults.map((fault) => ({ ...fault, line: null }))); // there is no text to go to
}

/** Shows how far a run is: a fraction, null as it begins, undefined as it ends. */
function progress(fraction) {
  byId("progress").hidden = typeof fraction !== "number";
  if (fraction === null) old.begin();
  if (typeof fraction === "number") {
    byId("progress").value = fraction;
    old.wait();
  }
}

addEventListener("message", ({ data }) => data?.begins !== undefined && runner.replace(data.begins));
new ResizeObserver(() => parent.postMessage({ height: document.body.scrollHeight }, "*")).observe(document.body);
parent.postMessage({ loaded: true }, "*");
