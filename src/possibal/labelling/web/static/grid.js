// Many rows at once: those that the model takes for one class, to be ticked and confirmed together.

import { Refused, get } from "./api.js";
import { tint } from "./classes.js";
import { ENGLISH, button, chanceWords, count, el } from "./dom.js";
import { thumbnail, words } from "./item.js";
import { choicesOf, shown as labelWords } from "./labels.js";
import { chosenQuestion } from "./session.js";
import { t } from "./texts.js";
import { openZoom } from "./zoom.js";

const PAGE = 48;
const MOST = 480;
const TRIES = 10;
const AGAIN = 2_000;
const SHORT = 150;
const LIKELY = 0.95; // as the server counts them
const HINT = t.gridHint;
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const LINES = { ArrowUp: -1, ArrowDown: 1 };

/** The rows of which answers wait to be sent. */
function waiting(page) {
  const answers = page.outbox.pending().filter(({ path }) => path === "answer");
  return new Set(answers.flatMap(({ body }) => [body.row, ...(body.others ?? [])]));
}

/** A row to tick: what it is, the chance of the predicted class, and a button to look closer at a picture. */
class Tile {
  constructor({ item, chance, copies }) {
    this.item = item;
    this.chance = chance.value;
    const how = chanceWords(chance);
    this.question = chosenQuestion(item, copies);
    this.box = el("input", {
      type: "checkbox", tabindex: -1, test: "tile-box",
      "aria-label": `${t.row(item.id)}${item.image ? "" : `, ${words(item, SHORT)}`}, ${how}`,
    });
    const closer = item.image && button(".closer", {
      tabindex: -1, click: () => this.zoom(), "aria-label": t.lookCloserAt(item.id),
      title: t.lookCloserZ, test: "tile-zoom",
    }, "⤢");
    const shown = item.image
      ? thumbnail(item) : el("span.card-text", { dir: "auto" }, words(item, SHORT));
    const name = el("span.tile-name", { dir: "auto", title: item.id }, item.id);
    const too = copies > 0 && el("span", { test: "tile-copies" }, t.withCopies(copies));
    this.node = el("li.tile", { test: "tile", "data-row": item.row },
      this.box, shown, closer, el("span.caption", name, el("span.how", how), too));
  }

  get ticked() {
    return this.box.checked;
  }

  tick(is) {
    this.box.checked = is;
    this.node.classList.toggle("ticked", is);
  }

  zoom() {
    if (!this.item.image) return;
    this.box.focus();
    openZoom(this.item);
  }
}

