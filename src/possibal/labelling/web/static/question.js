// The labelling view: the row, its buttons, and why it was chosen.

import { classButtons, classForm, openClasses } from "./classes.js";
import { NearOffer } from "./near.js";
import { copiesOf, saidOf } from "./session.js";
import { bar, button, el, keycap, openDialog, percent } from "./dom.js";
import { showItem, smallCard, words } from "./item.js";

const FLASH = 220;
const MANY = 8;
const TAGS = { again: "Asked again", chosen: "You chose this row" };

const OTHERS = [
  ["skip", "S", "Skip", "come back later"],
  ["unsure", "U", "Not sure", "ask somebody else"],
  ["bad", "B", "Bad item", "drop it"],
];

function flash(node) {
  node?.classList.add("flash");
  setTimeout(() => node?.classList.remove("flash"), FLASH);
}

/** The view of one question at a time. */
export class QuestionView {
  #page;
  #session = null;
  #question = null;
  #card = el("section.card.row", { test: "question", "aria-label": "The row to label" });
  #classes = el("div.classes", { role: "group", "aria-label": "Classes" });
  #others = el("div.others", { role: "group", "aria-label": "Other answers" });
  #why = el("section.why.card", { test: "why", "aria-labelledby": "why-title", hidden: true });
  #answers = el("div.answers", this.#classes, this.#others);
  #near;

  constructor(page) {
    this.#page = page;
    const others = OTHERS.map(([kind, key, name, meaning]) =>
      button(".other", {
        test: kind, "aria-keyshortcuts": key, click: (event) => this.#give(kind, null, event),
      }, keycap(key), el("span", name, el("small", meaning))));
    const undo = button(".other", {
      test: "undo", "aria-keyshortcuts": "Backspace", click: (event) => this.#session.undo(event),
    }, keycap("Bksp"), el("span", "Undo", el("small", "the last answer")));
    this.#others.append(...others, undo);
    this.#near = new NearOffer(page);
    this.node = el("div.labelling", this.#card, this.#answers, this.#near.node, this.#why);
    this.renderClasses();
  }

  /** Lets the buttons act on this session. */
  attach(session) {
    this.#session = session;
  }

  /** Acts on a key; whether the key means something here. */
  press({ act, place }, event) {
    const { classes } = this.#page;
    if (act === "undo") this.#session.undo(event);
    else if (act === "why") this.toggleWhy();
    else if (act) this.#give(act, null, event);
    else if (place < classes.length) this.#give("label", classes[place], event);
    else return false;
    return true;
  }

  renderClasses() {
    const open = () => this.#addClass();
    const change = () => openClasses(this.#page);
    const more = this.#page.access.isOwner && el("div.more-classes",
      button(".add", { test: "add-class", click: open }, "+ Add a class"),
      button(".add", { test: "edit-classes", click: change, title: "Rename, describe, merge, remove" },
        "Classes…"));
    const give = (label, event) => this.#give("label", label, event);
    this.#classes.classList.toggle("many", this.#page.classes.length > MANY);
    this.#classes.replaceChildren(...classButtons(this.#page, give, true), ...[more].filter(Boolean));
  }

  /** Shows a question as soon as all of it can be seen, or why there is none. */
  async show(question, reason) {
    this.#question = question;
    if (!question) return this.#showNone(reason);
    const { item, mine, source, copies } = question;
    const { node, ready } = showItem(item);
    if (ready) await ready;
    if (this.#question !== question) return;
    this.#answers.classList.remove("idle");
    this.#card.dataset.row = item.row;
    this.#card.replaceChildren(
      el("header",
        el("h1", "Row ", el("span", { test: "row-id", dir: "auto" }, item.id)),
        TAGS[source] && el("span.tag", TAGS[source]),
        copies > 0 && el("span.tag", { test: "copies" }, `Stands for ${copiesOf(copies)}`),
        mine && el("span.tag", { test: "mine" }, "You said: ", saidOf(mine.kind, mine.label))),
      node);
    this.#renderWhy();
    this.#page.announce(`Row ${item.id}. ${words(item)}`);
  }

  /** Offers what is nearly the same as a row that was labelled; after anything else nothing. */
  answered(kind, label, question) {
    if (kind === "label") this.#near.show(question, label);
    else this.#near.clear();
  }

  /** Marks that the next question is slow to come. */
  waiting(is) {
    this.#card.classList.toggle("waiting", is);
    this.#card.setAttribute("aria-busy", String(is));
  }

  toggleWhy() {
    this.#page.storage.write("why", !this.#whyShown());
    this.#renderWhy();
  }

  /** Shows the reasons of the question anew. */
  showWhy() {
    this.#renderWhy();
  }

  #whyShown() {
    return this.#page.storage.read("why", true);
  }

  #give(kind, label, event) {
    const node = label === null
      ? this.#others.querySelector(`[data-testid=${kind}]`)
      : [...this.#classes.children].find(({ dataset }) => dataset.label === label);
    this.#session.answer(kind, label, event);
    flash(node);
  }

  #showNone(reason) {
    delete this.#card.dataset.row;
    this.#answers.classList.add("idle");
    this.#card.replaceChildren(el("div.none", { test: "no-question" },
      el("h1", "No row to label right now"),
      el("p", reason ?? "There is nothing more to ask."),
      el("p.links",
        el("a", { href: "#history" }, "See what was answered"),
        el("a", { href: "#map" }, "Choose a row on the map"),
        this.#page.access.isOwner && button(".link", { click: () => this.#page.download() },
          "Download the labels")),
      button("", { click: () => this.#session.ask(), test: "ask-again" }, "Look again")));
    this.#renderWhy();
    this.#page.announce(reason ?? "No row to label right now");
  }

  #renderWhy() {
    const shown = this.#whyShown();
    const toggle = button(".quiet", {
      test: "why-toggle", "aria-expanded": String(shown), "aria-keyshortcuts": "W",
      click: () => this.toggleWhy(),
    }, shown ? "Hide" : "Show", " ", keycap("W"));
    const focused = this.#why.contains(document.activeElement);
    this.#why.hidden = !this.#question;
    this.#why.replaceChildren(el("header", el("h2", { id: "why-title" }, "Why this one?"), toggle));
    if (shown && this.#question) this.#why.append(...this.#reasons(this.#question.why));
    if (focused) toggle.focus();
  }

  /** The sentence, the predicted label with its necessity, and the nearest labelled rows. */
  #reasons({ sentence, predicted_label: label, necessity, near }) {
    const lean = ["The model leans to ", el("strong", { dir: "auto" }, label), ", certainty"];
    // A spare question that an earlier version of the page kept may lack the numbers.
    const sure = typeof necessity === "number" && el("p.certainty", { test: "certainty" },
      el("span", label === null ? "Certainty" : lean),
      bar(necessity), el("span.number", percent(necessity)));
    const alike = near.length > 0 && [
      el("h3", "Labelled rows most like it"),
      el("ul.near", near.map(({ item, label }) => smallCard(item, label))),
    ];
    return [el("p", { test: "why-sentence" }, sentence), sure, alike].flat().filter(Boolean);
  }

  #addClass() {
    const box = openDialog("Add a class", classForm(this.#page, () => box.close()));
    box.querySelector("input").focus();
  }
}
