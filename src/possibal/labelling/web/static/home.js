// The home page: the campaigns of a folder, and new ones of files that are dropped here.

import { Refused, get, post } from "./api.js";
import { ENGLISH, bar, button, el, percent } from "./dom.js";
import { draftView } from "./draft.js";
import { accessFound, answered, pause } from "./entering.js";
import { locale } from "./language.js";
import { chosenIn, droppedIn, send } from "./sending.js";
import { BrowserStorage } from "./storage.js";
import { t } from "./texts.js";
import { fillPage, languageField, say } from "./translation.js";

const POLL = 10_000;
const SOON = 250;
const STEPS = [[60, "second"], [60, "minute"], [24, "hour"], [30, "day"], [12, "month"], [Infinity, "year"]];
const KINDS = { table: t.aTable, text: t.someTexts, image: t.somePictures };

const byId = (id) => document.getElementById(id);
const view = byId("view");

/** "5 minutes ago", as the browser says it. */
function ago(time) {
  let since = Math.max(0, (Date.now() - time) / 1000);
  for (const [length, unit] of STEPS) {
    if (since < length) {
      const form = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
      return unit === "second" ? t.justNow : form.format(-Math.floor(since), unit);
    }
    since /= length;
  }
  return "";
}

/** Says a sentence to screen readers. */
function tell(sentence) {
  say(byId("live"), sentence);
}

/** What home is doing: a list, sending a file, a task, or a draft. */
class HomePage {
  #found = null;
  #problem = "";
  #isBusy = false;

  /** Shows what there is in the folder. */
  async list() {
    this.#found = await answered(() => get("home"));
    byId("folder").textContent = this.#found.folder;
    this.#isBusy = false;
    this.#render();
  }

