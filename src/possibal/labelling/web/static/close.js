// Rows close to one: shown to be ticked and labelled together, and never labelled without that.

import { get } from "./api.js";
import { button, chanceWords, el, openDialog } from "./dom.js";
import { thumbnail, words } from "./item.js";
import { choicesOf, shown as labelWords } from "./labels.js";
import { chosenQuestion } from "./session.js";
import { t } from "./texts.js";
import { openZoom } from "./zoom.js";

const PAUSE = 500;
const SHORT = 150;
const NONE = t.noneClose;

/** What there is close to a row. */
const closeTo = (page, row) => get(`rows/${row}/close?who=${encodeURIComponent(page.who)}`);

/** A row to tick. */
class Tile {
  constructor({ item, chance, copies }, isOwn, ticked) {
    this.item = item;
    this.copies = copies;
    this.box = el("input", { type: "checkbox", test: "close-tick", change: () => this.#changed(ticked) });
    const closer = item.image && button(".closer", {
      click: () => openZoom(item), "aria-label": t.lookCloserAt(item.id), title: t.lookCloser,
    }, "⤢");
    const shown = item.image
      ? thumbnail(item, t.pictureOfRow(item.id))
      : el("span.card-text", { dir: "auto" }, words(item, SHORT));
    const how = isOwn ? t.rowItself : chance && chanceWords(chance);
    this.label = el("label.tile", this.box, shown,
      el("span.caption", el("span.tile-name", { dir: "auto", title: item.id }, item.id),
        how && el("span.how", how), copies > 0 && el("span", t.withCopies(copies))));
    this.node = el("li.beside-closer", { test: "close-row", "data-row": item.row }, this.label, closer);
  }

  get ticked() {
    return this.box.checked;
  }

  tick(is) {
    this.box.checked = is;
    this.label.classList.toggle("ticked", is);
  }

  #changed(ticked) {
    this.label.classList.toggle("ticked", this.box.checked);
    ticked();
  }
}

/** The window in which rows are ticked and given one class; `done(key, rows)` once that is kept. */
function openRows(page, { item, label, own, rows }, done) {
  const say = () => {
    const many = tiles.filter(({ ticked }) => ticked).length;
    const chosen = choice.value;
    all.textContent = many === tiles.length ? t.untickAll : t.tickAll;
    counted.textContent = t.tickedOf(many, tiles.length);
    give.disabled = !many || !chosen;
    const tick = chosen ? t.tickThoseOf(labelWords(chosen)) : t.tickAndChoose;
    give.textContent = many && chosen ? t.theseAre(many, labelWords(chosen)) : tick;
  };
  const tickAll = () => {
    const is = tiles.some(({ ticked }) => !ticked);
    for (const tile of tiles) tile.tick(is);
    say();
  };
  const send = async () => {
    const [first, ...others] = tiles.filter(({ ticked }) => ticked);
    const copies = [first, ...others].reduce((sum, tile) => sum + tile.copies, 0);
    const question = chosenQuestion(first.item, copies);
    const places = others.map((tile) => tile.item.row);
    const chosen = choice.value;
    box.close();
    const key = await page.give("label", chosen, question, places, true);
    if (key) done(key, [first.item.row, ...places]);
  };
  const tiles = [...(own ? [new Tile(own, true, say)] : []),
    ...rows.map((row) => new Tile(row, false, say))];
  const all = button(".small-button", { click: tickAll, test: "close-all" });
  const counted = el("span.counted", { test: "close-count", role: "status" });
  const choice = el("select", { test: "close-class", change: say },
    !label && el("option", { value: "" }, t.chooseClass),
    choicesOf(page.classes, [label]).map((name) => el("option", { value: name, selected: name === label }, labelWords(name))));
  const give = button(".main", { click: send, test: "close-give" });
  const kind = tiles.some((tile) => tile.item.image) ? "" : ".worded";
  const guess = label && [" ", t.modelTakesThemFor(el("strong", { dir: "auto" }, labelWords(label)))];
  const box = openDialog(t.rowsCloseTo(item.id),
    el("p.muted", { test: "close-told" }, t.closeAlike, guess,
      " ", t.lookFirst),
    el(`ul.tiles${kind}`, { "aria-label": t.rowsToTick }, tiles.map(({ node }) => node)),
    el("div.close-bar", el("div.bar-line", all, counted),
      el("div.bar-line", el("label.field.beside", el("span", t.tickedRowsAre), choice), give)));
  say();
  tiles[0].box.focus();
}

/** The offer to label the rows close to one; `done(key, rows)` is told of what was labelled. */
export class CloseOffer {
  #page;
  #done;
  #seen;
  #asked = 0;
  #timer = null;

  /** `seen(rows)` is told which rows are close whenever that changes. */
  constructor(page, done, seen = () => {}) {
    this.#page = page;
    this.#done = done;
    this.#seen = seen;
    this.node = el("div.close-offer", { test: "close-offer", hidden: true });
  }

  /** Takes the offer away. */
  clear() {
    this.#asked += 1;
    clearTimeout(this.#timer);
    this.node.hidden = true;
    this.node.replaceChildren();
    this.#seen([]);
  }

  /** Offers the rows close to one, once it has been in sight for a moment. */
  show(item) {
    this.clear();
    const asked = this.#asked;
    this.#timer = setTimeout(() => this.#ask(item, asked), PAUSE);
  }

  /** Opens the rows close to one, or says that there are none. */
  async open(item) {
    const reply = await this.#page.attempt(() => closeTo(this.#page, item.row));
    if (reply?.rows.length) openRows(this.#page, { ...reply, item }, this.#done);
    else if (reply) this.#page.tell(NONE);
  }

  async #ask(item, asked) {
    const reply = await closeTo(this.#page, item.row).catch(() => null);
    if (!reply?.rows.length || asked !== this.#asked) return;
    const many = reply.rows.length;
    this.node.replaceChildren(button("", { click: () => this.open(item), test: "close-open" },
      t.closeOffer(many)));
    this.node.hidden = false;
    this.#seen(reply.rows.map((row) => row.item.row));
  }
}
