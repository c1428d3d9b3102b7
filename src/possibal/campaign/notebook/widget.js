// The labelling widget of a notebook: one module without imports, as anywidget takes it.
//
// Python publishes what is shown as the trait "view"; what a person does is sent as a message that
// names its row and its class, and has a key. Until Python says that it took the key, nothing else
// can be pressed, and the person is told what to make of it if that takes long.

/** "1 row", "2 rows". */
const n = (number) => Number(number).toLocaleString();
const plural = (number, word) => `${n(number)} ${word}${number === 1 ? "" : "s"}`;

/** Texts by their names, each in a line of its own; those that the page has too are the page's. */
const t = {
  add: "Add",
  addClass: "Add a class",
  addClassPlus: "+ Add a class",
  allAnswered: "All rows are answered",
  alikeClose: "Rows that are alike lie close together.",
  backspace: "Bksp",
  badItem: "Bad item",
  cancel: "Cancel",
  chanceThat: (label) => ["Chance that it is ", label],
  classes: "Classes",
  comeBackLater: "come back later",
  connectionGone: "Python was restarted or closed. What was pressed and not said to be saved was not kept: run this cell again to go on.",
  dropIt: "drop it",
  empty: "empty",
  everyRowAnswered: "Every row has an answer: nothing is left to label.",
  goesClosely: "goes closely with the labels so far",
  goOn: "Go on",
  greyDots: "Small grey dots: no guess.",
  keyHint: "Keys work once you click here.",
  label: "Labelling",
  labelThisRow: "Label this row",
  labelledAs: (label) => `labelled ${label}`,
  labelsByClass: "Labels by class",
  labelsSoFar: (number) => (number === 1 ? "label so far" : "labels so far"),
  lastAnswer: "the last answer",
  learning: "Learning…",
  lookForMore: "Look again",
  mapHintWidget: "Point at a row to see which it is; click it to label it.",
  mapLabelWidget: (number) => `Map of ${n(number)} rows. Arrow keys go from row to row, Enter labels one.`,
  mapSizes: "Small: what the model takes a row for. Large, with an outline: labelled.",
  namesMissing: "Two classes are needed to choose from: add them here.",
  navMap: "Map",
  noLabels: "No labels yet.",
  noRowNow: "No row to label right now",
  notLabelled: "not labelled",
  notLabelledChance: (label, share) => `not labelled; chance that it is ${label}: ${share}`,
  notSure: "Not sure",
  othersHaveRows: "Rows are left, but none for you: others are at work on them, or you were not sure about them.",
  otherAnswers: "Other answers",
  pictureOfRow: (id) => `Picture of row ${id}`,
  progress: "Progress",
  range: (low, high) => `${low} to ${high}`,
  row: (id) => `Row ${id}`,
  rowToLabel: "The row to label",
  rowsInAll: (number) => `${plural(number, "row")} in all.`,
  rowsLeft: "rows left",
  skip: "Skip",
  slow: "Python has not answered yet. If it is busy, what you pressed counts once it is free; if it was restarted, run this cell again.",
  standsFor: (number) => `Stands for ${number === 1 ? "1 copy" : `${n(number)} copies`}`,
  stop: "Stop",
  undoShort: "Undo",
  unsureLater: "for others, or for the end",
  whyThis: "Why this one?",
  wrongKeyHere: (key, first, last, isMany) => `“${key}” does nothing here. ${last ? `${first} ${isMany ? "to" : "and"} ${last} name` : `${first} names`} a class.`,
  youMayStop: "You may stop",
  youSaid: (said) => `You said: ${said}`,
  yourClass: "Name of the class",
};

const SLOW = 4000;
const DOUBLE_CLICK = 250;
const MANY = 8;
const TAKEN = new Set(["s", "u", "b", "m", "g", "w", "z", "?"]);
const CLASS_KEYS = [..."1234567890abcdefghijklmnopqrstuvwxyz"].filter((key) => !TAKEN.has(key));
const OTHERS = {
  skip: ["S", t.skip, t.comeBackLater],
  unsure: ["U", t.notSure, t.unsureLater],
  bad: ["B", t.badItem, t.dropIt],
};
const ADVICE = {
  "go on": [t.goOn, "M8 5l12 7-12 7z"],
  "may stop": [t.youMayStop, "M7 5h4v14H7zM13 5h4v14h-4z"],
  stop: [t.stop, "M6 6h12v12H6z"],
};

