// What of the page is still of the run before: it is grey, and after a fault a sentence says so.

import { byId } from "./dom.js";

const WRITTEN = ["verdict", "panel-numbers", "panel-models"];
const ALL = ["path", "charts", ...WRITTEN];

export class Old {
  constructor() {
    this.hasCurves = false; // whether the curves are those of the run that goes on
    this.hasRun = false; // whether any run was shown
  }

  /** Marks nothing yet: a run begins, and most are over before anybody sees it. */
  begin() {
    this.hasCurves = false;
  }

  /** Marks what a run that goes on has not brought yet. */
  wait() {
    mark(this.hasCurves ? WRITTEN : ["charts", ...WRITTEN], true);
  }

  /** Takes the marks from the path, which shows the scenario that runs. */
  path() {
    mark(["path"], false);
  }

  /** Takes the marks from the curves; verdict and tables follow. */
  curves() {
    this.hasCurves = true;
    mark(["path", "charts"], false);
  }

  /** Takes all marks away: a run is over. */
  result() {
    this.hasRun = true;
    mark(ALL, false);
    byId("old").hidden = true;
  }

  /** Marks all, as the scenario has a fault. */
  fault() {
    mark(ALL, this.hasRun);
    byId("old").hidden = !this.hasRun;
  }
}

function mark(names, isOld) {
  for (const name of names) byId(name).classList.toggle("stale", isOld);
}
