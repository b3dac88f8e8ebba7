// The state of the page in the fragment of its address, compressed, so that a link shares an experiment.

/** Writes a state, a plain object, as a fragment. */
export async function encoded(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  return `#s=${toBase64(packed)}`;
}

/** Reads a state from a fragment; null if there is none, or it is damaged. */
export async function decoded(fragment) {
  const match = /^#s=([A-Za-z0-9_-]+)$/.exec(fragment);
  if (!match) return null;
  try {
    const bytes = await through(fromBase64(match[1]), new DecompressionStream("deflate-raw"));
    const state = JSON.parse(new TextDecoder().decode(bytes));
    return state && typeof state.toml === "string" ? state : null;
  } catch {
    return null;
  }
}

async function through(bytes, stream) {
  const output = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(output).arrayBuffer());
}

function toBase64(bytes) {
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64(text) {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}