// ---------------------------------------------------------------- nodes
const SVG = "http://www.w3.org/2000/svg";
const there = (value) => value !== null && value !== undefined && value !== false && value !== "";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (there(value)) node.setAttribute(name === "test" ? "data-testid" : name, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter(there));
  return node;
}

/** A new element, as the page makes them: text is never parsed as markup. */
function el(kind, props = {}, ...children) {
  const [tag, ...names] = kind.split(".");
  const node = document.createElement(tag);
  node.classList.add(...names);
  const plain = props !== null && props?.constructor === Object;
  return plain ? fill(node, props, children) : fill(node, {}, [props, ...children]);
}

const svg = (tag, props = {}, ...children) => fill(document.createElementNS(SVG, tag), props, children);
const button = (kind, props, ...children) => el(`button${kind}`, { type: "button", ...props }, ...children);
const keycap = (words) => el("kbd", { "aria-hidden": "true" }, words);
const percent = (share) => `${Math.round(100 * share)} %`;

/** A key of an action; not every notebook is a secure context, in which there would be UUIDs. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A chance with its range on a line from 0 to 1. */
function chanceBar({ value, low, high }) {
  const range = el("i");
  const mark = el("b");
  range.style.left = `${100 * low}%`;
  range.style.width = `${100 * (high - low)}%`;
  mark.style.left = `${100 * value}%`;
  return el("span.chance-bar", { "aria-hidden": "true" }, range, mark);
}

// ---------------------------------------------------------------- light and dark
const channels = (colour) => (colour.match(/^rgba?\((.*)\)$/)?.[1].match(/[\d.]+/g) ?? []).map(Number);
const isBright = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b > 127;

