// Questions to the kernel, by messages to the widget around this page: each answer is a row of lines, the last one proper.

/** The kinds of lines that come before the answer proper. */
const BEFORE_THE_LAST = new Set(["ready", "curves", "progress", "step"]);
const PAGE = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join("");
const waiting = new Map(); // those who wait for an answer, by the number of their question
let asked = 0;

addEventListener("message", ({ data }) => {
  const one = waiting.get(data?.answers);
  if (!one) return;
  if (BEFORE_THE_LAST.has(data.line.kind)) one.onLine(data.line);
  else one.done(data.line);
});

/** Asks as the lab's page asks its server; throws an AbortError if `signal` ends the request. */
export function ask(kind, content, { onLine = () => {}, signal } = {}) {
  const id = `${PAGE} ${(asked += 1)}`;
  return new Promise((resolve, reject) => {
    const end = (finish) => (value) => {
      waiting.delete(id);
      finish(value);
    };
    waiting.set(id, { onLine, done: end(resolve) });
    signal?.addEventListener("abort", () => end(reject)(new DOMException("superseded", "AbortError")));
    parent.postMessage({ asks: id, kind, content }, "*");
  });
}
