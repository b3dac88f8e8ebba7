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
      .flatMap((line, number) => [...(number ? [element("br")] : []), ...(index ? [line] : breakable(line))]);
    return element(tag, { class: isText ? "" : "number", scope: tag === "th" ? "col" : null }, ...lines);
  };
  const head = element("tr", {}, ...headers.map((text, index) => cell("th", text, index)));
  const body = rows.map((row) => element("tr", {}, ...row.map((text, index) => cell("td", text, index))));
  const made = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  const scroller = element("div", { class: "scroll" }, made);
  const wider = element("p", { class: "note wider", hidden: true }, "wider than its place: scroll it sideways →");
  new ResizeObserver(() => offerScrolling(scroller, wider)).observe(scroller);
  return element("div", {}, wider, scroller, note ? element("p", { class: "note" }, note) : null);
}

/** Lets a name such as "home.reverse" go on in the next line after a dot. */
function breakable(name) {
  return name.split(/(?<=\.)/).flatMap((part, number) => (number ? [element("wbr"), part] : [part]));
}

/** Says that a table is wider than its place, if it is, and lets keys scroll it. */
function offerScrolling(scroller, wider) {
  const isWider = scroller.scrollWidth > scroller.clientWidth + 1;
  wider.hidden = !isWider;
  const attributes = { tabindex: "0", role: "region", "aria-label": "Table, wider than its place: arrows scroll it" };
  for (const [name, value] of Object.entries(attributes))
    if (isWider) scroller.setAttribute(name, value);
    else scroller.removeAttribute(name);
}
