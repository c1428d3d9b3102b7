// The labelling view: the row, its buttons, and why it was chosen.

import { LabelPicker, classForm, openClasses } from "./classes.js";
import { CloseOffer } from "./close.js";
import { CommentBox } from "./comments.js";
import { NearOffer } from "./near.js";
import { saidOf } from "./session.js";
import { ENGLISH, bar, button, chanceBar, decimal, el, keycap, openDialog, percent } from "./dom.js";
import { isSeveral, shown } from "./labels.js";
import { lookCloser, showItem, smallCard, words } from "./item.js";
import { t } from "./texts.js";

const FLASH = 220;
const MANY = 8;
const SETTLED = 0.9;
const OPEN = 0.2;
const TAGS = { again: t.askedAgain, chosen: t.youChoseRow };

const ASK_OTHERS = t.askSomebody;
const OTHERS = [
  ["skip", "S", t.skip, t.comeBackLater],
  ["unsure", "U", t.notSure, ASK_OTHERS],
  ["bad", "B", t.badItem, t.dropIt],
];

function flash(node) {
  node?.classList.add("flash");
  setTimeout(() => node?.classList.remove("flash"), FLASH);
}

/** The chance that the predicted label is right, its range, and where these numbers come from. */
function chancePart(page, { label, chance, necessity, measured, members = [] }) {
  const between = t.range(percent(chance.low), percent(chance.high));
  const from = measured
    ? t.measuredBy(measured)
    : t.chanceOwn;
  return [
    el("p.certainty", { test: "certainty" },
      el("span", t.chanceThat(el("strong", { dir: "auto" }, shown(label)))), chanceBar(chance),
      el("span.number", `${percent(chance.value)} (${between})`)),
    el("details.numbers", { test: "numbers" }, el("summary", t.numbersMean), el("p", from),
      el("p", t.necessity(decimal(necessity, 2)))),
    members.length > 0 && memberList(page, members),
  ].filter(Boolean);
}

/** Of each class how likely the row has it, and how far that is settled. */
function memberList(page, members) {
  const how = (necessity) => (necessity >= SETTLED && t.memberSettled)
    || (necessity >= OPEN ? t.memberMayChange : t.memberOpen);
  const line = ({ label, chance, necessity }) => el("li", { test: "member" },
    el("span.label", { dir: "auto", title: label }, label), bar(chance, page.about(label).colour),
    el("span.number", percent(chance)), el("small.muted", how(necessity)));
  return [el("h3", t.eachClass), el("ul.balance.members", members.map(line))];
}

/** The view of one question at a time. */
export class QuestionView {
  #page;
  #session = null;
  #question = null;
  #isIdle = false;
  #picker = null;
  #card = el("section.card.row", { test: "question", "aria-label": t.rowToLabel });
  #classes = el("div.classes", { role: "group", "aria-label": t.classes });
  #others = el("div.others", { role: "group", "aria-label": t.otherAnswers });
  #why = el("section.why.card", { test: "why", "aria-labelledby": "why-title", hidden: true });
  #answers = el("div.answers", this.#classes, this.#others);
  #comments;
  #near;
  #close;

