// Questions to the server: each answer is a stream of JSON lines, the last of which is the answer proper.

/** The name by which the server knows this page: it does one piece of work at a time for each. */
const PAGE = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join(
  "",
);

/** The kinds of lines that come before the answer proper. */
const BEFORE_THE_LAST = new Set(["ready", "curves", "progress", "step"]);

/** Gets plain data, such as a lesson or a ready scenario; a fault if the server does not answer. */
export async function get(path) {
  try {
    const answer = await fetch(`api/${path}`);
    return await answer.json();
  } catch {
    return lost();
  }
}

/**
 * Asks for a piece of work: "run", "window", "motion" or "advice". `onLine` gets each line before the last one.
 * Gives the last line, whose `kind` says what it is; throws an AbortError if `signal` ends the request.
 */
export async function ask(kind, content, { onLine = () => {}, signal } = {}) {
  const answer = await fetch(`api/${kind}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ page: PAGE, ...content }),
    signal,
  });
  if (!answer.body || !(answer.headers.get("content-type") ?? "").includes("json")) {
    return { kind: "fault", faults: [{ text: (await answer.text()).trim(), line: null }] };
  }
  let last = null;
  for await (const line of linesOf(answer.body)) {
    const content = JSON.parse(line);
    if (BEFORE_THE_LAST.has(content.kind)) onLine(content);
    else last = content;
  }
  return last ?? { kind: "superseded" };
}

/** Gives the answer in place of one that did not come. */
export function lost() {
  return {
    kind: "fault",
    faults: [{ text: "the server does not answer; is ackclock lab still running?", line: null }],
  };
}

async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts;
  }
  if (rest) yield rest;
}
