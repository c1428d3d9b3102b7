// Comments on a row: what people remarked, and a field for one's own.

import { Refused } from "./api.js";
import { button, el, keycap } from "./dom.js";
import { t } from "./texts.js";
import { say } from "./translation.js";

const LONGEST = 2_000;

/** The comments of others and of oneself, as a list; null if there are none. */
export function commentList(comments) {
  if (!comments?.length) return null;
  return el("ul.comments", { test: "comments" }, comments.map(({ who, text }) =>
    el("li", el("strong", { dir: "auto" }, who), ": ", el("span", { dir: "auto" }, text))));
}

/** Keeps a comment; null once it is taken or safely kept, else the sentence why it is not. */
async function keep(page, question, text) {
  const { row, id } = question.item;
  const said = text ? t.commentWord : t.commentGone;
  const key = page.outbox.put("comment", { who: page.who, row, text }, t.rowAnd(id, said));
  page.session.remember(key, said, question);
  const others = (question.comments ?? []).filter(({ who }) => who !== page.who);
  question.comments = text ? [...others, { who: page.who, text }] : others;
  try {
    const reply = await page.outbox.deliver(key);
    if (reply) question.comments = reply.comments;
    page.saved(t.savedOnRow(said, id));
    return null;
  } catch (error) {
    if (!(error instanceof Refused)) return void page.tell(t.keptThat(said));
    page.session.forget(key);
    return error.message;
  }
}

/** The comments on the row of a question; `open()` is for writing, `flush()` keeps what is written. */
export class CommentBox {
  #page;
  #question = null;
  #field = null;

  constructor(page) {
    this.#page = page;
    this.node = el("div.commenting");
  }

  /** Shows the comments on a row. */
  show(question) {
    this.#question = question;
    this.#field = null;
    this.#render();
  }

  /** Lets the person write. */
  open() {
    if (this.#field) return this.#field.focus();
    const own = this.#own();
    this.#field = el("textarea", {
      rows: 2, maxlength: LONGEST, dir: "auto", test: "comment-input",
      keydown: (event) => this.#press(event),
    });
    this.#field.value = own;
    this.#render();
    this.#field.focus();
    return this.#field.scrollIntoView({ block: "nearest" });
  }

  /** Keeps what was written and not saved yet, as before an answer. */
  flush() {
    const text = this.#field?.value.trim();
    if (text !== undefined && text !== this.#own()) keep(this.#page, this.#question, text);
    this.#field = null;
  }

  #own() {
    return this.#question.comments?.find(({ who }) => who === this.#page.who)?.text ?? "";
  }

  #press(event) {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key) || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") this.#save();
    else this.#close();
  }

  #close() {
    this.#field = null;
    this.#render();
    this.node.querySelector("button")?.focus();
  }

  async #save() {
    const question = this.#question;
    const text = this.#field.value.trim();
    if (text === this.#own()) return this.#close();
    const keeping = keep(this.#page, question, text);
    this.#close();
    const refused = await keeping;
    if (question !== this.#question) return null;
    if (!refused) return this.#field || this.#render();
    this.open();
    this.#field.value = text;
    const problem = el("p.problem", { role: "alert" });
    say(problem, refused);
    return this.node.append(problem);
  }

  #render() {
    const had = this.node.contains(document.activeElement);
    const list = commentList(this.#question.comments);
    const words = this.#own() ? t.changeComment : t.commentOnRow;
    const write = this.#field
      ? [el("label.field", el("span", t.yourComment), this.#field),
        button(".small-button", { click: () => this.#save(), test: "comment-save" }, t.saveComment)]
      : [button(".link", { click: () => this.open(), test: "comment", "aria-keyshortcuts": "M" },
        words), keycap("M")];
    this.node.replaceChildren(...[list, el("div.writing", write)].filter(Boolean));
    if (had) this.node.querySelector("textarea, button")?.focus();
  }
}
