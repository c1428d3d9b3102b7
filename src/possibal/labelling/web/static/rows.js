// Every row: found, filtered and sorted; confirmed or corrected many at once; labels to look at again.

import { get } from "./api.js";
import { tint } from "./classes.js";
import { button, chanceBar, chanceWords, el, select } from "./dom.js";
import { change } from "./history.js";
import { thumbnail, words } from "./item.js";
import { choicesOf, shown as labelWords } from "./labels.js";
import { chosenQuestion } from "./session.js";
import { t } from "./texts.js";

const PAGE = 50;
const MOST = 200;
const TYPING = 250;
const SHORT = 200;
const SOON = 1_000; // the model is looked at again while it learns
const HINT = t.rowsHint;
const STATES = [
  ["", t.allRows], ["open", t.withoutLabel], ["labelled", t.labelled],
  ["again", t.perhapsWrong], ["differ", t.peopleDiffer], ["unsure", t.notSure], ["bad", t.dropped],
];
const SORTS = [["file", t.asInFile], ["likely", t.likeliestFirst], ["doubtful", t.leastCertain]];
const NOTES = { differ: t.differWord, unsure: t.notSureWord, bad: t.droppedWord };
const AGAIN = t.othersSpeak;
const WAYS = { ArrowUp: -1, ArrowDown: 1 };

/** What the model makes of a row, or what all other labels say of a labelled one. */
function modelCell({ predicted, other, check }) {
  if (check) return el("span.muted", t.checkNotShown);
  const shown = other ?? predicted;
  if (!shown) return el("span.muted", t.nothingYet);
  return el("span.verdict", { test: other ? "row-other" : "row-predicted" },
    other && el("span.tag.warn", t.lookAgain),
    el("span", { dir: "auto" }, labelWords(shown.label)), chanceBar(shown.chance),
    el("span.muted", chanceWords(shown.chance)));
}

/** A row: a box to tick, what it is, its label and who gave it, and what the model makes of it. */
class Line {
  constructor(page, row, open) {
    Object.assign(this, row);
    const { item, label, people, state, check, copies, copy_of: leader } = row;
    this.question = chosenQuestion(item, copies);
    const about = item.image ? "" : `, ${words(item, SHORT)}`;
    this.box = el("input", {
      type: "checkbox", tabindex: -1, test: "row-box", disabled: check,
      "aria-label": `${t.row(item.id)}${about}${label ? `, ${t.labelledAs(labelWords(label))}` : ""}`,
      title: check && t.checkOneByOne,
    });
    this.link = button(".link", {
      tabindex: -1, click: () => open(this), test: "row-open", "aria-label": t.openRow(item.id),
    }, item.id);
    const note = NOTES[state];
    const given = label !== null
      ? [tint(el("span.tag.given", { dir: "auto" }, labelWords(label)), page.about(label).colour),
        people.length > 0 && el("span.muted", { dir: "auto" }, t.byPeople(people.join(", ")))]
      : el("span.muted", note ?? t.noLabel);
    this.node = el("li.table-row", { test: "table-row", "data-row": item.row, "data-state": state },
      this.box,
      el("span.row-name", this.link, check && el("span.tag", t.checkRow),
        leader !== null && el("span.tag", { dir: "auto" }, t.copyOf(leader)),
        copies > 0 && el("span.tag", t.copies(copies))),
      item.image ? thumbnail(item) : el("span.row-text", { dir: "auto" }, words(item, SHORT)),
      el("span.row-label", { test: "row-label" }, given),
      el("span.row-model", modelCell(row)));
  }

  get ticked() {
    return this.box.checked;
  }

  tick(is) {
    if (this.check) return;
    this.box.checked = is;
    this.node.classList.toggle("ticked", is);
  }
}

