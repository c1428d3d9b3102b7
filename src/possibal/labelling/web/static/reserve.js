// Spare questions, so that labelling goes on while the server is away.

import { connection, post } from "./api.js";
import { preload } from "./item.js";

const WANTED = 25;
const FEWEST = 20;
const PAUSE = 5_000;

/** The spare questions of one person. */
export class Reserve {
  #storage;
  #who;
  #name;
  #questions;
  #asked = -PAUSE;

  constructor(storage, who) {
    this.#storage = storage;
    this.#who = who;
    this.#name = `spare/${who}`;
    this.#questions = storage.read(this.#name, []);
  }

  get size() {
    return this.#questions.length;
  }

  /** Fetches fresh spares when few are left and the server is there. */
  async refill() {
    const soon = performance.now() - this.#asked < PAUSE;
    if (soon || this.size >= FEWEST || connection.state !== "connected") return;
    this.#asked = performance.now();
    const reply = await post("spare", { who: this.#who, count: WANTED }).catch(() => null);
    if (reply) this.#keep(reply.questions);
  }

  /** The first spare that is about none of `rows`, or null; it leaves the reserve. */
  take(rows) {
    const question = this.#questions.find(({ item }) => !rows.has(item.row)) ?? null;
    if (question) this.drop(question.item.row);
    return question;
  }

  drop(row) {
    const left = this.#questions.filter(({ item }) => item.row !== row);
    if (left.length < this.size) this.#keep(left);
  }

  /** Puts a question back as the first to be taken. */
  giveBack(question) {
    this.drop(question.item.row);
    this.#keep([question, ...this.#questions]);
  }

  /** Frees the browser's memory; the page still has the spares. */
  unload() {
    this.#storage.remove(this.#name);
  }

  #keep(questions) {
    this.#questions = questions;
    // Without room the spares are worth less than the answers: they stay in the page alone.
    if (!this.#storage.write(this.#name, questions)) this.unload();
    for (const { item } of questions) preload(item);
  }
}
