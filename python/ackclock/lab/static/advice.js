// Advice: what to change on this path, with the simulations of before and after.

import { ask } from "./api.js";
import { byId, element, table } from "./dom.js";

/** Asks for advice on a scenario; `apply` gets the changes of a recommendation that the user wants. */
export async function showAdvice(toml, apply) {
  const panel = byId("panel-advice");
  const step = element("p", { role: "status" }, "Asking ...");
  panel.replaceChildren(element("h2", {}, "Advice"), step);
  let answer;
  try {
    answer = await ask(
      "advice",
      { toml },
      { onLine: (line) => line.text && (step.textContent = `Simulating ${line.text} ...`) },
    );
  } catch {
    answer = { kind: "fault", faults: [{ text: "the server does not answer" }] };
  }
  if (answer.kind === "superseded") step.textContent = "Ended by the next run; ask again.";
  else if (answer.kind !== "advice")
    panel.append(...answer.faults.map((fault) => element("p", { class: "warning" }, fault.text)));
  else show(panel, answer, apply);
  if (answer.kind !== "advice") return;
  step.remove();
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