class RowsView {
  #page;
  #lines = [];
  #wanted = { text: "", label: "", state: "", sort: "file" };
  #count = 0;
  #at = 0;
  #done = [];
  #request = 0;
  #typing = null;
  #soon = null;
  #sort;
  #told = el("p", { test: "rows-told", role: "status" });
  #list = el("ul.table-rows", { test: "table-rows", "aria-label": t.navRows });
  #more = button("", { click: () => this.#load(false), test: "rows-more", hidden: true }, t.showMore);
  #counted = el("span.counted", { test: "rows-count" });
  #all = button(".small-button", { click: () => this.#tickAll(), test: "rows-all" });
  #isChosen = false;
  #choice = el("select", {
    test: "rows-class", change: () => { this.#isChosen = true; this.#say(); },
  });
  #give = button(".main", { click: () => this.#send(), test: "rows-give" });
  #undo = button(".small-button", { click: () => this.#takeBack(), test: "rows-undo", hidden: true }, t.undo);
  #bar = el("div.grid-bar", { role: "group", "aria-label": t.whatToDo },
    el("div.bar-line", this.#all, this.#counted, this.#undo),
    el("div.bar-line", el("label.field.beside", el("span", t.tickedRowsAre), this.#choice), this.#give));

  constructor(page) {
    this.#page = page;
    const sought = page.progress?.sought;
    const sorts = sought ? [...SORTS, ["sought", t.soughtFirst(sought)]] : SORTS;
    this.#sort = select(t.order, "rows-sort", sorts, this.#choose("sort"));
    const search = el("input", {
      type: "search", test: "rows-text",
      input: () => {
        clearTimeout(this.#typing);
        this.#typing = setTimeout(() => this.#choose("text")(search.value), TYPING);
      },
    });
    const seesOthers = page.access.isOwner || !page.campaign.blind;
    const states = STATES.filter(([state]) => seesOthers || !["again", "differ"].includes(state));
    const classes = [["", t.allClasses], ...page.classes.map((name) => [name, name])];
    this.node = el("section.card.rows", { test: "rows" }, el("header", el("h1", t.allRows), page.access.isOwner && button(".quiet", {
        click: () => page.download("rows.csv"), test: "rows-download",
        title: t.rowsFile,
      }, t.downloadAll)),
      el("div.filters", el("label.field.grow", el("span", t.searchRows), search),
        select(t.show, "rows-state", states, this.#choose("state")),
        select(t.classWord, "rows-label", classes, this.#choose("label")),
        seesOthers && this.#sort),
      this.#told, this.#list, this.#more, el("p.muted.by-keys", HINT), this.#bar);
    this.#list.addEventListener("click", (event) => this.#click(event));
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("mousedown", (event) => event.shiftKey && event.preventDefault());
    this.node.addEventListener("keydown", (event) => {
      const isField = event.target.matches("input[type=search], select");
      if (event.key === "Backspace" && !isField && !event.repeat && !this.#undo.hidden) this.#takeBack();
    });
  }

  async begin() {
    await this.#load(true);
    return this.node;
  }

  // ---------------------------------------------------------------- what is shown

  #choose(name) {
    return (value) => {
      this.#wanted[name] = value;
      // Those contradicted most come first, unless another order was chosen.
      if (value === "again" && this.#wanted.sort === "file")
        this.#wanted.sort = this.#sort.querySelector("select").value = "likely";
      this.#load(true);
    };
  }

  /** Loads the first rows, or those that follow; `again` as many as are shown, ticked as they are. */
  async #load(isAnew, again = false) {
    const asked = ++this.#request;
    clearTimeout(this.#soon);
    this.#list.setAttribute("aria-busy", true);
    const first = isAnew ? 0 : this.#lines.length;
    const many = again ? Math.min(MOST, Math.max(PAGE, this.#lines.length)) : PAGE;
    const query = new URLSearchParams({ ...this.#wanted, first, count: many });
    for (const [name, value] of [...query]) if (value === "") query.delete(name);
    const reply = await this.#page.attempt(() => get(`rows?${query}`));
    if (asked !== this.#request) return;
    this.#list.setAttribute("aria-busy", false);
    if (!reply) return;
    const ticked = new Set(again ? this.#ticked().map(({ item }) => item.row) : []);
    const place = again ? this.#at : 0;
    const isHere = this.#list.contains(document.activeElement);
    const lines = reply.rows.map((row) => new Line(this.#page, row, (line) => this.#open(line)));
    if (isAnew) {
      this.#lines = [];
      this.#list.replaceChildren();
      this.#at = Math.max(0, Math.min(place, lines.length - 1));
    }
    for (const line of lines) line.tick(ticked.has(line.item.row));
    this.#lines.push(...lines);
    this.#list.append(...lines.map(({ node }) => node));
    this.#count = reply.count;
    this.#more.hidden = this.#lines.length >= reply.count;
    this.#tell(reply);
    this.#say();
    if (first && lines.length) this.#focus(first);
    else if (again && isHere) this.#focus(this.#at);
    if (reply.fitting) this.#lookSoon();
  }

  /** Looks again while the model learns, but moves no row while some are ticked. */
  #lookSoon() {
    this.#soon = setTimeout(() => {
      if (!this.node.isConnected) return;
      if (this.#ticked().length) this.#lookSoon();
      else this.#load(true, true);
    }, SOON);
  }

  #tell({ count: many, looked_at: looked }) {
    const all = this.#page.campaign.rows;
    const rows = many === all ? t.rows(all) : t.rowsOf(many, all);
    const part = looked === null ? ""
      : ` ${t.modelLooked(looked)}`;
    const about = this.#wanted.state === "again" && many ? ` ${AGAIN}` : "";
    this.#told.textContent = `${many ? rows : t.noRowFits}.${part}${about}`;
  }

  #ticked() {
    return this.#lines.filter((line) => line.ticked);
  }

  /** Says how many rows are ticked, and what the button would do. */
  #say() {
    const ticked = this.#ticked();
    const said = this.#lines.flatMap(({ label, other, predicted }) => [label, (other ?? predicted)?.label]);
    const classes = choicesOf(this.#page.classes, said);
    const kept = this.#choice.value;
    const likely = new Set(ticked.map(({ other, predicted }) => (other ?? predicted)?.label ?? ""));
    this.#choice.replaceChildren(...classes.map((name) => el("option", { value: name }, labelWords(name))));
    const guess = likely.size === 1 && classes.includes([...likely][0]) ? [...likely][0] : kept;
    const choice = this.#isChosen ? kept : guess;
    this.#choice.value = classes.includes(choice) ? choice : classes[0];
    const open = this.#lines.filter(({ check }) => !check);
    this.#counted.textContent = t.shownTicked(ticked.length, this.#lines.length);
    this.#all.textContent = ticked.length && ticked.length === open.length ? t.untickAll : t.tickAllShown;
    this.#all.disabled = !open.length;
    this.#give.disabled = !ticked.length;
    this.#give.textContent = ticked.length ? t.theseAre(ticked.length, labelWords(this.#choice.value)) : t.tickSome;
    this.#lines.forEach(({ box, link }, place) => {
      box.setAttribute("tabindex", place === this.#at ? 0 : -1);
      link.setAttribute("tabindex", place === this.#at ? 0 : -1);
    });
  }

  // ---------------------------------------------------------------- ticking

  #click(event) {
    const place = this.#lines.findIndex(({ node }) => node.contains(event.target));
    if (place < 0 || event.target.closest("button")) return;
    const line = this.#lines[place];
    const is = event.target === line.box ? line.ticked : !line.ticked;
    const from = event.shiftKey ? this.#at : place;
    for (let one = Math.min(from, place); one <= Math.max(from, place); one += 1) this.#lines[one].tick(is);
    this.#focus(place);
  }

  #tickAll() {
    const is = this.#lines.some((line) => !line.ticked && !line.check);
    for (const line of this.#lines) line.tick(is);
    this.#say();
  }

  #focus(place) {
    this.#at = place;
    const line = this.#lines[place];
    (line?.check ? line.link : line?.box)?.focus();
    this.#say();
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && event.target.matches("input")) this.#open(this.#lines[this.#at]);
    else if (event.key in WAYS) {
      const to = Math.min(this.#lines.length - 1, Math.max(0, this.#at + WAYS[event.key]));
      if (event.shiftKey) this.#lines[to].tick(this.#lines[this.#at].ticked);
      this.#focus(to);
    } else return;
    event.preventDefault();
  }

  // ---------------------------------------------------------------- changing

  #open(line) {
    return this.#page.attempt(() => change(this.#page, line.item.row, () => this.#load(true, true)));
  }

  /** What an answer about ticked rows is: an owner's word overrules that of others. */
  #kind(ticked) {
    if (ticked.every(({ label }) => label === null)) return "label";
    const { who, access, campaign } = this.#page;
    const isOthers = ticked.some(({ people }) => people.some((one) => one !== who));
    return isOthers && access.isOwner && campaign.answers_per_row === 1 ? "settle" : "edit";
  }

  /** One action on all ticked rows; undo takes it back for all of them. */
  async #send() {
    const ticked = this.#ticked();
    if (!ticked.length) return;
    const [first, ...others] = ticked;
    const kind = this.#kind(ticked);
    const isFresh = kind === "label" && this.#page.campaign.answers_per_row === 1;
    const copies = ticked.reduce((sum, line) => sum + line.copies, 0);
    const places = others.map(({ item }) => item.row);
    const key = await this.#page.give(kind, this.#choice.value, { ...first.question, copies }, places, isFresh);
    if (!key) return;
    this.#done.push(key);
    this.#isChosen = this.#undo.hidden = false;
    await this.#load(true, true);
    this.#undo.focus({ preventScroll: true });
  }

  async #takeBack() {
    const key = this.#done.pop();
    this.#undo.hidden = !this.#done.length;
    this.#page.tell(await this.#page.takeBack(key));
    await this.#load(true, true);
    this.#focus(0);
  }
}

/** The view of all rows. */
export const rowsView = (page) => new RowsView(page).begin();