  constructor(page) {
    this.#page = page;
    const others = OTHERS.map(([kind, key, name, meaning]) =>
      button(".other", {
        test: kind, "aria-keyshortcuts": key, click: (event) => this.#give(kind, null, event),
      }, keycap(key), el("span", name, el("small", meaning))));
    const undo = button(".other", {
      test: "undo", "aria-keyshortcuts": "Backspace", click: (event) => this.#session.undo(event),
    }, keycap(t.backspace), el("span", t.undoShort, el("small", t.lastAnswer)));
    this.#others.append(...others, undo);
    this.#comments = new CommentBox(page);
    this.#near = new NearOffer(page);
    this.#close = new CloseOffer(page, (_, rows) => {
      if (rows.includes(this.#question?.item.row)) this.#session.ask();
      else if (this.#question) this.#close.show(this.#question.item);
    });
    this.node = el("div.labelling", this.#card, this.#answers, this.#near.node, this.#close.node,
      this.#why);
    this.renderClasses();
  }

  /** Lets the buttons act on this session. */
  attach(session) {
    this.#session = session;
  }

  /** Says what becomes of a row that one is not sure about: alone there is nobody else to ask. */
  renderOthers() {
    const words = this.#page.isAlone ? t.askAtEnd : ASK_OTHERS;
    this.#others.querySelector("[data-testid=unsure] small").textContent = words;
  }

  /** Acts on a key; whether the key means something here. */
  press({ act, place }, event) {
    const { classes } = this.#page;
    if (act === "undo") this.#session.undo(event);
    else if (act === "why") this.toggleWhy();
    else if (act === "zoom") this.#question && lookCloser(this.#question.item);
    else if (act === "comment") this.#question && this.#comments.open();
    else if (act === "guidelines") this.#page.guidelines.show();
    else if (act === "confirm") this.#picker.confirm(event);
    else if (act) this.#give(act, null, event);
    else if (place in classes) this.#picker.press(classes[place], event);
    else return false;
    return true;
  }

  renderClasses() {
    const open = () => this.#addClass();
    const change = () => openClasses(this.#page);
    const more = this.#page.access.isOwner && el("div.more-classes",
      button(".add", { test: "add-class", click: open }, t.addClassPlus),
      button(".add", { test: "edit-classes", click: change, title: t.classesActs },
        t.classesOpen));
    const give = (label, event) => this.#give("label", label, event);
    this.#picker = new LabelPicker(this.#page, give, true, this.#said());
    const hint = isSeveral() && el("p.muted.hint", t.chooseAll);
    this.#classes.classList.toggle("many", this.#page.classes.length > MANY);
    this.#classes.replaceChildren(...[hint, ...this.#picker.nodes, more].filter(Boolean));
    this.#setIdle(this.#isIdle);
  }

  /** Shows a question as soon as all of it can be seen, or why there is none. */
  async show(question, reason, complete = false) {
    this.#question = question;
    this.#close.clear();
    if (!question) return this.#showNone(reason, complete);
    const { item, mine, source, copies } = question;
    const { node, ready } = showItem(item);
    if (ready) await ready;
    if (this.#question !== question) return;
    this.#picker.start(this.#said());
    this.#setIdle(false);
    this.#card.dataset.row = item.row;
    this.#card.replaceChildren(
      el("header",
        el("h1", t.rowWord, " ", el("span", { test: "row-id", dir: "auto" }, item.id)),
        TAGS[source] && el("span.tag", TAGS[source]),
        copies > 0 && el("span.tag", { test: "copies" }, t.standsFor(copies)),
        mine && el("span.tag", { test: "mine" }, t.youSaid(saidOf(mine.kind, mine.label)))),
      node, this.#comments.node);
    this.#comments.show(question);
    this.#renderWhy();
    this.#close.show(item);
    this.#page.announce(`${t.row(item.id)}. ${words(item)}`);
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

  /** The label that the person gave the row before, if there is one. */
  #said() {
    return this.#question?.mine?.label ?? null;
  }

  #give(kind, label, event) {
    if (this.#question) this.#comments.flush();
    const node = label === null
      ? this.#others.querySelector(`[data-testid=${kind}]`)
      : [...this.#classes.children].find(({ dataset }) => dataset.label === label);
    this.#session.answer(kind, label, event);
    flash(node);
  }

  /** Whether there is nothing to answer: then only undo does something. */
  #setIdle(is) {
    this.#isIdle = is;
    for (const node of this.#answers.querySelectorAll("button.class, button.other, button.confirm-set"))
      node.disabled = is && node.dataset.testid !== "undo";
  }

  #showNone(reason, complete) {
    const title = complete ? t.allAnswered : t.noRowNow;
    const isOwn = !reason || reason === t.outOfSpares; // other reasons are the server's
    delete this.#card.dataset.row;
    this.#setIdle(true);
    this.#card.replaceChildren(el("div.none", { test: "no-question" },
      el("h1", title),
      el("p", isOwn ? {} : ENGLISH, reason ?? t.nothingMore),
      el("p.links",
        el("a", { href: "#history" }, t.seeAnswered),
        el("a", { href: "#map" }, t.chooseOnMap),
        this.#page.access.isOwner && button(".link", { click: () => this.#page.download() },
          t.downloadThem)),
      button("", { click: () => this.#session.ask(), test: "ask-again" }, t.lookForMore)));
    this.#renderWhy();
    this.#page.announce(reason ?? title);
  }

  #renderWhy() {
    const shown = this.#whyShown();
    const toggle = button(".quiet", {
      test: "why-toggle", "aria-expanded": String(shown), "aria-keyshortcuts": "W",
      click: () => this.toggleWhy(),
    }, shown ? t.hide : t.show, " ", keycap("W"));
    const focused = this.#why.contains(document.activeElement);
    this.#why.hidden = !this.#question;
    this.#why.replaceChildren(el("header", el("h2", { id: "why-title" }, t.whyThis), toggle));
    if (shown && this.#question) this.#why.append(...this.#reasons(this.#question.why));
    if (focused) toggle.focus();
  }

  /** The sentence, the predicted label with its chance, and the nearest labelled rows. */
  #reasons({ sentence, predicted, near }) {
    const sure = predicted && chancePart(this.#page, predicted); // a check row has none, nor an old spare
    const alike = near.length > 0 && [
      el("h3", t.nearestLabelled),
      el("ul.near", near.map(({ item, label }) => smallCard(item, shown(label)))),
    ];
    return [el("p", { test: "why-sentence", ...ENGLISH }, sentence), ...(sure || []), alike].flat().filter(Boolean);
  }

  #addClass() {
    const box = openDialog(t.addClass, classForm(this.#page, () => box.close()));
    box.querySelector("input").focus();
  }
}
