// Labelling session: the flow of questions and answers, apart from how they look.

import { Refused, connection, post } from "./api.js";
import { shown } from "./labels.js";
import { Reserve } from "./reserve.js";
import { t } from "./texts.js";

const REMEMBERED = 200;
const SLOW = 400;
const DOUBLE_CLICK = 250;
const OUT_OF_SPARES = t.outOfSpares;

const SAYINGS = {
  skip: t.skippedForNow,
  unsure: t.notSureWord,
  bad: t.rowDropped,
};

/** What becomes of a row that the person is not sure about. */
function afterwards(page, question) {
  if (!page.isAlone) return ` ${t.somebodyElse}`;
  return ` ${question.mine?.kind === "unsure" ? t.findInHistory : t.comesBack}`;
}

/** What the status line says of an action, which may be about so many other rows and copies too. */
export const saidOf = (kind, label, others = 0, copies = 0) =>
  [SAYINGS[kind] ?? shown(label), others && t.andOtherRows(others),
    copies && t.andCopies(copies)].filter(Boolean).join(", ");

/** A row that somebody chose, as a question: without what the model says of it. */
export const chosenQuestion = (item, copies) => ({
  item, copies, source: "chosen", lease: null, mine: null,
  why: { sentence: "", predicted: null, near: [] },
});

/** One person's labelling session: the question shown, and what was answered in this page. */
export class Session {
  #page;
  #view;
  #reserve;
  #history = [];
  #request = 0;
  #open = false;
  #shownAt = 0;
  #slow = null;
  #renewal = null;
  #starved = false;

  /** `view` shows: show(question, reason, complete) -> promise, showWhy(), waiting(bool), answered(...). */
  constructor(page, view) {
    this.#page = page;
    this.#view = view;
    this.#reserve = new Reserve(page.storage, page.who);
    this.question = null;
    page.outbox.makeRoom = () => this.#reserve.unload();
  }

