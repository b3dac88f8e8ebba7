// Short ways to make elements.

/** Makes an element with attributes, event handlers (`onclick: f`) and children (elements or texts). */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Makes an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Makes a table of words from the server's plain data. */
export function table({ headers, rows, note, words = [] }) {
  const cell = (tag, text, index) => {
    const isText = index === 0 || words.includes(index);
    const lines = String(text)
      .split("\n")
      .flatMap((line, number) => (number ? [element("br"), line] : [line]));
    return element(tag, { class: isText ? "" : "number", scope: tag === "th" ? "col" : null }, ...lines);
  };
  const head = element("tr", {}, ...headers.map((text, index) => cell("th", text, index)));
  const body = rows.map((row) => element("tr", {}, ...row.map((text, index) => cell("td", text, index))));
  const made = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  const scroller = element("div", { class: "scroll" }, made);
  return note ? element("div", {}, scroller, element("p", { class: "note" }, note)) : scroller;
}
