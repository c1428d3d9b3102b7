// Talking to the server, and knowing whether it is there.

const TIMEOUT = 10_000;
const JSON_TYPE = { "Content-Type": "application/json" };
const PASSING = new Set([408, 425, 429]);

/** The server did not answer, or could not: trying again later may work. */
export class Away extends Error {}

/** The server does not know this browser (any more). */
export class Locked extends Away {}

/** The server said no; the message is its sentence. */
export class Refused extends Error {}

/** "connected", "away" or "locked", as the last request found it; has a "change" event. */
export const connection = Object.assign(new EventTarget(), { state: "connected" });

function found(state) {
  if (connection.state === state) return;
  connection.state = state;
  connection.dispatchEvent(new Event("change"));
}

function sentence(reply, status) {
  const detail = reply?.detail;
  if (typeof detail === "string") return detail;
  return detail?.[0]?.msg ?? `The server refused this (status ${status}).`;
}

async function replyOf(response) {
  if (response.ok) return response.json();
  if (response.status === 401 || response.status === 403) throw new Locked("not known");
  const { status } = response;
  if (status >= 500 || PASSING.has(status)) throw new Away(`status ${status}`);
  throw new Refused(sentence(await response.json().catch(() => null), status));
}

async function call(path, options) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT);
    const reply = await replyOf(await fetch(`/api/${path}`, { ...options, signal }));
    found("connected");
    return reply;
  } catch (error) {
    if (error instanceof Refused) found("connected");
    else found(error instanceof Locked ? "locked" : "away");
    throw error instanceof Refused || error instanceof Away ? error : new Away(error.message);
  }
}

/** The server's answer to a question about `path`. */
export const get = (path) => call(path, { cache: "no-store" });

/** The server's answer to `body` sent to `path`. */
export const post = (path, body) =>
  call(path, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
