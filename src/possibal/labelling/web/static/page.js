// What the views share: the campaign, the person, the outbox, and what is said to the person.

import { Refused, connection, download, get } from "./api.js";
import { startBanners } from "./banners.js";
import { columnsBox } from "./columns.js";
import { Session, saidOf } from "./session.js";
import { ENGLISH, count, el } from "./dom.js";
import { Guidelines } from "./guidelines.js";
import { BrowserStorage } from "./storage.js";
import { readLabels } from "./labels.js";
import { Outbox } from "./outbox.js";
import { progressPanel } from "./progress.js";
import { QuestionView } from "./question.js";
import { t } from "./texts.js";
import { say } from "./translation.js";

const SOON = 700;
const AGAIN = 3_000;

const own = new BrowserStorage("browser", "/");
const byId = (id) => document.getElementById(id);
const unknown = (name) => ({ name, description: "", colour: "", rows: 0 });

/** What of the classes can be seen on their buttons. */
const looks = (catalogue) =>
  JSON.stringify(catalogue.map(({ name, description, colour }) => [name, description, colour]));

/** Shows in the menu how many rows wait to be settled. */
function countConflicts(many) {
  const link = document.querySelector("#nav a[href='#people']");
  const words = t.toSettle(many);
  link.replaceChildren(t.navPeople, ...(many ? [el("span.badge", { test: "conflict-count", title: words },
    count(many), el("span.unseen", ` (${words})`))] : []));
}

/** Everything the views share. */
export class Page {
  #pollTimer = null;
  #polledAt = -SOON;
  #asked = 0;
  #shown = 0;
  #saying = "";
  #wasAway = false;
  #known = [];

