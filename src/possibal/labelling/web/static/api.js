// Talking to the server, and knowing whether it is there.

import { t } from "./texts.js";

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

let held = null;

/** Sends requests with this session from now on: { session, pictures }, or null. */
export function setSession(session) {
  held = session;
}

/** The address of a picture, with what lets an image load that sends nothing else. */
export const pictureUrl = (path) => (held ? `.${path}?key=${held.pictures}` : `.${path}`);

const served = new Set();

/** Whether a sentence is one that the server refused something with: it is in English. */
export const isServers = (sentence) => served.has(sentence);

function sentence(reply, status) {
  const detail = reply?.detail;
  const found = typeof detail === "string" ? detail : detail?.[0]?.msg;
  if (found) served.add(found);
  return found ?? t.serverRefused(status);
}

async function replyOf(response) {
  if (response.ok) return response;
  const { status } = response;
  if (status === 401) throw new Locked("not known");
  if (status >= 500 || PASSING.has(status)) throw new Away(`status ${status}`);
  const reply = await response.json().catch(() => null);
  // What is not for this role is refused for good; a request that counts as foreign is not.
  if (status === 403 && !reply?.role) throw new Locked("not known");
  throw new Refused(sentence(reply, status));
}

async function call(path, options, read = (response) => response.json()) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT);
    const known = held ? { Authorization: `Bearer ${held.session}` } : {};
    const headers = { ...options.headers, ...known };
    const reply = await read(await replyOf(await fetch(`api/${path}`, { ...options, headers, signal })));
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

/** The server's answer to bytes sent to `path`. */
export const postBytes = (path, body) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body });

/** Saves what the server has at `path` as a file. */
export async function download(path, name) {
  const url = URL.createObjectURL(await call(path, { cache: "no-store" }, (reply) => reply.blob()));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TIMEOUT);
}
