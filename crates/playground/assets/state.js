// What the page shows, and its form in the address: the text of the scenario, the changed values, and the step of a lesson.

/** The state of the page. `overrides` maps the path of a key to its text, as `--set` of the command reads it. */
export const state = {
  text: "",
  overrides: new Map(),
  /** The name of the scenario or of the lesson that the text came from, as in the list of the page. */
  origin: "",
  /** The step of the lesson, from 0; steps that have been reached. */
  step: 0,
  reached: new Set(),
};

/** Settings as the server takes them: `links.L.rate=5Mbps`. */
export const settings = () => [...state.overrides].map(([path, value]) => `${path}=${value}`);

async function squeeze(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Longer states in an address are refused: no request may be longer, and a small address can expand to gigabytes. */
const LONGEST_STATE = 256 * 1024;

async function expand(packed) {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > LONGEST_STATE) throw new Error("the state in the address is too long");
  }
}

/** The fragment of the address that restores the state. */
export async function fragment() {
  const { text, overrides, origin, step, reached } = state;
  return `#${await squeeze(JSON.stringify({ text, overrides: [...overrides], origin, step, reached: [...reached] }))}`;
}

/** Restores the state from the fragment of the address; false if there is none, or none that can be read. */
export async function restore(hash) {
  if (hash.length < 2) return false;
  try {
    const read = JSON.parse(await expand(hash.slice(1)));
    const pairs = read.overrides.filter((pair) => pair.length === 2 && pair.every((part) => typeof part === "string"));
    state.text = String(read.text);
    state.overrides = new Map(pairs);
    state.origin = String(read.origin);
    state.step = Number(read.step) || 0;
    state.reached = new Set(read.reached.map(Number));
    return true;
  } catch {
    return false;
  }
}

let writing = Promise.resolve();

/** Writes the state into the address: as a new entry of the history, or in place of the present one. */
export function remember(asNewEntry) {
  writing = writing.then(async () => {
    const hash = await fragment();
    if (hash === location.hash) return;
    if (asNewEntry) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  });
  return writing;
}