  constructor(campaign, access) {
    // Answers kept for one file must never reach another that is served at the same address later.
    const scope = campaign.id;
    this.campaign = campaign;
    readLabels(campaign.multi);
    this.access = access;
    this.storage = new BrowserStorage(scope);
    this.outbox = new Outbox(this.storage, scope);
    this.outbox.addEventListener("superseded", ({ detail }) =>
      this.tell(t.supersededThat(detail)));
    this.outbox.addEventListener("left-out", ({ detail }) => this.tell(t.leftAsIs(detail)));
    this.who = access.who ?? own.read("who", "");
    this.progress = null;
    this.banners = startBanners(byId("banners"), this.outbox);
    this.statusLine = el("p.status", { test: "status" });
    const named = { test: "progress", "aria-label": t.progress };
    this.panel = el("aside.card.progress", named, el("h2", t.progress));
    this.changes = new EventTarget();
    this.lastChange = null;
    // While the server is away, figures are those of before, and what waits is counted.
    const recount = () => this.progress && (connection.state !== "connected" || this.#wasAway)
      && this.#renderPanel(this.progress);
    connection.addEventListener("change", recount);
    this.outbox.addEventListener("change", recount);
    this.#setClasses(campaign.catalogue);
    this.view = new QuestionView(this);
    this.guidelines = new Guidelines(this, campaign.guidelines);
    this.labelNode = el("div.label-view", this.statusLine, this.guidelines.node, this.view.node,
      el("div.stack.side", this.panel, columnsBox(campaign)));
  }

  /** Begins a session of the person named. */
  sit(who) {
    if (this.access.who === null) own.write("who", who);
    this.who = who;
    byId("who-button").textContent = who;
    byId("who-button").setAttribute("aria-label", t.youAre(who));
    this.session?.leave();
    this.session = new Session(this, this.view);
    this.view.attach(this.session);
    this.started = false;
  }

  people() {
    const names = [...this.campaign.people, ...(this.progress?.people ?? []).map(({ who }) => who)];
    return [...new Set(names.map((name) => name.who ?? name))];
  }

  /** Whether nobody else answers rows, as far as is known. */
  get isAlone() {
    return (this.progress ?? this.campaign).participants.every((one) => one === this.who);
  }

  /** Says a sentence in the status line and to screen readers. */
  tell(sentence) {
    say(this.statusLine, sentence);
    this.announce(sentence);
  }

  /** Says what became of an answer. */
  saved(sentence) {
    const hint = this.labelNode.isConnected ? ` ${t.undoHint}` : "";
    say(this.statusLine, sentence + hint);
    this.#saying = sentence;
    this.refresh();
  }

  /** Speaks to screen readers: what was saved, then what is new. */
  announce(sentence) {
    say(byId("live"), `${this.#saying} ${sentence}`.trim());
    this.#saying = "";
  }

  /** Saves a file: the labels, or all rows with what the model predicts. */
  download(name = "labels.csv") {
    return this.attempt(() => download(name, name));
  }

  /** The result of `work`, or null with the reason said to the person. */
  async attempt(work) {
    try {
      return await work();
    } catch (error) {
      const away = t.awayShown;
      this.tell(error instanceof Refused ? error.message : away);
      return null;
    }
  }

  /** A row by its place in the file, as a question to this person. */
  rowOf(row) {
    return get(`rows/${row}?who=${encodeURIComponent(this.who)}`);
  }

  /**
   * Answers a row outside of the flow of questions, and with it `others` by their places; if only
   * those without a label are meant, the rest is left as it is. The key of the action once it is
   * taken or safely kept, null if it is refused.
   */
  async give(kind, label, question, others = [], unlabelled = false) {
    const said = saidOf(kind, label, others.length, question.copies);
    const key = this.session.note(kind, label, question, false, others, unlabelled);
    try {
      const left = (await this.outbox.deliver(key))?.left_out?.length ?? 0;
      const done = left ? saidOf(kind, label, others.length - left) : said;
      this.saved(`${t.savedThat(done)}${left ? ` ${t.leftAsIs(left)}` : ""}`);
      this.announce("");
      return key;
    } catch (error) {
      const refused = error instanceof Refused;
      if (refused) this.session.forget(key);
      this.tell(refused ? error.message : t.keptThat(said));
      return refused ? null : key;
    }
  }

  /** Goes to the labelling view with this row. */
  label(row) {
    this.started = true;
    location.hash = "#label";
    this.session.ask(row);
  }

  /** What is said of a class. */
  about(name) {
    return this.catalogue.find((entry) => entry.name === name) ?? unknown(name);
  }

  /** Changes classes or check rows; null when that is taken or safely kept, else why it is not. */
  async change(path, body, said) {
    const key = this.outbox.put(path, { who: this.who, ...body }, said);
    this.lastChange = key;
    this.session?.remember(key, said);
    this.#classesChanged(this.#known);
    try {
      const reply = await this.outbox.deliver(key);
      if (reply?.catalogue) this.#classesChanged(reply.catalogue);
      this.session?.explainAgain();
      this.saved(t.doneThat(said));
      return null;
    } catch (error) {
      if (!(error instanceof Refused)) {
        this.tell(t.keptThat(said));
        return null;
      }
      this.session?.forget(key);
      this.outbox.forgetRefused(key);
      this.#classesChanged(this.#known);
      return error.message;
    }
  }

  /** Takes a change back; a sentence on what became of it. */
  async takeBack(key) {
    this.session?.forget(key);
    try {
      const undo = this.outbox.put("undo", { who: this.who, target: key }, t.undoWord);
      const reply = await this.outbox.deliver(undo);
      this.#classesChanged((await get("campaign")).catalogue);
      this.session?.explainAgain();
      this.refresh();
      return reply?.said ? t.undoneThat(reply.said) : t.undoneDone;
    } catch (error) {
      return error instanceof Refused ? error.message : t.keptThat(t.undoWord);
    }
  }

  /** Draws rows that measure the model. */
  async measure(rows) {
    const refused = await this.change("check", { count: rows }, t.drawnSaid(rows));
    this.tell(refused ?? t.drawnNext(rows));
    this.refresh();
  }

  /** Fetches progress soon, but not more often than the server likes. */
  refresh() {
    if (this.#pollTimer !== null) return;
    const wait = Math.max(0, SOON - (performance.now() - this.#polledAt));
    this.#pollTimer = setTimeout(() => this.#poll(), wait);
  }

  async #poll() {
    this.#polledAt = performance.now();
    this.#pollTimer = null;
    const asked = ++this.#asked;
    const progress = await get("progress").catch(() => null);
    if (asked < this.#shown) return; // what was asked later came first, and is newer
    if (!progress) return void (this.#pollTimer = setTimeout(() => this.#poll(), AGAIN));
    if (this.outbox.pending().length) this.outbox.send();
    this.#notice(progress);
    this.#shown = asked;
    this.progress = progress;
    this.#renderPanel(progress);
    if (this.started) this.session.wake();
    this.#classesChanged(progress.catalogue);
    countConflicts(progress.conflicts);
    this.guidelines.follow(progress.guidelines);
    const isArriving = progress.arriving && !progress.arriving.trouble;
    if (isArriving && this.#pollTimer === null) {
      this.#pollTimer = setTimeout(() => this.#poll(), AGAIN);
    }
  }

  /** Shows new figures; whoever was at a button there still is. */
  #renderPanel(progress) {
    this.#wasAway = connection.state !== "connected";
    const at = this.panel.contains(document.activeElement) && document.activeElement.dataset.testid;
    this.panel.replaceChildren(...progressPanel(this, progress));
    this.view.renderOthers();
    if (at) this.panel.querySelector(`[data-testid=${at}]`)?.focus();
  }

  /** Tells once when the advice turns to stopping; labelling goes on being possible. */
  #notice({ advice: { state, reason }, left }) {
    if (state === this.storage.read("advice", "go on")) return;
    this.storage.write("advice", state);
    if (state === "go on") return this.banners.notice(null);
    if (!left) return this.banners.notice(t.everyRowAnswered);
    const advice = state === "stop" ? t.timeToStop : t.mayStopNow;
    this.banners.notice(() => [`${advice} `, el("span", ENGLISH, reason), ` ${t.canGoOn}`]);
  }

  /** Takes over what the server says of the classes, with those that wait to be sent. */
  #setClasses(catalogue) {
    this.#known = catalogue;
    const names = new Set(catalogue.map(({ name }) => name));
    const waiting = this.outbox.pending().filter(({ path }) => path === "classes");
    const more = new Set(waiting.map(({ body }) => body.label).filter((name) => !names.has(name)));
    this.catalogue = [...catalogue, ...[...more].map(unknown)];
    this.classes = this.catalogue.map(({ name }) => name);
  }

  #classesChanged(catalogue) {
    const before = JSON.stringify(this.catalogue);
    const shown = looks(this.catalogue);
    this.#setClasses(catalogue);
    if (JSON.stringify(this.catalogue) === before) return;
    if (looks(this.catalogue) !== shown) this.view.renderClasses();
    this.changes.dispatchEvent(new Event("classes"));
  }
}