  /** The server's next question, or the one about `row`. */
  async ask(row = null) {
    const request = this.#close();
    try {
      const reply = await post("ask", { who: this.#page.who, row });
      await this.#show(request, reply.question, reply.reason, reply.complete);
    } catch (error) {
      await this.#without(request, error);
    }
    this.#reserve.refill();
  }

  /** Keeps and sends an answer to the question seen; `event` is the press that made it. */
  async answer(kind, label, event) {
    if (!this.question || !this.#meant(event)) return false;
    const { question } = this;
    const request = this.#close();
    const key = this.note(kind, label, question, true);
    this.#reserve.drop(question.item.row);
    this.#view.answered("", null, question);
    const after = kind === "unsure" ? afterwards(this.#page, question) : "";
    const taken = await this.#follow(request, key, saidOf(kind, label, 0, question.copies), after);
    if (taken) this.#view.answered(kind, label, question);
    this.#reserve.refill();
    return true;
  }

  /**
   * Keeps an answer to any row and remembers it for undo; the key of the action. It may be about
   * `others` too, which are places of rows: one action, which is taken back as one. Where rows that
   * have a label by now are to be left out, it is about those without one alone.
   */
  note(kind, label, question, next = false, others = [], unlabelled = false) {
    const body = { who: this.#page.who, row: question.item.row, kind, label, next };
    if (others.length) body.others = others;
    if (unlabelled) body.unlabelled = true;
    const said = saidOf(kind, label, others.length, question.copies);
    const key = this.#page.outbox.put("answer", body, t.rowAnd(question.item.id, said));
    for (const row of others) this.#reserve.drop(row);
    this.remember(key, said, question, others);
    return key;
  }

  /** Remembers an action for undo; one that is about no row has no question. */
  remember(key, said, question = null, others = []) {
    const entry = { key, question, said, others, undone: false };
    this.#history = [...this.#history.slice(1 - REMEMBERED), entry];
  }

  /** Forgets an action that was refused or taken back. */
  forget(key) {
    this.#history = this.#history.filter((entry) => entry.key !== key);
  }

  /** Takes back the last action and shows its question again. */
  async undo(event) {
    if (!this.#meant(event)) return;
    this.#view.answered("", null, null);
    const last = this.#history.findLast(({ undone }) => !undone) ?? null;
    if (connection.state !== "connected") await this.#undoHere(last);
    else await this.#undoThere(last);
  }

  /** Has the question that is shown explained by the present names of classes. */
  async explainAgain() {
    const { question } = this;
    const reply = question && (await this.#page.rowOf(question.item.row).catch(() => null));
    if (!reply || question !== this.question) return;
    question.why = reply.question.why;
    this.#view.showWhy();
  }

  /** Asks again if the spares were used up and the server is back. */
  wake() {
    if (this.#open && this.#starved && connection.state === "connected") this.ask();
    this.#reserve.refill();
  }

  leave() {
    this.#close();
    clearTimeout(this.#slow);
    clearInterval(this.#renewal);
  }

  /** Whether the question was in sight at the press, which is no second half of a double click. */
  #meant(event) {
    const since = event.timeStamp - this.#shownAt;
    return this.#open && since >= 0 && !(event.detail > 1 && since < DOUBLE_CLICK);
  }

  /** Shows what comes after an answer; whether the server took the answer. */
  async #follow(request, key, said, after) {
    const { outbox } = this.#page;
    if (connection.state !== "connected" && this.#reserve.size) {
      outbox.nudge();
      await this.#spare(request, said);
      return false;
    }
    const reply = await outbox.deliver(key).catch((error) => ({ error }));
    if (reply?.error) {
      if (reply.error instanceof Refused) this.forget(key);
      await this.#without(request, reply.error, said);
      return false;
    }
    if (reply === null) await this.ask();
    else {
      this.#page.saved(`${reply.counts ? t.savedThat(said) : t.supersededThat(said)}${after}`);
      await this.#show(request, reply.question, reply.reason, reply.complete);
    }
    return true;
  }

  /** Goes on when the server gave no question: a refusal is said and another row asked for. */
  async #without(request, error, said = null) {
    if (!(error instanceof Refused)) return this.#spare(request, said);
    this.#page.tell(error.message);
    if (said === null) return this.#show(request, this.question, error.message);
    return this.ask();
  }

  #spare(request, said) {
    if (said !== null) this.#page.saved(t.keptThat(said));
    const answered = this.#history.filter(({ undone, question }) => question && !undone);
    const rows = new Set(answered.flatMap(({ question, others }) => [question.item.row, ...others]));
    return this.#show(request, this.#reserve.take(rows), OUT_OF_SPARES);
  }

  async #undoHere(last) {
    if (last === null) return this.#page.tell(t.nothingAnswered);
    this.#page.outbox.put("undo", { who: this.#page.who, target: last.key });
    this.#page.outbox.nudge();
    await this.#goBack(this.#close(), last);
  }

  async #undoThere(last) {
    const request = this.#close();
    const { outbox, who } = this.#page;
    try {
      const reply = await outbox.deliver(outbox.put("undo", { who, target: last?.key ?? null }));
      if (last) last.undone = true;
      if (reply === null) return await this.ask();
      const done = t.undoneThat(last?.said ?? reply.said ?? t.lastAction);
      this.#page.tell(reply.target === null ? t.nothingToUndo : done);
      const back = reply.target === null ? null : reply.question ?? last?.question;
      await this.#show(request, back ?? this.question, null);
    } catch (error) {
      await this.#undoFailed(request, last, error);
    }
    this.#page.refresh();
  }

  async #undoFailed(request, last, error) {
    if (!(error instanceof Refused) && last) return this.#goBack(request, last);
    this.#page.tell(error instanceof Refused ? error.message : t.keptThat(t.undoWord));
    if (last) last.undone = true;
    return this.#show(request, this.question, null);
  }

  /** Shows an earlier question; the one that is shown now is not lost. */
  #goBack(request, last) {
    if (last.question && this.question) this.#reserve.giveBack(this.question);
    last.undone = true;
    this.#page.tell(t.undoneThat(last.said));
    return this.#show(request, last.question ?? this.question, null);
  }

  #close() {
    this.#open = false;
    clearTimeout(this.#slow);
    this.#slow = setTimeout(() => this.#view.waiting(true), SLOW);
    return ++this.#request;
  }

  async #show(request, question, reason, complete = false) {
    if (request !== this.#request) return;
    this.question = question;
    this.#starved = reason === OUT_OF_SPARES && !question;
    if (question) this.#reserve.drop(question.item.row);
    await this.#view.show(question, reason, complete);
    if (request !== this.#request) return;
    clearTimeout(this.#slow);
    this.#view.waiting(false);
    this.#shownAt = performance.now();
    this.#open = true;
    this.#renewEvery(question?.lease);
  }

  /** Keeps the row reserved for this person while the page is in sight. */
  #renewEvery(lease) {
    clearInterval(this.#renewal);
    if (!lease) return;
    const { who } = this.#page;
    const renew = () =>
      document.visibilityState === "visible" && post("renew", { who }).catch(() => null);
    this.#renewal = setInterval(renew, (1000 * lease) / 3);
  }
}
