// The classes: their buttons, what is said of them, and changing them.

import { connection } from "./api.js";
import { breakable, button, el, keycap, openDialog } from "./dom.js";
import { classKey } from "./keys.js";
import { isSeveral, labelOf, membersOf, shown } from "./labels.js";
import { t } from "./texts.js";
import { say } from "./translation.js";

const LONGEST = 200;
const LONGEST_DESCRIPTION = 300;
const FIRST_COLOURS = ["#2f5fd0", "#d97a1a", "#1c7a45", "#a3338f", "#b3261e", "#0f7f8c", "#6b5bd2"];

/** A name without case and blanks: names that differ by these alone are taken for one another. */
const bare = (name) => name.replace(/\s+/g, "").toLowerCase();

/** Lets a node show the colour of a class, if it has one. */
export function tint(node, colour) {
  node.classList.toggle("tinted", Boolean(colour));
  if (colour) node.style.setProperty("--tint", colour);
  return node;
}

/**
 * Buttons to choose a label: of a class each, or where rows may have several, of classes that are
 * there or not and one that confirms them. `choose(label, event)` once one is chosen.
 */
export class LabelPicker {
  #choose;
  #chosen = new Set();
  #buttons;
  #confirm = null;
  #keyed = false;

  /** With the label that is there already, if there is one. */
  constructor(page, choose, keyed, label = null) {
    this.#choose = choose;
    this.#buttons = classButtons(page, (name, event) => this.press(name, event), keyed);
    this.nodes = this.#buttons;
    if (!isSeveral()) return;
    this.#confirm = button(".main.confirm-set", {
      click: (event) => this.confirm(event), test: "confirm-set", "aria-keyshortcuts": keyed ? "Enter" : null,
    });
    this.nodes = [...this.#buttons, this.#confirm];
    this.#keyed = keyed;
    this.start(label);
  }

  /** Begins with these classes chosen: of the next row, or of one that has a label. */
  start(label) {
    this.#chosen = new Set(membersOf(label));
    this.#show();
  }

  /** A class was pressed: it is the label, or it is in the set or is no more. */
  press(name, event) {
    if (!this.#confirm) return this.#choose(name, event);
    if (!this.#chosen.delete(name)) this.#chosen.add(name);
    return this.#show();
  }

  /** The classes that are chosen, or none, are the label. */
  confirm(event) {
    if (this.#confirm && !this.#confirm.disabled) this.#choose(labelOf(this.#chosen), event);
  }

  #show() {
    if (!this.#confirm) return;
    for (const node of this.#buttons)
      node.setAttribute("aria-pressed", String(this.#chosen.has(node.dataset.label)));
    const said = this.#chosen.size ? t.confirmSet(shown(labelOf(this.#chosen))) : t.noneOfThese;
    this.#confirm.replaceChildren(...[this.#keyed && keycap("⏎"), el("span", { dir: "auto" }, said)].filter(Boolean));
  }
}

/** The list of buttons for classes; `choose(label, event, node)` when one is pressed. */
function classButtons(page, choose, keyed) {
  return page.catalogue.map(({ name, description, colour }, place) => {
    const key = keyed ? classKey(place) : null;
    const node = button(".class", {
      test: "class-button", "data-label": name, click: (event) => choose(name, event, node),
      "aria-keyshortcuts": key, title: description ? `${name}: ${description}` : name,
    }, key && keycap(key.toUpperCase()),
    el("span", el("span.class-name", { dir: "auto" }, breakable(name)),
      description && el("small.meaning", { dir: "auto", test: "meaning" }, description)));
    return tint(node, colour);
  });
}

/** The names in a text, split at commas; a sentence if one of them cannot be added. */
function namesIn(page, text) {
  const names = [...new Set(text.split(",").map((name) => name.trim()).filter(Boolean))];
  const known = [...page.classes];
  for (const name of names) {
    const alike = known.find((other) => bare(other) === bare(name));
    if (alike !== undefined) return [[], t.classKnown(alike)];
    if (name.length > LONGEST) return [[], t.nameTooLong(LONGEST)];
    known.push(name);
  }
  return [names, ""];
}

/** A form that adds classes, several at once if they stand between commas; `done` is called after. */
export function classForm(page, done) {
  const input = el("input", { required: true, autocomplete: "off", test: "class-input" });
  const problem = el("p.problem", { role: "alert", test: "class-problem" });
  let turn = 0;
  const submit = async (event) => {
    event.preventDefault();
    const mine = ++turn;
    const [names, wrong] = namesIn(page, input.value);
    problem.textContent = wrong;
    if (!names.length) return;
    input.value = "";
    const refused = await Promise.all(names.map((name) =>
      page.change("classes", { label: name }, t.classAdded(name))));
    const said = refused.filter(Boolean).join(" ");
    if (said || mine === turn) say(problem, said); // what was typed since has its own words
    if (!said) done();
  };
  return el("form.inline", { submit },
    el("label.field", el("span", t.classNames), input),
    el("button.main", { test: "class-save" }, t.add), problem);
}

/** A colour to choose, or none; `value()` is what was chosen. */
function colourField(colour, place) {
  const some = el("input", { type: "checkbox", checked: Boolean(colour), test: "class-coloured" });
  const box = el("input", {
    type: "color", value: colour || FIRST_COLOURS[place % FIRST_COLOURS.length],
    "aria-label": t.colour, test: "class-colour", input: () => { some.checked = true; },
  });
  const node = el("div.colour", el("label.tick", some, t.colour), box);
  return { node, value: () => (some.checked ? box.value : "") };
}

/** The list of all classes, each with buttons to change and to remove it. */
class ClassList {
  #page;
  #list = el("ul.class-list", { test: "class-list" });
  #said = el("p.muted", { role: "status", test: "class-said" });
  #open = null;
  #seen = false;

  constructor(page) {
    this.#page = page;
    this.node = el("div.stack.tight", this.#list, this.#said);
    const changed = () => {
      if (this.#seen && !this.node.isConnected) page.changes.removeEventListener("classes", changed);
      else if (this.#open === null) this.render();
      this.#seen = this.node.isConnected;
    };
    page.changes.addEventListener("classes", changed);
    this.render();
  }

  render(focused = null) {
    this.#open = null;
    this.#list.replaceChildren(...this.#page.catalogue.map((entry, at) => this.#line(entry, at)));
    if (focused !== null) this.#focus(focused);
  }

  #focus(name) {
    const lines = [...this.#list.children];
    const line = lines.find(({ dataset }) => dataset.label === name) ?? lines[0];
    line?.querySelector("button")?.focus();
  }

  #line(entry, at) {
    const { name, description, colour, rows } = entry;
    const edit = () => this.#edit(entry, at);
    const remove = () => (rows ? this.#join(entry) : this.#remove(entry));
    return el("li", { "data-label": name, test: "class-line" },
      tint(el("span.swatch", { "aria-hidden": "true" }), colour),
      el("span.what", el("strong", { dir: "auto", title: name }, name),
        description && el("small", { dir: "auto" }, description),
        el("small", { test: "class-rows" }, t.rows(rows))),
      el("span.acts",
        button(".quiet", {
          click: edit, test: "class-edit", title: t.change, "aria-label": t.changeClass(name),
        }, "✎"),
        button(".quiet", {
          click: remove, test: "class-remove", title: rows ? t.merge : t.remove,
          "aria-label": rows ? t.mergeClass(name) : t.removeClass(name),
        }, "×")));
  }

  /** Puts something in place of a line, until it is done with. */
  #replace(name, node) {
    this.render();
    this.#open = name;
    this.#said.replaceChildren();
    const line = [...this.#list.children].find(({ dataset }) => dataset.label === name);
    line.classList.add("open");
    line.replaceChildren(node);
    node.querySelector("input, select, button")?.focus();
  }

  /** Makes a change and says so, with a way back; or the sentence why not. */
  async #change(path, body, said) {
    const changing = this.#page.change(path, body, said);
    const key = this.#page.lastChange;
    const refused = await changing;
    if (refused) return refused;
    const back = async () => {
      this.#said.replaceChildren(await this.#page.takeBack(key));
      this.render("");
    };
    const done = connection.state === "connected" ? t.doneThat(said) : t.keptThat(said);
    this.#said.replaceChildren(`${done} `,
      button(".link", { click: back, test: "class-undo" }, t.undo));
    return null;
  }

  #edit(entry, at) {
    const { name, description, colour } = entry;
    const title = el("input", { value: name, maxlength: LONGEST, required: true, autocomplete: "off",
      test: "class-name" });
    const meaning = el("input", { value: description, maxlength: LONGEST_DESCRIPTION,
      autocomplete: "off", test: "class-description" });
    const chosen = colourField(colour, at);
    const problem = el("p.problem", { role: "alert", test: "class-problem" });
    const submit = async (event) => {
      event.preventDefault();
      const wanted = { name: title.value.trim(), description: meaning.value.trim(),
        colour: chosen.value() };
      if (wanted.name !== name && this.#page.classes.includes(wanted.name))
        return this.#join(entry, wanted.name);
      say(problem, (await this.#save(entry, wanted)) ?? "");
      if (!problem.textContent) this.render(wanted.name);
    };
    this.#replace(name, el("form.edit-class", { submit },
      el("label.field", el("span", t.name), title),
      el("label.field", el("span", t.classMeaning), meaning),
      chosen.node, problem, this.#ends("class-done", t.save, name)));
  }

  /** The buttons at the end of a form. */
  #ends(test, words, name) {
    return el("div.ends", el("button.main", { test }, words),
      button("", { click: () => this.render(name), test: "class-cancel" }, t.cancel));
  }

  /** Saves what is new; the sentence why not, or null. */
  async #save({ name, description, colour }, wanted) {
    if (wanted.name !== name) {
      const said = t.classRenamed(name, wanted.name);
      const refused = await this.#change("classes/rename", { label: name, to: wanted.name }, said);
      if (refused) return refused;
    }
    const body = { label: wanted.name };
    if (wanted.description !== description) body.description = wanted.description;
    if (wanted.colour !== colour) body.colour = wanted.colour;
    if (Object.keys(body).length === 1) return null;
    return this.#change("classes/describe", body, t.classDescribed(wanted.name));
  }

  /** Asks with which class one is to be merged, or whether with this one. */
  #join({ name, rows }, into = null) {
    const others = this.#page.classes.filter((other) => other !== name);
    const choice = el("select", { test: "class-into" },
      others.map((value) => el("option", { value, selected: value === into }, value)));
    const problem = el("p.problem", { role: "alert", test: "class-problem" });
    const submit = async (event) => {
      event.preventDefault();
      const body = { label: name, to: choice.value, merge: true };
      const said = t.classMerged(name, choice.value);
      say(problem, (await this.#change("classes/rename", body, said)) ?? "");
      if (!problem.textContent) this.render(choice.value);
    };
    const words = into === null ? t.classHasRows(name, rows) : t.classExists(into, name, rows);
    this.#replace(name, el("form.edit-class", { submit }, el("p", { test: "class-why" }, words),
      others.length > 0 && el("label.field", el("span", t.mergeWith), choice), problem,
      others.length ? this.#ends("class-merge", t.merge, name)
        : button("", { click: () => this.render(name), test: "class-cancel" }, t.close)));
  }

  async #remove({ name }) {
    const refused = await this.#change("classes/remove", { label: name }, t.classRemoved(name));
    if (refused) say(this.#said, refused);
    this.render("");
  }
}

/** Opens the list of classes, to change them. */
export function openClasses(page) {
  const list = new ClassList(page);
  const add = classForm(page, () => {});
  const box = openDialog(t.classes,
    el("p.muted", t.classesNote),
    list.node, add);
  box.querySelector("[data-testid=class-edit], input")?.focus();
}

/** Asks for the classes of a campaign that has fewer than two. */
export function classesView(page, start) {
  const list = new ClassList(page);
  const go = button(".main", { click: start, test: "classes-done" }, t.startLabelling);
  const hint = el("p.muted");
  const render = () => {
    const missing = Math.max(0, 2 - page.classes.length);
    go.disabled = missing > 0;
    hint.textContent = missing
      ? t.classesMissing(missing) : t.classesAnyTime;
  };
  page.changes.addEventListener("classes", render);
  render();
  return el("section.card.welcome", { test: "classes-setup" }, el("h1", t.whichClasses),
    el("p", t.whatClassIs),
    classForm(page, render), list.node, hint, go);
}
