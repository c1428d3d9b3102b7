// How a file is understood before its campaign begins, and what a person may change of it.

import { Refused, post } from "./api.js";
import { ENGLISH, button, el } from "./dom.js";
import { t } from "./texts.js";
import { say } from "./translation.js";

const MEANINGS = {
  number: t.kindNumber, category: t.kindCategory, text: t.kindText, date: t.kindDate, picture: t.kindPicture,
  id: t.kindId, label: t.kindLabel, "left out": t.kindLeftOut,
};
const MANY = 12;

/** The names of columns, of very many the first. */
function names(columns) {
  const first = columns.slice(0, MANY).map(({ name }) => name).join(", ");
  return columns.length > MANY ? t.namesAndMore(first, columns.length - MANY) : first;
}

const notesOf = ({ notes }) => notes.map((note) => el("li", { dir: "auto", ...ENGLISH }, note));

/** What is learnt from, and what is not, in a sentence or two. */
function summary({ columns }) {
  const of = (...kinds) => columns.filter(({ kind }) => kinds.includes(kind));
  const learnt = of("number", "category", "text", "date", "picture");
  const out = of("left out");
  const said = [t.learnsFrom(learnt.length, names(learnt))];
  if (out.length) said.push(t.leftOutColumns(names(out), out.length));
  return said.join(" ");
}

function columnLine(column, place, kinds, change) {
  const { name, kind, found, note, examples } = column;
  const options = kinds.map((one) => el("option", { value: one, selected: one === kind },
    MEANINGS[one] + (one === found && kind !== found ? ` ${t.asFound}` : "")));
  const box = el("select", { test: `kind-${place}`, "aria-label": t.whatColumnIs(name),
    change: () => change(name, box.value, box) }, options);
  const cells = examples.length ? examples.join(" · ") : t.noCell;
  return el(kind === "left out" ? "li.out" : "li", { test: "column" },
    el("span.what", el("strong", { dir: "auto" }, name), el("small", { dir: "auto" }, cells)), box,
    el("span.said", { dir: "auto", ...ENGLISH }, note));
}

/** The columns of a draft; `took` is called with the draft once something was changed. */
function columnsCard(first, took) {
  let draft = first;
  let changes = {};
  const problem = el("p.problem", { role: "alert", test: "column-problem" });
  const said = el("p", { test: "summary", role: "status" });
  const list = el("ul.column-list");
  const notes = el("ul.notes", { test: "notes" });
  const change = async (name, kind, box) => {
    const was = draft.columns.find((one) => one.name === name);
    const wanted = { ...changes, [name]: kind };
    if (kind === was.found) delete wanted[name];
    problem.textContent = "";
    try {
      draft = await post("columns", { key: draft.key, changes: wanted });
      changes = wanted;
      render(name);
      took(draft);
    } catch (error) {
      box.value = was.kind;
      say(problem, error instanceof Refused ? error.message : t.chooseAgain);
    }
  };
  const render = (focused = null) => {
    said.textContent = summary(draft);
    notes.replaceChildren(...notesOf(draft));
    list.replaceChildren(...draft.columns.map((one, place) =>
      columnLine(one, place, draft.kinds, change)));
    const place = draft.columns.findIndex(({ name }) => name === focused);
    if (place >= 0) list.querySelector(`[data-testid="kind-${place}"]`).focus();
  };
  render();
  return el("section.card", { test: "columns" }, el("h2", t.columnsUnderstood), said, notes, problem, list);
}

const field = (words, input, hint) => el("label.field", el("span", words), input, hint && el("small", hint));

/** The settings of a campaign, of which the usual ones are filled in. */
class Settings {
  constructor(draft) {
    this.found = [];
    this.classes = el("input", { test: "classes", autocomplete: "off", placeholder: t.goodBad });
    this.known = el("p", { test: "known-classes" });
    this.people = el("input", { type: "number", min: 1, max: 100, value: 1, required: true, test: "people",
      change: () => this.#showBlind(), input: () => this.#showBlind() });
    this.check = el("input", { type: "number", min: 0, max: Math.floor(draft.rows / 2), value: 0, required: true,
      test: "check" });
    this.blind = el("input", { type: "checkbox", checked: true, test: "blind" });
    this.blindLine = el("label.tick", this.blind, t.blindly);
    this.take(draft);
    this.#showBlind();
  }

  /** Knows the labels that a draft has now. */
  take({ classes, labelled }) {
    this.found = classes;
    this.known.textContent = classes.length
      ? t.labelledAlready(labelled, classes.join(", ")) : "";
    this.known.hidden = !classes.length;
  }

  #showBlind() {
    this.blindLine.hidden = Number(this.people.value) < 2;
  }

  get node() {
    return el("div.settings", this.known,
      field(t.classesField, this.classes,
        t.classesHint),
      el("div.pair",
        field(t.peopleField, this.people, t.peopleHint),
        field(t.checkRows, this.check,
          t.checkHint)),
      this.blindLine);
  }

  /** What is sent. */
  get values() {
    const given = this.classes.value.split(",").map((name) => name.trim()).filter(Boolean);
    const known = this.found.filter((name) => !given.includes(name));
    const people = Number(this.people.value);
    return { classes: given.length ? [...known, ...given] : [], people, check: Number(this.check.value),
      blind: people > 1 ? this.blind.checked : null };
  }
}

/** What is known of a file; `acts` are what the person may do: start, leave and open. */
export function draftView(draft, { start, leave, open }) {
  const head = el("section.card", { test: "draft" }, el("h1", { dir: "auto" }, draft.file),
    el("p", `${draft.kind === "image" ? t.pictures(draft.rows) : t.rows(draft.rows)}.`),
    draft.said && el("p", { test: "said", ...ENGLISH }, draft.said),
    draft.columns.length === 0 && el("ul.notes", notesOf(draft)));
  if (draft.campaign) {
    head.append(el("p", t.campaignAlready), el("div.ends",
      button(".main", { click: open, test: "open-known" }, t.openIt),
      button("", { click: leave, test: "leave" }, t.back)));
    return el("div.home", head);
  }
  const settings = new Settings(draft);
  const submit = (event) => {
    event.preventDefault();
    event.target.querySelector("[data-testid=start-problem]").textContent = "";
    start(settings.values);
  };
  return el("div.home", head,
    draft.columns.length > 0 && columnsCard(draft, (changed) => settings.take(changed)),
    el("form.card.settings", { submit, test: "settings" }, el("h2", t.howToLabel), settings.node,
      el("p.problem", { role: "alert", test: "start-problem" }),
      el("div.ends", button(".main", { type: "submit", test: "start" }, t.startLabelling),
        button("", { click: leave, test: "leave" }, t.cancel))));
}
