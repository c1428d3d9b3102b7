// How to label, as the owners wrote it: shown beside the question, changed in a window.

import { get } from "./api.js";
import { button, el, keycap, openDialog } from "./dom.js";
import { t } from "./texts.js";
import { say } from "./translation.js";

const LONGEST = 20_000;
const HEADING = /^#{1,6}\s+/;
const BULLET = /^\s*[-*]\s+/;

/** The lines of a text that belong together, as a list, a heading or a paragraph. */
function block(lines) {
  if (lines.every((line) => BULLET.test(line)))
    return el("ul", lines.map((line) => el("li", line.replace(BULLET, ""))));
  if (lines.length === 1 && HEADING.test(lines[0])) return el("h3", lines[0].replace(HEADING, ""));
  return el("p", lines.join("\n"));
}

/** What a line is: a heading stands alone, the lines of a list stand together. */
const kindOf = (line) => (HEADING.test(line) ? {} : BULLET.test(line));

/** A text with paragraphs, headings (#) and lists (-) as nodes. */
export function formatted(text) {
  const blocks = [];
  let kind = null;
  for (const line of text.split("\n")) {
    const now = line.trim() ? kindOf(line) : null;
    if (now !== null && now === kind) blocks.at(-1).push(line);
    else if (now !== null) blocks.push([line]);
    kind = now;
  }
  return blocks.map(block);
}

/** The guidelines: a card beside the question, and a window. */
export class Guidelines {
  #page;
  #key;
  #text;
  #asked = 0;
  #open;

  constructor(page, { key, text }) {
    this.#page = page;
    this.#key = key;
    this.#text = text;
    this.#open = page.storage.read("guidelines", true);
    this.node = el("section.guide", { test: "guidelines", "aria-label": t.guidelines });
    this.#render();
  }

  /** Fetches them again if the server has others, and says so. */
  async follow(key) {
    const isWaiting = this.#page.outbox.pending().some(({ path }) => path === "guidelines");
    if (key === this.#key || isWaiting) return;
    const asked = ++this.#asked;
    const reply = await get("campaign").catch(() => null);
    if (!reply || asked !== this.#asked || reply.guidelines.key === this.#key) return;
    this.#show(reply.guidelines);
    if (reply.guidelines.who !== this.#page.who) this.#page.tell(t.guidelinesChanged);
  }

  /** Opens them in a window of their own. */
  show() {
    if (!this.#text) return this.#page.access.isOwner && this.#edit();
    openDialog(t.guidelines, el("div.prose", { dir: "auto" }, formatted(this.#text)),
      this.#page.access.isOwner && this.#button("guidelines-change", t.changeThem));
    return null;
  }

  #show({ key, text }) {
    this.#key = key;
    this.#text = text;
    this.#render();
  }

  #button(test, words) {
    const click = () => {
      document.querySelector("dialog[open]")?.close();
      this.#edit();
    };
    return el("p", button(".small-button", { click, test }, words));
  }

  #render() {
    const { isOwner } = this.#page.access;
    this.node.hidden = !this.#text && !isOwner;
    if (!this.#text) {
      return this.node.replaceChildren(isOwner && this.#button("guidelines-edit", t.writeGuidelines));
    }
    const toggle = ({ target }) => {
      this.#open = target.open;
      this.#page.storage.write("guidelines", target.open);
    };
    return this.node.replaceChildren(el("details.card", { open: this.#open, toggle },
      el("summary", t.guidelines, " ", keycap("G")),
      el("div.prose", { dir: "auto", test: "guidelines-text", tabindex: 0, role: "region",
        "aria-label": t.guidelinesText }, formatted(this.#text)),
      isOwner && this.#button("guidelines-edit", t.changeThem)));
  }

  #edit() {
    const box = el("textarea", { rows: 14, maxlength: LONGEST, test: "guidelines-input", dir: "auto" });
    box.value = this.#text;
    const problem = el("p.problem", { role: "alert", test: "guidelines-problem" });
    const submit = async (event) => {
      event.preventDefault();
      const text = box.value.trim();
      const changing = this.#page.change("guidelines", { text }, t.guidelinesSaid);
      const key = this.#page.lastChange;
      const refused = await changing;
      if (refused) return void say(problem, refused);
      this.#asked += 1;
      this.#show({ key, text });
      dialog.close();
    };
    const dialog = openDialog(t.guidelines, el("form.edit-class", { submit },
      el("label.field", el("span", t.guidelinesHow), box),
      problem, el("div.ends", el("button.main", { test: "guidelines-save" }, t.save))));
    box.focus();
  }
}