/** Whether what lies behind a node is dark; where nothing does, whether what is written there is bright. */
function isDark(node) {
  for (let at = node; at; at = at.parentElement ?? at.getRootNode().host) {
    const behind = channels(getComputedStyle(at).backgroundColor);
    if (behind.length && (behind[3] ?? 1) > 0.5) return !isBright(behind);
  }
  const ink = channels(getComputedStyle(node).color);
  return ink.length ? isBright(ink) : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Follows the theme of the notebook, or of the system, until the function it returns is called. */
function followTheme(root, changed) {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const look = () => {
    const theme = isDark(root.parentElement ?? root.getRootNode().host ?? document.body) ? "dark" : "light";
    if (root.dataset.theme === theme) return;
    root.dataset.theme = theme;
    changed();
  };
  const later = () => setTimeout(look, 60);
  const watcher = new MutationObserver(later);
  for (const node of [document.documentElement, document.body])
    watcher.observe(node, { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-jp-theme-name", "data-jp-theme-light", "data-vscode-theme-kind"] });
  scheme.addEventListener("change", later);
  requestAnimationFrame(look);
  const first = [setTimeout(look, 300), setTimeout(look, 1500)]; // styles may come after the widget
  return () => {
    first.forEach(clearTimeout);
    watcher.disconnect();
    scheme.removeEventListener("change", later);
  };
}

// ---------------------------------------------------------------- the row
function fieldTable(fields) {
  const line = ({ name, value, important }) => el("tr",
    el("th", { scope: "row" }, el("span", { dir: "auto" }, name),
      important && el("span.important", { title: t.goesClosely }, el("span.unseen", ` (${t.goesClosely})`))),
    there(value) ? el("td", { dir: "auto" }, value) : el("td.muted", t.empty));
  return el("table.fields", el("tbody", fields.map(line)));
}

/** A row as people read it. */
function itemOf(question) {
  const { name, picture, trouble, text, fields } = question;
  const image = picture && el("img", { src: picture, alt: t.pictureOfRow(name) });
  image?.addEventListener("load", () => image.classList.toggle("tiny", image.naturalWidth < 100));
  return [
    image && el("div.picture", image),
    trouble && el("p.muted", trouble),
    text !== null && el("p.text", { dir: "auto", tabindex: 0, role: "region", "aria-label": t.row(name) }, text),
    fields.length > 0 && fieldTable(fields),
  ].filter(Boolean);
}

/** One line about a row, for whoever hears it. */
function spoken({ name, text, fields }) {
  const words = text ?? fields.map((field) => `${field.name}: ${field.value ?? t.empty}`).join(", ");
  return `${t.row(name)}. ${words.length > 140 ? `${words.slice(0, 140)}…` : words}`;
}

function whyOf({ why, predicted }) {
  const chance = predicted && el("p.certainty", { test: "chance" },
    el("span", t.chanceThat(el("strong", { dir: "auto" }, predicted.label))), chanceBar(predicted),
    el("span.number", `${percent(predicted.value)} (${t.range(percent(predicted.low), percent(predicted.high))})`));
  return [el("h3", t.whyThis), el("p", { test: "why" }, why), chance].filter(Boolean);
}

// ---------------------------------------------------------------- the map
const MARGIN = 12;
const REACH = 14;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SHAPES = [
  "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z", "M-.9-.9H.9V.9H-.9Z", "M0-1.1L1.1.9H-1.1Z",
  "M0-1.2L1.2 0L0 1.2L-1.2 0Z", "M0 1.1L1.1-.9H-1.1Z", "M-.4-1H.4V-.4H1V.4H.4V1H-.4V.4H-1V-.4H-.4Z",
  "M-.6-1H.6L1.1 0L.6 1H-.6L-1.1 0Z",
];
const COLOURS = SHAPES.length + 1;

/** The drawing: a canvas that knows which row lies under the pointer. */
class Chart {
  constructor(choose) {
    this.points = [];
    this.classes = [];
    this.chosen = null;
    this.asked = null;
    this.canvas = el("canvas", { test: "map-canvas", role: "application", tabindex: 0 });
    this.info = el("p.map-info", { test: "map-info" });
    this.ask = button("", { click: () => this.chosen && choose(this.chosen.row), test: "map-ask", hidden: true }, t.labelThisRow);
    this.legend = el("ul.legend");
    this.node = el("div.map", this.canvas,
      el("div.beside", this.info, el("div.acts", this.ask), this.legend, el("p.muted", `${t.alikeClose} ${t.mapSizes}`)));
    this.canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && !this.pinned && this.#aim(this.#under(event), false));
    this.canvas.addEventListener("click", (event) => this.#aim(this.#under(event), true));
    this.canvas.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.chosen) choose(this.chosen.row);
      else if (event.key === "Escape") this.#aim(null, false);
      else if (event.key in ARROWS) this.#aim(this.#next(ARROWS[event.key]), true);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.#aim(null, false);
  }

  load({ points = [], classes = [], problem = "" }) {
    this.points = points;
    this.classes = classes;
    this.canvas.setAttribute("aria-label", t.mapLabelWidget(points.length));
    const rows = (name) => points.filter((one) => (one.label ?? one.predicted) === name).length;
    const unknown = points.some((one) => one.label === null && one.predicted === null);
    this.legend.replaceChildren(...classes.map((name, place) => el("li",
      svg("svg", { viewBox: "-1.6 -1.6 3.2 3.2", "aria-hidden": "true", style: `fill: var(--class-${1 + (place % COLOURS)})` },
        svg("path", { d: SHAPES[place % SHAPES.length] })),
      el("span", { dir: "auto" }, name), el("span.number", n(rows(name))))),
    ...(unknown ? [el("li.muted", t.greyDots)] : []), ...(problem ? [el("li.problem", problem)] : []));
    this.#aim(points.find(({ row }) => row === this.chosen?.row) ?? null, this.pinned);
    this.draw();
  }

  #place({ x, y }) {
    const side = this.canvas.clientWidth - 2 * MARGIN;
    return [MARGIN + x * side, MARGIN + (1 - y) * side];
  }

  draw() {
    const side = this.canvas.clientWidth;
    if (!side) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.canvas.height = side * ratio;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name);
    const order = [...this.points].sort((a, b) => (a.label !== null) - (b.label !== null));
    for (const point of order) this.#draw(pen, point, colour);
    for (const point of [this.chosen, this.points.find(({ row }) => row === this.asked)])
      if (point) this.#ring(pen, this.#place(point), colour("--ink"));
  }

  #draw(pen, point, colour) {
    const place = this.classes.indexOf(point.label ?? point.predicted);
    const size = point.label !== null ? 5.5 : place < 0 ? 2 : 3.2;
    const path = new Path2D(SHAPES[Math.max(0, place) % SHAPES.length]);
    pen.save();
    pen.translate(...this.#place(point));
    pen.scale(size, size);
    pen.fillStyle = place < 0 ? colour("--muted") : colour(`--class-${1 + (place % COLOURS)}`);
    pen.fill(path);
    if (point.label !== null) {
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 1.6 / size;
      pen.stroke(path);
    }
    pen.restore();
  }

  #ring(pen, [x, y], ink) {
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, 10, 0, 2 * Math.PI);
    pen.stroke();
  }

  #aim(point, pinned) {
    this.chosen = point;
    this.pinned = pinned && point !== null;
    this.ask.hidden = !this.pinned || point.label !== null;
    this.info.replaceChildren(...(point ? [el("strong", { dir: "auto" }, t.row(point.name)), ` ${aboutPoint(point)}`] : [t.mapHintWidget]));
    this.info.toggleAttribute("role", false);
    if (this.pinned) this.info.setAttribute("role", "status");
    this.draw();
  }

  #under({ offsetX, offsetY }) {
    let [best, least] = [null, REACH ** 2];
    for (const point of this.points) {
      const [x, y] = this.#place(point);
      const distance = (x - offsetX) ** 2 + (y - offsetY) ** 2;
      if (distance < least) [best, least] = [point, distance];
    }
    return best;
  }

  /** The row next to the one that is ringed, in a direction; the middle one to begin with. */
  #next([right, down]) {
    const from = this.chosen ?? { x: 0.5, y: 0.5 };
    const costs = this.points.map((point) => {
      const [dx, dy] = [point.x - from.x, from.y - point.y];
      if (this.chosen === null) return Math.hypot(dx, dy);
      const [ahead, aside] = [dx * right + dy * down, Math.abs(dx * down) + Math.abs(dy * right)];
      return point === this.chosen || ahead <= 0 || aside > ahead ? Infinity : ahead + 2 * aside;
    });
    const least = Math.min(...costs);
    return least < Infinity ? this.points[costs.indexOf(least)] : this.chosen;
  }
}

