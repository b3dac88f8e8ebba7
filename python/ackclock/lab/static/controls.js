// The controls: a card for each link, each flow and the run, made from the form that the server sends.

import { element } from "./dom.js";
import { nearest, show, stepsOf, written } from "./quantities.js";

export class Controls {
  /** `change` gets the fields that the user changed, by dotted path. */
  constructor(root, change) {
    this.root = root;
    this.change = change;
    this.shape = "";
    this.updates = [];
    this.hasFault = false; // whether the scenario has one: then the boxes may show other values than it has
  }

  /** Shows a form: new controls if there are others than before, else new values in those that are not in use. */
  show(form) {
    const shape = JSON.stringify(form, (key, value) =>
      ["value", "text", "duration_s", "title"].includes(key) ||
      key.endsWith("_bps") ||
      key.endsWith("delay_s") ||
      key.startsWith("buffer")
        ? undefined
        : value,
    );
    if (shape !== this.shape) {
      this.shape = shape;
      this.build(form);
    }
    const controls = new Map(allControls(form).map((control) => [control.path, control]));
    for (const update of this.updates) update(controls);
  }

  build(form) {
    const focused = document.activeElement?.dataset?.path;
    const open = new Set([...this.root.querySelectorAll("details[open]")].map((one) => one.dataset.name));
    this.updates = [];
    const cards = [
      ...form.links.map((link) => this.linkCard(link, form, open)),
      ...form.flows.map((flow, index) => this.card(flow.name, `flow ${kindOf(flow)}`, flow.controls, form, index)),
      this.card("run", "run", form.run, form),
    ];
    this.root.replaceChildren(...cards);
    if (focused) this.root.querySelector(`[data-path="${CSS.escape(focused)}"]`)?.focus();
  }

  linkCard(link, form, open) {
    const card = this.card(link.name, "link", link.forward.controls, form);
    const name = `${link.name}.reverse`;
    const more = element(
      "details",
      { "data-name": name, open: open.has(name) },
      element("summary", {}, "reverse direction"),
    );
    more.append(...link.reverse.controls.map((control) => this.control(control, form, name)));
    card.append(more);
    return card;
  }

  card(name, kind, controls, form, flow = null) {
    const swatch = flow === null ? null : element("i", { class: `swatch colour-${flow % 6}`, "aria-hidden": "true" });
    const title = element("legend", {}, swatch, name === kind ? "" : `${name} `, element("small", {}, kind));
    return element(
      "fieldset",
      { class: "card", "data-of": `${flow === null ? kind : "flow"} ${name}` },
      title,
      ...controls.map((control) => this.control(control, form, name)),
    );
  }

  control(control, form, owner) {
    if (control.kind === "choice") return this.choice(control, form.choices[control.choices], owner);
    if (control.kind === "text") {
      return element(
        "div",
        { class: "control" },
        element("span", {}, control.label),
        element("output", {}, `${control.text}: see Scenario`),
      );
    }
    return this.slider(control, owner);
  }

  choice(control, names, owner) {
    const select = element("select", { "data-path": control.path, "aria-label": `${control.label} of ${owner}` });
    select.append(...names.map((name) => element("option", { value: name }, name)));
    select.addEventListener("change", () => this.change({ [control.path]: select.value }));
    this.updates.push((controls) => {
      const now = controls.get(control.path);
      if (now && document.activeElement !== select) select.value = now.value;
      else if (now && select.value !== now.value) select.value = now.value;
    });
    return element("label", { class: "control" }, element("span", {}, control.label), select);
  }

  slider(control, owner) {
    const steps = stepsOf(control);
    const label = `${control.label} of ${owner}`;
    const range = element("input", {
      type: "range",
      min: 0,
      max: steps.length - 1,
      step: 1,
      "data-path": control.path,
      "aria-label": label,
    });
    const text = element("input", {
      type: "text",
      class: "value",
      "aria-label": `${label}, as text`,
      spellcheck: "false",
      autocomplete: "off",
    });
    let shown = control.text;
    const name = (value) => (value === null ? control.none : show(value, control.unit));
    range.addEventListener("input", () => {
      const value = steps[Number(range.value)];
      text.value = shown = name(value);
      range.setAttribute("aria-valuetext", shown);
      this.change(this.field(control, value));
    });
    const commit = () => {
      if (this.hasFault || text.value.trim() !== shown) this.change(this.typed(control, text.value.trim()));
    };
    text.addEventListener("change", commit);
    text.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || text.value === shown) return;
      text.value = shown;
      if (this.hasFault) commit();
    });
    this.updates.push((controls) => {
      const now = controls.get(control.path);
      if (!now) return;
      shown = now.text;
      if (document.activeElement !== text) text.value = shown;
      if (!range.matches(":active")) range.value = nearest(steps, now.value);
      range.setAttribute("aria-valuetext", shown);
    });
    return element("div", { class: "control" }, element("span", { "aria-hidden": "true" }, control.label), range, text);
  }

  /** Gives what a slider's value means in the scenario. */
  field(control, value) {
    if (control.label === "loss" && control.path.endsWith(".loss"))
      return { [control.path]: value === 0 ? null : { model: "bernoulli", probability: value } };
    if (value === null) return { [control.path]: control.none === "unlimited" ? "unlimited" : null };
    return { [control.path]: written(value, control.unit) };
  }

  /** Gives what a typed text means in the scenario; the server says what is wrong with it, an empty one too. */
  typed(control, text) {
    const number = Number(text);
    const isNumber = text !== "" && !Number.isNaN(number);
    if (control.label === "loss" && control.path.endsWith(".loss"))
      return isNumber
        ? this.field(control, number)
        : { [control.path]: { model: "bernoulli", probability: text } };
    if ((control.unit === "" || control.unit === "1") && isNumber) return { [control.path]: number };
    const isDefault = text === "" && !["", "unlimited"].includes(control.none); // the box then shows its name
    if (isDefault || (control.none && text === control.none)) return this.field(control, null);
    return { [control.path]: text };
  }
}

function kindOf(flow) {
  return flow.kind === "tcp" ? "" : `(${flow.kind})`;
}

function allControls(form) {
  const links = form.links.flatMap((link) => [...link.forward.controls, ...link.reverse.controls]);
  return [...links, ...form.flows.flatMap((flow) => flow.controls), ...form.run];
}
