// Actions are kept in the browser first, then sent in order; only what the server took is removed.

import { Away, Refused, post } from "./api.js";

const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 15_000;

/** 32 hex characters that no other action has. */
function newKey() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** One tab at a time sends; without the Web Locks API the keys alone make repeats harmless. */
function alone(name, work) {
  return navigator.locks ? navigator.locks.request(name, work) : work();
}

/** The actions that wait for the server, and those it refused; has a "change" event. */
export class Outbox extends EventTarget {
  #storage;
  #lock;
  #device;
  #waiters = new Map();
  #sending = false;
  #timer = null;
  #wait = FIRST_WAIT;

  constructor(storage, lock) {
    super();
    this.#storage = storage;
    this.#lock = `possibal/${lock}/outbox`;
    this.#device = storage.read("device") ?? newKey();
    storage.write("device", this.#device);
    this.safe = true;
    this.makeRoom = () => {};
  }

  /**
   * The key of an action for `path`, now kept; an entry of its own, so that no tab loses it. `said`
   * is what the person is told of it if it is refused.
   */
  put(path, body, said = null) {
    const key = newKey();
    const made = Math.max(Date.now(), this.#storage.read("made", 0) + 1);
    this.#storage.write("made", made);
    const entry = { path, body: { key, made, device: this.#device, ...body }, said };
    const keep = () => this.#storage.write(`outbox/${String(made).padStart(15, "0")}-${key}`, entry);
    this.safe = keep() || (this.makeRoom(), keep());
    this.#changed();
    return key;
  }

  /** The entries that wait, oldest first. */
  pending() {
    const read = (name) => ({ name, ...this.#storage.read(name) });
    return this.#storage.names("outbox/").map(read).filter(({ body }) => body);
  }

  /** Entries that the server refused, each with its sentence. */
  refused() {
    return this.#storage.read("refused", []);
  }

  /** Forgets all that was refused, or the one action with this key. */
  forgetRefused(key = null) {
    const left = key === null ? [] : this.refused().filter(({ body }) => body.key !== key);
    if (left.length) this.#storage.write("refused", left);
    else this.#storage.remove("refused");
    this.#changed();
  }

  /** The reply to the action with this key, sent now; null if another tab sent it. */
  deliver(key) {
    return new Promise((resolve, reject) => {
      this.#waiters.set(key, { resolve, reject });
      this.send();
    });
  }

  /** Sends unless a later try is already planned. */
  nudge() {
    if (this.#timer === null) this.send();
  }

  /** Sends all that waits, now. */
  async send() {
    if (this.#sending) return;
    this.#sending = true;
    this.#plan(null);
    try {
      await alone(this.#lock, () => this.#drain());
      this.#wait = FIRST_WAIT;
    } catch (error) {
      this.#giveUp(error);
    } finally {
      this.#sending = false;
    }
    // An action may have come between the last look and now.
    if (this.#timer === null && this.pending().length) this.send();
  }

  async #drain() {
    for (let [entry] = this.pending(); entry; [entry] = this.pending()) await this.#post(entry);
    for (const key of [...this.#waiters.keys()]) this.#settle(key, "resolve", null);
  }

  async #post({ name, path, body, said }) {
    // A next question is of use only to a page that still waits for it; how long an action waited
    // is right also where the clock is wrong.
    const next = body.next ? { next: this.#waiters.has(body.key) } : {};
    try {
      const reply = await post(path, { ...body, ...next, sent: Math.max(Date.now(), body.made) });
      this.#storage.remove(name);
      if (reply.counts === false) this.dispatchEvent(new CustomEvent("superseded", { detail: said }));
      if (reply.left_out?.length && !this.#waiters.has(body.key))
        this.dispatchEvent(new CustomEvent("left-out", { detail: reply.left_out.length }));
      this.#settle(body.key, "resolve", reply);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const entry = { path, body, said, sentence: error.message };
      this.#storage.write("refused", [...this.refused(), entry]);
      this.#storage.remove(name);
      this.#settle(body.key, "reject", error);
    }
    this.#changed();
  }

  #settle(key, how, value) {
    this.#waiters.get(key)?.[how](value);
    this.#waiters.delete(key);
  }

  #giveUp(error) {
    const away = error instanceof Away ? error : new Away(error.message);
    for (const key of [...this.#waiters.keys()]) this.#settle(key, "reject", away);
    this.#plan(this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }

  #plan(wait) {
    clearTimeout(this.#timer);
    this.#timer = wait === null ? null : setTimeout(() => this.send(), wait);
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