/** The view: classes to choose from, tiles to tick, and the bar that says what they are. */
class Grid {
  #page;
  #label = "";
  #classes = [];
  #tiles = [];
  #looked = null;
  #next = 0;
  #at = 0;
  #done = [];
  #request = 0;
  #groups = el("div.groups", { role: "group", "aria-label": t.takesRowsFor });
  #told = el("p", { test: "grid-told" });
  #list = el("ul.tiles", { test: "tiles", "aria-label": t.rowsToTick });
  #more = button("", { click: () => this.#load(), test: "grid-more", hidden: true }, t.showMore);
  #counted = el("span.counted", { test: "grid-count" });
  #all = button(".small-button", { click: () => this.#tickAll(), test: "tick-all" });
  #choice = el("select", { test: "grid-class", change: () => this.#say() });
  #confirm = button(".main", { click: () => this.#send(), test: "grid-confirm" });
  #said = el("span.said", { test: "grid-said" });
  #undo = button(".small-button", { click: () => this.#takeBack(), test: "grid-undo", hidden: true },
    t.undo);
  #bar = el("div.grid-bar", { role: "group", "aria-label": t.whatToDo },
    el("div.bar-line", this.#all, this.#counted, this.#said, this.#undo),
    el("div.bar-line", el("label.field.beside", el("span", t.tickedRowsAre), this.#choice),
      this.#confirm));

  constructor(page) {
    this.#page = page;
    this.node = el("section.card.confirm", { test: "grid" },
      el("h1", t.confirmMany),
      el("p.muted", t.confirmWords),
      this.#groups, this.#told, this.#list, this.#more, el("p.muted.by-keys", HINT), this.#bar);
    this.#list.addEventListener("click", (event) => this.#click(event));
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("focusin", ({ target }) => {
      const place = this.#tiles.findIndex(({ box }) => box === target);
      if (place >= 0) this.#at = place;
    });
    this.#list.addEventListener("mousedown", (event) => event.shiftKey && event.preventDefault());
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Backspace" && !event.repeat && !this.#undo.hidden) this.#takeBack();
    });
    const changed = () => {
      if (this.node.isConnected) this.#options();
      else page.changes.removeEventListener("classes", changed);
    };
    page.changes.addEventListener("classes", changed);
  }

  /** Shows the rows of a class, or of the one that the server thinks best. */
  async open(label = "") {
    this.#label = label;
    this.#tiles = [];
    this.#next = this.#at = 0;
    this.#list.replaceChildren();
    await this.#load();
  }

  async #load() {
    const request = ++this.#request;
    const known = new Set([...waiting(this.#page), ...this.#tiles.map(({ item }) => item.row)]);
    const before = this.#tiles.length;
    for (let tries = 0; tries < TRIES && this.#tiles.length === before; tries += 1) {
      const reply = await this.#ask();
      if (request !== this.#request || !reply) return;
      this.#next += reply.rows.length;
      this.#classes = reply.classes;
      this.#looked = reply.looked_at;
      this.#label = reply.label;
      this.#add(reply.rows.filter(({ item }) => !known.has(item.row)));
      this.#more.hidden = !reply.more || this.#tiles.length >= MOST;
      if (!reply.more) break;
    }
    this.#options();
    if (before && this.#tiles[before]) this.#focus(before);
  }

  /** The next rows; null with a sentence in their place if there can be none. */
  async #ask() {
    const query = new URLSearchParams({ who: this.#page.who, first: this.#next, count: PAGE });
    if (this.#label) query.set("label", this.#label);
    try {
      return await get(`confirm?${query}`);
    } catch (error) {
      this.#more.hidden = true;
      this.#bar.hidden = !this.#tiles.length;
      if (!(error instanceof Refused)) await this.#page.attempt(() => Promise.reject(error));
      else this.#told.replaceChildren(el("span", ENGLISH, error.message), " ", el("a", { href: "#label" }, t.navLabel));
      if (!this.#tiles.length) setTimeout(() => this.node.isConnected && this.#load(), AGAIN);
      return null;
    }
  }

  #add(rows) {
    const tiles = rows.map((row) => new Tile(row));
    this.#tiles.push(...tiles);
    this.#list.append(...tiles.map(({ node }) => node));
    this.#list.classList.toggle("worded", !this.#tiles.some(({ item }) => item.image));
  }

  // ---------------------------------------------------------------- what is shown

  #ticked() {
    return this.#tiles.filter((tile) => tile.ticked);
  }

  /** The classes that the ticked rows may be given, the predicted one first. */
  #options() {
    const kept = this.#choice.value;
    const classes = choicesOf(this.#page.classes, this.#classes.map(({ label }) => label));
    this.#choice.replaceChildren(...classes.map((name) => el("option", { value: name }, labelWords(name))));
    this.#choice.value = this.#ticked().length && classes.includes(kept) ? kept : this.#label;
    this.#say();
  }

  /** Says how many rows there are and are ticked, and what the button would do. */
  #say() {
    this.#groups.replaceChildren(...this.#classes.map((one) => this.#group(one)));
    const now = this.#classes.find(({ label }) => label === this.#label);
    const rows = now?.rows ?? 0;
    if (now) this.#told.textContent = t.gridTold(rows, labelWords(this.#label), now.likely, this.#looked);
    this.#bar.hidden = !this.#tiles.length && this.#undo.hidden;
    this.#list.hidden = !this.#tiles.length;
    this.#sayTicked();
  }

  #sayTicked() {
    const ticked = this.#ticked().length;
    const label = this.#choice.value;
    this.#counted.textContent = t.tickedOf(ticked, this.#tiles.length);
    this.#all.textContent = ticked && ticked === this.#tiles.length ? t.untickAll : t.tickAllShown;
    this.#all.disabled = !this.#tiles.length;
    this.#confirm.disabled = !ticked;
    this.#confirm.textContent = ticked ? t.theseAre(ticked, labelWords(label)) : t.tickThoseOf(labelWords(label));
    this.#tiles.forEach(({ box }, place) => box.setAttribute("tabindex", place === this.#at ? 0 : -1));
  }

  #group({ label, rows }) {
    const node = button(".group", {
      click: () => this.open(label), test: "grid-group", "data-label": label,
      "aria-pressed": String(label === this.#label), title: this.#page.about(label).description || labelWords(label),
    }, el("span.group-name", { dir: "auto" }, labelWords(label)), el("span.number", count(rows)));
    return tint(node, this.#page.about(label).colour);
  }

  // ---------------------------------------------------------------- ticking

  #click(event) {
    const node = event.target.closest(".tile");
    if (!node || event.target.closest(".closer")) return;
    const place = this.#tiles.findIndex((tile) => tile.node === node);
    const tile = this.#tiles[place];
    const is = event.target === tile.box ? tile.ticked : !tile.ticked;
    const from = event.shiftKey ? this.#at : place;
    const [first, last] = [Math.min(from, place), Math.max(from, place)];
    for (const one of this.#tiles.slice(first, last + 1)) one.tick(is);
    this.#focus(place);
  }

  #tickAll() {
    const is = this.#ticked().length < this.#tiles.length;
    for (const tile of this.#tiles) tile.tick(is);
    this.#sayTicked();
  }

  #focus(place) {
    this.#at = place;
    this.#tiles[place]?.box.focus();
    this.#sayTicked();
  }

  #key(event) {
    if (event.altKey || event.metaKey) return;
    const to = this.#target(event.key);
    if (event.ctrlKey && event.key.toLowerCase() === "a") this.#tickAll();
    else if (event.ctrlKey) return;
    else if (event.key.toLowerCase() === "z") this.#tiles[this.#at]?.zoom();
    else if (to === null) return;
    else {
      if (event.shiftKey) this.#tiles[to].tick(this.#tiles[this.#at].ticked);
      this.#focus(to);
    }
    event.preventDefault();
  }

  /** The place of the tile that a key leads to; null if the key leads nowhere. */
  #target(key) {
    const last = this.#tiles.length - 1;
    if (key in STEPS) return Math.min(last, Math.max(0, this.#at + STEPS[key]));
    if (key === "Home") return 0;
    if (key === "End") return last;
    return key in LINES ? this.#beyond(LINES[key]) : null;
  }

  /** The tile above or below, by where the tiles stand. */
  #beyond(way) {
    const boxOf = (place) => this.#tiles[place].node.getBoundingClientRect();
    const here = boxOf(this.#at);
    for (let place = this.#at + way; this.#tiles[place]; place += way) {
      const box = boxOf(place);
      const aside = way * (box.left - here.left);
      if (way * (box.top - here.top) > 1 && aside <= 1 && aside > -here.width / 2) return place;
    }
    return this.#at;
  }

  // ---------------------------------------------------------------- sending

  /** One action on all ticked rows; undo takes it back for all of them. */
  async #send() {
    const tiles = this.#ticked();
    if (!tiles.length) return;
    const [first, ...others] = tiles;
    const label = this.#choice.value;
    const copies = tiles.reduce((sum, { question }) => sum + question.copies, 0);
    const said = [t.rowsAre(tiles.length, label), copies && t.andCopies(copies)].filter(Boolean).join(", ");
    const key = this.#page.session.note("label", label, { ...first.question, copies }, false,
      others.map(({ item }) => item.row));
    this.#done.push({ key, tiles, all: this.#tiles, label: this.#label });
    this.#tiles = this.#tiles.filter((tile) => !tile.ticked);
    this.#removed(tiles);
    this.#said.textContent = "";
    this.#undo.hidden = false;
    this.#options();
    this.#focusList();
    this.#said.textContent = await this.#delivered(key, said);
    if (!this.#tiles.length && !this.#more.hidden) await this.#load();
  }

  /** What became of an action, in words. */
  async #delivered(key, said) {
    try {
      await this.#page.outbox.deliver(key);
      this.#page.saved(t.savedThat(said));
      this.#page.announce("");
      return t.savedThat(said);
    } catch (error) {
      const refused = error instanceof Refused;
      const sentence = refused ? error.message : t.keptThat(said);
      this.#page.tell(sentence);
      if (refused) this.#back(key);
      if (refused) this.#page.session.forget(key);
      return sentence;
    }
  }

  async #takeBack() {
    const key = this.#done.at(-1)?.key;
    if (!key) return;
    this.#back(key);
    this.#said.textContent = "";
    this.#said.textContent = await this.#page.takeBack(key);
    this.#page.announce(this.#said.textContent);
  }

  #removed(tiles) {
    for (const { node } of tiles) node.remove();
    this.#next = Math.max(0, this.#next - tiles.length);
    this.#at = 0;
    this.#classes = this.#counts(-1, tiles);
  }

  /** Shows the rows of an action again, as they were ticked. */
  #back(key) {
    const { tiles, all, label } = this.#done.find((one) => one.key === key);
    this.#done = this.#done.filter((one) => one.key !== key);
    this.#undo.hidden = !this.#done.length;
    if (label !== this.#label) return this.#say();
    // The class may have been left and opened again since, and other rows may have been confirmed.
    const shown = new Set(this.#tiles.map(({ item }) => item.row));
    const back = tiles.filter(({ item }) => !shown.has(item.row));
    const known = all.filter((tile) => back.includes(tile) || this.#tiles.includes(tile));
    this.#tiles = [...known, ...this.#tiles.filter((tile) => !known.includes(tile))];
    this.#classes = this.#counts(1, back);
    this.#list.replaceChildren(...this.#tiles.map(({ node }) => node));
    this.#next += back.length;
    this.#options();
    this.#focusList();
  }

  #counts(sign, tiles) {
    const likely = tiles.filter(({ chance }) => chance >= LIKELY).length;
    return this.#classes.map((one) => (one.label === this.#label
      ? { ...one, rows: one.rows + sign * tiles.length, likely: one.likely + sign * likely } : one));
  }

  #focusList() {
    const here = this.#tiles[this.#at]?.box ?? this.#undo;
    here.focus({ preventScroll: true });
    this.#sayTicked();
  }
}

/** The view of rows by predicted class. */
export async function confirmView(page) {
  const grid = new Grid(page);
  await grid.open();
  return grid.node;
}
