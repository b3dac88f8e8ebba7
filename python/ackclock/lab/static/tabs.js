// Tabs: arrow keys move between them, as the ARIA practices say.

import { byId } from "./dom.js";

const NAMES = ["numbers", "scenario", "models", "advice", "lesson"];

/** Makes the tabs work; `changed` gets the name of the one that is shown. */
export function makeTabs(changed) {
  NAMES.forEach((name, index) => {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => {
      showTab(name);
      changed(name);
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = NAMES[(index + step + NAMES.length) % NAMES.length];
      byId(`tab-${next}`).focus();
      byId(`tab-${next}`).click();
    });
  });
  showTab("numbers");
}

/** Shows a tab by its name. */
export function showTab(wanted) {
  for (const name of NAMES) {
    const isShown = name === wanted;
    byId(`tab-${name}`).setAttribute("aria-selected", String(isShown));
    byId(`tab-${name}`).tabIndex = isShown ? 0 : -1;
    byId(`panel-${name}`).hidden = !isShown;
  }
}

export function shownTab() {
  return NAMES.find((name) => !byId(`panel-${name}`).hidden);
}
