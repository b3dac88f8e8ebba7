// The scenario as text: numbered lines, faults marked at their lines.

import { element } from "./dom.js";

const PAUSE_MS = 350;

export class Editor {
  /** `changed` gets the text a moment after the last key. */
  constructor(root, changed) {
    this.area = element("textarea", {
      spellcheck: "false",
      autocomplete: "off",
      wrap: "off",
      "aria-label": "Scenario as TOML",
      "aria-describedby": "faults",
    });
    this.gutter = element("div", { class: "gutter", "aria-hidden": "true" });
    root.replaceChildren(
      element("h2", {}, "Scenario"),
      element("div", { class: "editor" }, this.gutter, this.area),
      element("p", { class: "note" }, "Edit it here or by the controls; each follows the other."),
    );
    this.faults = [];
    this.changed = changed;
    this.timer = null;
    this.area.addEventListener("input", () => {
      this.number();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.flush(), PAUSE_MS);
    });
    this.area.addEventListener("scroll", () => (this.gutter.scrollTop = this.area.scrollTop));
  }

  /** Hands on what was written since the last time, if anything was. */
  flush() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.changed(this.area.value);
  }

  /** Shows a text, unless the user is writing in it. */
  show(text) {
    if (document.activeElement === this.area || this.timer !== null || this.area.value === text) return;
    this.area.value = text;
    this.number();
  }

  /** Shows a text, even if the user is writing in it. */
  force(text) {
    clearTimeout(this.timer);
    this.timer = null;
    this.area.value = text;
    this.number();
  }

  mark(faults) {
    this.faults = faults;
    this.area.setAttribute("aria-invalid", String(faults.length > 0));
    this.number();
  }

  /** Selects a line. */
  go(line) {
    const lines = this.area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  }

  number() {
    const marked = new Map(this.faults.filter((fault) => fault.line).map((fault) => [fault.line, fault.text]));
    const lines = this.area.value.split("\n").map((_, index) => {
      const text = marked.get(index + 1);
      return element("span", text ? { class: "faulty", title: text } : {}, String(index + 1));
    });
    this.gutter.replaceChildren(...lines);
    this.gutter.scrollTop = this.area.scrollTop;
  }
}