  /** Looks again, unless something else is shown. */
  async refresh() {
    if (this.#isBusy || !this.#found) return;
    const found = await get("home").catch(() => null);
    if (this.#isBusy || !found || JSON.stringify(found) === JSON.stringify(this.#found)) return;
    this.#found = found;
    this.#render();
  }

  #render() {
    const focused = document.activeElement?.dataset?.testid;
    const { campaigns } = this.#found;
    const problem = el("p.problem", { role: "alert", test: "problem" });
    say(problem, this.#problem);
    const list = campaigns.length > 0 && el("section.card", { test: "campaigns" },
      el("h1", t.campaigns), el("ul.campaigns", campaigns.map((one, place) => this.#line(one, place))));
    view.replaceChildren(el("div.home", list, this.#dropZone(problem, campaigns.length === 0), languageField()));
    if (focused) document.querySelector(`[data-testid="${focused}"]`)?.focus();
  }

  #line(one, place) {
    const share = one.rows ? one.labelled / one.rows : 0;
    const name = el("strong", { dir: "auto" }, one.name);
    const what = one.trouble ? el("span.problem", ENGLISH, one.trouble)
      : el("small", t.used(KINDS[one.kind] ?? one.kind, ago(one.used)), one.is_open && t.openNow);
    const far = one.trouble ? el("span") : el("span.far", bar(share),
      t.labelledOf(one.labelled, one.rows, percent(share)));
    const label = t.openNamed(one.name);
    const click = () => this.open(one.file);
    return el("li", { test: "campaign" }, el("span.what", name, what), far,
      button(".main", { click, test: `open-${place}`, "aria-label": label, disabled: Boolean(one.trouble) }, t.open));
  }

  #dropZone(problem, isFirst) {
    const { endings, pictures } = this.#found;
    const accept = endings.map((ending) => `.${ending.split(".").at(-1)}`).join();
    const file = el("input", { type: "file", hidden: true, accept, test: "file-input",
      change: () => file.files.length && this.take(chosenIn(file.files)) });
    const folder = el("input", { type: "file", hidden: true, webkitdirectory: true, test: "folder-input",
      change: () => folder.files.length && this.take(chosenIn(folder.files)) });
    return el("section.card", { test: "drop" },
      el(isFirst ? "h1" : "h2", isFirst ? t.labelFile : t.beginAnother),
      el("div.drop", el("p", t.dropAnywhere),
        el("div.ends",
          button(isFirst ? ".main" : "", { click: () => file.click(), test: "choose-file" }, t.chooseFile),
          button("", { click: () => folder.click(), test: "choose-folder" }, t.chooseFolder)),
        el("p.muted", t.whatToDrop(endings.join(", "), pictures.join(", "))),
        file, folder),
      problem);
  }

  /** Shows what is being done; `stop` is called if the person wants it no more. */
  #working(title, stop) {
    this.#isBusy = true;
    const words = el("p.muted", { test: "working-words" });
    const line = el("progress", { max: 1, value: 0, "aria-label": title });
    view.replaceChildren(el("div.home", el("section.card", { test: "working" }, el("h1", { dir: "auto" }, title),
      line, words, stop && el("div.ends", button("", { click: stop, test: "stop" }, t.cancel)))));
    view.focus({ preventScroll: true });
    return (sentence, share) => {
      words.textContent = sentence;
      line.value = share;
    };
  }

  /** Back to the list, with what went wrong, if anything did. */
  async #back(problem = "") {
    this.#problem = problem;
    await this.list();
    this.#problem = "";
    tell(problem);
    (problem ? byId("view") : document.querySelector("[data-testid=choose-file]"))?.focus();
  }

  /** Does what may be refused; the person then sees why. */
  async #attempt(work) {
    try {
      await work();
    } catch (error) {
      await this.#back(error instanceof Refused ? error.message : t.nothingBegun);
    }
  }

  /** Sends what somebody chose, and shows how it is understood. */
  take(chosen) {
    if (this.#isBusy) return null;
    this.#isBusy = true;
    return this.#attempt(async () => {
      const { name, files, isFolder, problem } = await chosen(this.#found);
      if (problem) throw new Refused(problem);
      let isStopped = false;
      const show = this.#working(t.takingIn(name), () => { isStopped = true; });
      const key = await send({ name, files, isFolder, piece: this.#found.piece }, show, () => isStopped);
      if (key === null) return this.#back();
      const { draft } = await this.#done("read", { key }, t.readingFile(name));
      return this.#draft(draft);
    });
  }

  #draft(draft) {
    const node = draftView(draft, {
      start: (settings) => this.#attempt(async () =>
        this.#enter(await this.#done("start", { key: draft.key, ...settings }, t.beginning(draft.file), node))),
      leave: () => this.#attempt(async () => {
        await post("discard", { key: draft.key });
        await this.#back();
      }),
      open: () => this.open(draft.campaign),
    });
    view.replaceChildren(node);
    view.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  /** What came of a task; where it failed, `before` is shown again with the reason, if there is one. */
  async #done(path, body, title, before = null) {
    const show = this.#working(title);
    let task = await post(path, body);
    while (!task.done) {
      show(`${task.words[0].toUpperCase()}${task.words.slice(1)}…`, task.share);
      await pause(SOON);
      task = await get(`task?key=${task.key}`);
    }
    if (!task.trouble) return task;
    if (!before) throw new Refused(task.trouble);
    view.replaceChildren(before);
    const problem = before.querySelector("[data-testid=start-problem]");
    problem.lang = "en";
    problem.textContent = task.trouble;
    before.querySelector("[data-testid=start]").focus();
    return null;
  }

  /** Opens a campaign. */
  open(file) {
    return this.#attempt(async () =>
      this.#enter(await this.#done("open", { file }, t.openingCampaign)));
  }

  /** Goes to the page of a campaign that is open, once what is to be said of it was read. */
  async #enter(opened) {
    if (!opened) return;
    const go = async () => {
      const kept = new BrowserStorage("access", opened.place);
      const [name] = kept.names("").filter((one) => one.endsWith("/session"));
      const session = name ? kept.read(name).session : null;
      location.assign((await post("enter", { file: opened.file, session })).address);
    };
    if (!opened.notes.length) return void await go();
    view.replaceChildren(el("div.home", el("section.card", { test: "opened" }, el("h1", t.sinceLast),
      el("ul", opened.notes.map((note) => el("li", { dir: "auto", ...ENGLISH }, note))),
      el("div.ends", button(".main", { click: () => this.#attempt(go), test: "go" }, t.goToPage)))));
    document.querySelector("[data-testid=go]").focus();
  }
}

/** Takes what is dropped anywhere on the page. */
function listen(page) {
  const mark = (isOver) => document.querySelector(".drop")?.classList.toggle("over", isOver);
  window.addEventListener("dragover", (event) => {
    event.preventDefault();
    mark(true);
  });
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && mark(false));
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    mark(false);
    page.take(droppedIn(event.dataTransfer));
  });
  document.querySelector(".skip-link").addEventListener("click", (event) => {
    event.preventDefault();
    view.focus();
  });
  window.addEventListener("hashchange", () => location.reload());
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
  setInterval(() => document.visibilityState === "visible" && page.refresh(), POLL);
}

async function start() {
  fillPage();
  document.title = `${t.home} · possibal`;
  await accessFound();
  const page = new HomePage();
  await page.list();
  listen(page);
}

start();
