// The results in words and numbers: verdict, tables, warnings, the models, and the comparison with a pinned run.

import { byId, element, table } from "./dom.js";

const UNITS = { bps: ["Mbit/s", 1e-6], s: ["ms", 1e3], fraction: ["%", 100], packets: ["pkt", 1] };

export function showResult(result, pinned) {
  byId("verdict").textContent = `${result.verdict}.`;
  const parts = [
    element("h2", {}, result.title),
    element("p", { class: "note" }, result.tcp, element("br"), result.heading),
  ];
  if (result.note) parts.push(element("p", { class: "note" }, result.note));
  if (pinned) parts.push(comparison(pinned.numbers, result.numbers));
  parts.push(...result.tables.map(table), ...result.warnings.map(warning));
  byId("panel-numbers").replaceChildren(...parts);
  showModels(result);
}

function showModels(result) {
  const models = result.theory.flatMap((model) => [
    element("h3", {}, model.title),
    table(model.table),
    ...model.sentences.map((sentence) => element("p", {}, `${sentence[0].toUpperCase()}${sentence.slice(1)}.`)),
    ...model.warnings.map(warning),
  ]);
  if (!models.length) models.push(element("p", {}, "No model applies to this scenario."));
  const others = result.inapplicable.map((other) => element("li", {}, `${other.title}: ${other.reasons.join("; ")}`));
  const more = element(
    "details",
    {},
    element("summary", {}, `${others.length} models do not apply, and why`),
    element("ul", { class: "note" }, ...others),
  );
  byId("panel-models").replaceChildren(
    element("h2", {}, "What the models say"),
    ...models,
    ...(others.length ? [more] : []),
  );
}

function warning(text) {
  return element("p", { class: "warning" }, element("b", {}, "Warning: "), text);
}

/** Shows what is wrong with the scenario; `go` leads to a line of its text. */
export function showFaults(faults, go = () => {}) {
  const leading = (fault) =>
    fault.line ? element("button", { type: "button", onclick: () => go(fault.line) }, `line ${fault.line}`) : null;
  byId("faults").replaceChildren(...faults.map((fault) => element("li", {}, leading(fault), ` ${fault.text}`)));
  byId("faults").hidden = !faults.length;
}

/** Makes the table of two runs next to each other; quantities that are the same in both are left out. */
export function comparison(before, after) {
  const key = (one) => `${one.of} ${one.name} ${one.quantity}`;
  const old = new Map(before.map((one) => [key(one), one]));
  const rows = [];
  for (const one of after) {
    const other = old.get(key(one));
    if (!other || other.mean === one.mean) continue;
    const [text, factor] = named(one);
    rows.push([text, value(other, factor), value(one, factor), change(other.mean, one.mean)]);
  }
  const title = element("h3", {}, "Compared with the pinned run");
  if (!rows.length) return element("div", { class: "compared" }, title, element("p", {}, "All numbers are the same."));
  return element("div", { class: "compared" }, title, table({ headers: ["", "pinned", "now", "change"], rows }));
}

/** Writes a relative change in percent; nothing if there is nothing to relate it to. */
function change(before, after) {
  if (!before) return "";
  const percent = Number((100 * (after / before - 1)).toPrecision(3));
  return `${percent > 0 ? "+" : ""}${percent.toLocaleString("en", { maximumSignificantDigits: 3, minimumSignificantDigits: Math.abs(percent) < 1000 ? 3 : undefined })}%`;
}

/** Gives what a quantity is called, with its unit, and the factor that brings it into that unit. */
function named(one) {
  const ending = Object.keys(UNITS).find((unit) => one.quantity.endsWith(`_${unit}`));
  const [unit, factor] = UNITS[ending] ?? ["", 1];
  const words = one.quantity.slice(0, ending ? -ending.length - 1 : undefined).replaceAll("_", " ");
  return [`${one.name}: ${words}${unit ? ` [${unit}]` : ""}`, factor];
}

/** Writes a mean with four digits, and half its interval below it. */
function value(one, factor) {
  const mean = Number((one.mean * factor).toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
  return one.half ? `${mean}\n±${Number((one.half * factor).toPrecision(2))}` : mean;
}
