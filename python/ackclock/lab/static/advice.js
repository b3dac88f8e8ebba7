// Advice: what to change on this path, with the simulations of before and after.

import { ask, lost } from "./api.js";
import { byId, element, table } from "./dom.js";

/** Asks for advice on a scenario; `apply` gets the changes of a recommendation that the user wants. */
export async function showAdvice(toml, apply) {
  const panel = byId("panel-advice");
  const step = element("p", { role: "status" }, "Asking ...");
  panel.classList.remove("stale");
  panel.replaceChildren(element("h2", {}, "Advice"), step);
  const onLine = (line) => line.text && (step.textContent = `Simulating ${line.text} ...`);
  const answer = await ask("advice", { toml }, { onLine }).catch(lost);
  if (!step.isConnected) return; // another scenario, or another question
  if (answer.kind === "superseded") {
    step.textContent = "Ended by the next run; ask again.";
    return;
  }
  step.remove();
  if (answer.kind === "advice") show(panel, answer, apply);
  else panel.append(...answer.faults.map((fault) => element("p", { class: "warning" }, fault.text)));
}

/** Shows that the scenario was changed after the advice. */
export function ageAdvice() {
  const panel = byId("panel-advice");
  if (!panel.querySelector("h3, .warning") || panel.classList.contains("stale")) return;
  panel.classList.add("stale");
  const words = "This advice is for the scenario before its last change; Advise asks for the present one.";
  panel.querySelector("h2").after(element("p", { class: "note", role: "status" }, words));
}

/** Shows that nobody has asked for advice on this scenario. */
export function noAdvice() {
  byId("panel-advice").classList.remove("stale");
  byId("panel-advice").replaceChildren(
    element("h2", {}, "Advice"),
    element("p", {}, "Advise, at the top of the page, tries changes of this path by simulations."),
  );
}

function show(panel, advice, apply) {
  if (advice.verdict) panel.append(element("p", {}, `As it is: ${advice.verdict}.`));
  for (const one of advice.recommendations) {
    panel.append(element("h3", {}, one.question), element("p", {}, `${one.answer}.`));
    if (Object.keys(one.changes).length) {
      panel.append(
        element(
          "p",
          {},
          element("button", { type: "button", onclick: () => apply(one.changes) }, "Apply"),
          ` ${one.toml}`,
        ),
      );
    }
    panel.append(...one.tables.map(table), ...one.remarks.map((text) => element("p", { class: "note" }, text)));
  }
  panel.append(...advice.reasons.map((text) => element("p", {}, `${text[0].toUpperCase()}${text.slice(1)}.`)));
}
