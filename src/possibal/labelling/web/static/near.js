// Rows that are nearly the same as the one just labelled: offered, never decided.

import { get } from "./api.js";
import { button, el } from "./dom.js";
import { thumbnail, words } from "./item.js";
import { shown } from "./labels.js";
import { t } from "./texts.js";

/** The offer to give other rows the label that a row was just given. */
export class NearOffer {
  #page;
  #asked = 0;

  constructor(page) {
    this.#page = page;
    this.node = el("section.card.near-offer", {
      test: "near-offer", "aria-labelledby": "near-title", hidden: true,
    });
  }

  /** Takes the offer away. */
  clear() {
    this.#asked += 1;
    this.node.hidden = true;
    this.node.replaceChildren();
  }

  /** Offers what is nearly the same as the row of a question that was given this label. */
  async show({ item }, label) {
    this.clear();
    const asked = this.#asked;
    const who = encodeURIComponent(this.#page.who);
    const reply = await get(`rows/${item.row}/near?who=${who}`).catch(() => null);
    if (!reply?.items.length || asked !== this.#asked) return;
    this.#render(reply.items, label);
    const many = t.nearlySame(reply.items.length);
    const look = () => this.node.querySelector("input")?.focus();
    this.#page.statusLine.append(" ", button(".link", { test: "near-look", click: look }, many));
    this.#page.announce(t.seeBelow(many));
  }

  #render(items, label) {
    const boxes = items.map((item) => el("input", {
      type: "checkbox", value: item.row, test: "near-tick", change: () => count(),
    }));
    const ticked = () => items.filter((_, place) => boxes[place].checked);
    const give = button(".main", { test: "near-give", click: () => this.#give(ticked(), label) });
    const count = () => {
      const many = ticked().length;
      give.disabled = !many;
      give.textContent = many ? t.labelRowsAs(many, shown(label)) : t.tickSame;
    };
    count();
    const line = (item, place) => el("li", el("label.tick", boxes[place],
      item.image
        ? thumbnail(item, t.pictureOfRow(item.id))
        : el("span", { dir: "auto" }, words(item, 200)),
      el("small", { dir: "auto" }, t.row(item.id))));
    this.node.replaceChildren(
      el("header", el("h2", { id: "near-title" }, t.nearTitle),
        button(".quiet", { test: "near-no", click: () => this.clear() }, t.no)),
      el("p.muted", t.youChose(el("strong", { dir: "auto" }, shown(label)))),
      el("ul.near-list", items.map(line)), give);
    this.node.hidden = false;
  }

  /** One action for all that are ticked, which is taken back as one. */
  async #give([first, ...others], label) {
    this.clear();
    const reply = await this.#page.attempt(() => this.#page.rowOf(first.row));
    if (!reply) return;
    // How many copies the others have is not known here: better no number than a wrong one.
    const question = others.length ? { ...reply.question, copies: 0 } : reply.question;
    await this.#page.give("label", label, question, others.map(({ row }) => row));
  }
}