function aboutPoint({ label, predicted, chance }) {
  if (label !== null) return t.labelledAs(label);
  return predicted === null ? t.notLabelled : t.notLabelledChance(predicted, percent(chance));
}

// ---------------------------------------------------------------- the widget
/** One view of the widget; the same campaign may be shown in several cells. */
class Labelling {
  #model;
  #pending = null; // the key of the action that Python has not taken yet
  #slow = null;
  #shownAt = 0;
  #shownRow = null;
  #shownClasses = "";
  #row = el("section.row", { test: "question", "aria-label": t.rowToLabel });
  #why = el("section.why");
  #classes = el("div.classes", { role: "group", "aria-label": t.classes });
  #others = el("div.others", { role: "group", "aria-label": t.otherAnswers });
  #more = el("div.more");
  #said = el("p.said", { role: "status", "aria-live": "polite", test: "said" });
  #problem = el("p.problem", { role: "alert", test: "problem" });
  #spoken = el("p.unseen", { role: "status", "aria-live": "polite" });
  #progress = el("section.progress", { "aria-label": t.progress, test: "progress" });
  #mapBox = el("details.map-box", { test: "map" }, el("summary", t.navMap));
  #chart = new Chart((row) => this.#send("choose", { row }));

  constructor(model) {
    this.#model = model;
    this.#mapBox.append(this.#chart.node);
    this.#mapBox.addEventListener("toggle", () => this.#lookAtMap());
    // Lumino's shortcuts would else take the digits for headings of cells, and B for a new one.
    this.node = el("div.possibal-widget", {
      tabindex: 0, role: "group", "aria-label": t.label, lang: "en", "data-lm-suppress-shortcuts": "true", test: "widget",
      keydown: (event) => this.#key(event),
    },
    el("div.inside",
      el("div.main", this.#row, this.#said, this.#problem, this.#classes, this.#others,
        el("div.under", this.#more, el("span.muted.key-hint", t.keyHint)), this.#why),
      this.#progress, this.#mapBox), this.#spoken);
    this.#more.append(this.#addButton());
    this.#sizes = new ResizeObserver(() => this.#chart.draw());
    this.#sizes.observe(this.#chart.canvas);
    this.#unfollow = followTheme(this.node, () => this.#chart.draw());
    this.#listeners = {
      "change:view": () => this.#render(),
      "change:map": () => this.#chart.load(this.#model.get("map")),
      comm_live_update: () => this.#gone(),
    };
    for (const [name, act] of Object.entries(this.#listeners)) model.on(name, act);
    this.#chart.load(model.get("map") ?? {});
    this.#render();
  }

  #sizes;
  #unfollow;
  #listeners;

  close() {
    clearTimeout(this.#slow);
    this.#sizes.disconnect();
    this.#unfollow();
    for (const [name, act] of Object.entries(this.#listeners)) this.#model.off(name, act);
  }

  get #view() {
    return this.#model.get("view");
  }

  // ---------------------------------------------------------------- sending
  /** Sends an action, unless another is on its way. */
  #send(act, more = {}) {
    if (this.#pending !== null || this.#view.busy) return;
    this.#pending = newKey();
    this.#problem.textContent = "";
    this.#setBusy();
    clearTimeout(this.#slow);
    this.#slow = setTimeout(() => (this.#problem.textContent = t.slow), SLOW);
    try {
      this.#model.send({ act, key: this.#pending, ...more });
    } catch {
      this.#gone();
    }
  }

  /** Says that Python is not there any more, until it answers: a connection may come back. */
  #gone() {
    clearTimeout(this.#slow);
    this.#pending = newKey();
    this.#problem.textContent = t.connectionGone;
    this.#setBusy();
    try {
      this.#model.send({ act: "look", key: this.#pending });
    } catch {
      // it is gone, as is said
    }
  }

  /** Answers the row that is in sight, and was so before the press. */
  #give(act, label, event) {
    const { question } = this.#view;
    if (!question || question.row !== this.#shownRow) return;
    if (event.detail > 1 && performance.now() - this.#shownAt < DOUBLE_CLICK) return;
    this.#send(act, { row: question.row, label });
  }

  #undo() {
    this.#send("undo", { number: this.#view.number });
  }

  #lookAtMap() {
    if (!this.#mapBox.open) return;
    try {
      this.#model.send({ act: "map", key: newKey() });
    } catch {
      this.#gone();
    }
  }

  // ---------------------------------------------------------------- keys
  #key(event) {
    const { key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input")) return;
    if (event.repeat) return void (event.target.closest("button") && event.preventDefault());
    if (event.target === this.#chart.canvas && (key in ARROWS || key === "Enter")) return;
    if (!this.#act(key.length === 1 ? key.toLowerCase() : key, event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Does what a key stands for; whether it stands for anything. */
  #act(key, event) {
    const { classes, others } = this.#view;
    const digit = event.shiftKey ? null : /^Digit(\d)$/.exec(event.code)?.[1];
    const place = CLASS_KEYS.indexOf(digit ?? key);
    const other = others.find((name) => OTHERS[name][0].toLowerCase() === key);
    if (key === "Backspace") this.#undo();
    else if (other) this.#give(other, undefined, event);
    else if (classes[place]) this.#give("answer", classes[place].key, event);
    else if (key.length === 1 && key !== " ") this.#problem.textContent = wrongKey(key, classes);
    else return false;
    return true;
  }

  // ---------------------------------------------------------------- showing
  #render() {
    const view = this.#view;
    if (!view?.classes) return;
    if (this.#pending !== null && view.taken.includes(this.#pending)) {
      clearTimeout(this.#slow);
      if (!view.busy) this.#pending = null;
    }
    const hadFocus = this.node.contains(this.node.getRootNode().activeElement);
    this.#said.textContent = view.busy ? `${view.said} ${t.learning}`.trim() : view.said;
    this.#problem.textContent = view.problem;
    if (!view.busy) {
      this.#renderQuestion(view);
      this.#renderButtons(view);
      this.#renderProgress(view);
      if (this.#mapBox.open) this.#lookAtMap();
    }
    this.#setBusy();
    if (hadFocus && !this.node.contains(this.node.getRootNode().activeElement)) this.node.focus({ preventScroll: true });
  }

  #renderQuestion({ question, left }) {
    this.#chart.asked = question?.row ?? null;
    this.#chart.draw();
    const isNew = this.#shownRow !== (question?.row ?? null);
    this.#shownRow = question?.row ?? null;
    this.#why.hidden = !question;
    if (!question) {
      this.#row.replaceChildren(el("div.none", { test: "no-question" }, el("h2", left ? t.noRowNow : t.allAnswered),
        el("p", left ? t.othersHaveRows : t.everyRowAnswered),
        button("", { click: () => this.#send("look"), test: "look" }, t.lookForMore)));
      return;
    }
    this.#why.replaceChildren(...whyOf(question));
    const tags = [question.copies > 0 && t.standsFor(question.copies), question.said && t.youSaid(question.said)];
    this.#row.replaceChildren(
      el("h2", t.row(""), el("span", { test: "row-id", dir: "auto" }, question.name), tags.filter(Boolean).map((words) => el("span.tag", words))),
      ...itemOf(question));
    if (!isNew) return;
    this.#shownAt = performance.now();
    this.#spoken.textContent = spoken(question);
  }

  /** The buttons stay the same nodes while the classes do, so that nobody loses their place. */
  #renderButtons({ classes, others }) {
    const now = JSON.stringify([classes.map(({ key }) => key), others]);
    if (now === this.#shownClasses) return;
    this.#shownClasses = now;
    this.#classes.classList.toggle("many", classes.length > MANY);
    this.#classes.replaceChildren(...classes.map(({ key, name }, place) => button(".class", {
      test: "class", "data-label": name, "aria-keyshortcuts": CLASS_KEYS[place], click: (event) => this.#give("answer", key, event),
    }, CLASS_KEYS[place] && keycap(CLASS_KEYS[place].toUpperCase()), el("span", { dir: "auto" }, name))));
    const missing = classes.length < 2 && el("p.muted", t.namesMissing);
    if (missing) this.#classes.append(missing);
    const undo = button(".other", { test: "undo", "aria-keyshortcuts": "Backspace", click: () => this.#undo() },
      keycap(t.backspace), el("span", t.undoShort, el("small", t.lastAnswer)));
    this.#others.replaceChildren(...others.map((name) => {
      const [key, words, meaning] = OTHERS[name];
      return button(".other", { test: name, "aria-keyshortcuts": key, click: (event) => this.#give(name, undefined, event) },
        keycap(key), el("span", words, el("small", meaning)));
    }), undo);
  }

  #addButton() {
    return button(".quiet", { click: () => this.#openAdding(), test: "add-class" }, t.addClassPlus);
  }

  #openAdding() {
    const input = el("input", { maxlength: 200, required: true, autocomplete: "off", test: "class-name" });
    const close = () => {
      this.#more.replaceChildren(this.#addButton());
      this.node.focus({ preventScroll: true });
    };
    const submit = (event) => {
      event.preventDefault();
      this.#send("class", { name: input.value });
      close();
    };
    this.#more.replaceChildren(el("form", { submit, "aria-label": t.addClass, keydown: (event) => {
      event.stopPropagation();
      if (event.key === "Escape") close();
    } }, el("label", el("span", t.yourClass), input), el("button.strong", { type: "submit", test: "class-save" }, t.add),
    button(".quiet", { click: close }, t.cancel)));
    input.focus();
  }

  #renderProgress({ labels, rows, left, advice, classes }) {
    const [word, shape] = ADVICE[advice.state] ?? [advice.state, ADVICE["go on"][1]];
    const most = Math.max(1, ...classes.map((one) => one.rows));
    const fact = (number, words, test) => el("div", el("strong", { test }, n(number)), ` ${words}`);
    const line = ({ name, rows: number }) => {
      const bar = el("span");
      bar.style.width = `${(100 * number) / most}%`;
      return el("li", el("span.name", { dir: "auto", title: name }, name), el("span.bar", { "aria-hidden": "true" }, bar), el("span.number", n(number)));
    };
    this.#progress.replaceChildren(el("h3", t.progress),
      el("div.facts", fact(labels, t.labelsSoFar(labels), "labels"), fact(left, t.rowsLeft, "left")),
      el("p.muted", t.rowsInAll(rows)),
      el("div.advice", { test: "advice", "data-state": advice.state },
        svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: shape })),
        el("div", el("strong", word), el("p", advice.reason))),
      el("h3", t.labelsByClass), labels ? el("ul.balance", classes.map(line)) : el("p.muted", t.noLabels));
  }

  /** While Python is at work nothing can be pressed, and that is seen. */
  #setBusy() {
    const is = this.#pending !== null || Boolean(this.#view?.busy);
    this.node.classList.toggle("busy", is);
    this.node.setAttribute("aria-busy", String(is));
    const isIdle = !this.#view?.question;
    for (const node of [...this.#classes.children, ...this.#others.children]) {
      const off = is || (isIdle && node.dataset.testid !== "undo");
      node.setAttribute("aria-disabled", String(off)); // a disabled button would lose the focus
    }
  }
}

/** What is said of a key that does nothing. */
function wrongKey(key, classes) {
  const keys = classes.map((_, place) => CLASS_KEYS[place]).filter(Boolean).map((one) => one.toUpperCase());
  const [first, ...others] = keys;
  return first ? t.wrongKeyHere(key.toUpperCase(), first, others.at(-1), others.length > 1) : t.namesMissing;
}

export default {
  render({ model, el: box }) {
    const labelling = new Labelling(model);
    box.append(labelling.node);
    return () => labelling.close();
  },
};
