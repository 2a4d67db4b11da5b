// The interface of `millpond serve`.

const TOKEN = "millpond-token";

/** Takes the token from the address, so that neither the history nor a copied link contains it. A reload finds it again. */
export function takeToken() {
  const query = new URLSearchParams(location.search);
  const given = query.get("token");
  if (given) {
    sessionStorage.setItem(TOKEN, given);
    query.delete("token");
    const rest = query.size ? `?${query}` : "";
    history.replaceState(null, "", location.pathname + rest + location.hash);
  }
  return sessionStorage.getItem(TOKEN) !== null;
}

const headers = () => ({ "x-millpond-token": sessionStorage.getItem(TOKEN) ?? "" });

/** What the server refuses, or that it cannot be reached. Any other error is a fault of the page. */
export class ServerError extends Error {}

async function ask(path, body, signal) {
  const request = body === undefined
    ? { headers: headers(), signal }
    : { method: "POST", headers: { ...headers(), "content-type": "application/json" }, body: JSON.stringify(body), signal };
  const answer = await fetch(`/api/${path}`, request).catch((error) => {
    if (signal?.aborted) throw error;
    throw new ServerError("The server does not answer. Is `millpond serve` still running?");
  });
  if (!answer.ok) throw new ServerError(reason(await answer.text()) || `The server answered ${answer.status}.`);
  return answer;
}

/** The message of an answer that reports a fault: JSON with faults, or a text. */
function reason(text) {
  try {
    return JSON.parse(text).faults[0].message;
  } catch {
    return text.trim();
  }
}

/** Scenarios, protocols, queues and the schema. */
export const catalogue = async () => (await ask("catalogue")).json();

/** The readings of papers, and the rows of their recipes that depend on them. */
export const readings = async () => (await ask("readings")).json();

/** Faults, drawing and sliders of a scenario. */
export const check = async (text, overrides, signal) => (await ask("check", { text, overrides }, signal)).json();

/** The text with the changed values written into it. */
export async function apply(text, overrides) {
  const answer = await (await ask("apply", { text, overrides })).json();
  if (answer.faults?.length) throw new ServerError(answer.faults[0].message);
  return answer.text;
}

/** A notebook that runs the scenario, as text. */
export const notebook = async (text, overrides) => (await ask("notebook", { text, overrides })).text();

/** Runs a scenario; `receive` gets each message as soon as it arrives. */
export async function run(request, signal, receive) {
  const answer = await ask("run", request, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) receive(JSON.parse(line));
  }
  if (rest.trim()) receive(JSON.parse(rest));
}

/** A lesson: its steps, and the text of its scenario. */
export async function lesson(name) {
  const [steps, scenario] = await Promise.all(
    ["json", "toml"].map((kind) => fetch(`/assets/lessons/${name}.${kind}`)),
  );
  return { ...(await steps.json()), scenario: await scenario.text() };
}

/** The names and titles of the lessons, in order. */
export const lessons = async () => (await fetch("/assets/lessons/contents.json")).json();
