// All rows as points: alike ones lie close together; colours and shapes say what the model takes
// them for, or colours how likely that is.

import { get } from "./api.js";
import { tint } from "./classes.js";
import { CloseOffer } from "./close.js";
import { button, count, el, percent, svg } from "./dom.js";
import { thumbnail, words } from "./item.js";
import { isSeveral, membersOf, shown } from "./labels.js";
import { t } from "./texts.js";

const MARGIN = 14;
const REACH = 14;
const LISTED = 10;
const PAUSE = 120;
const TIP = 132;
const AWAY = 16;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Outlines on [-1, 1]^2, one per class. By class there are as many colours as here, and one more, so
// that 56 classes differ in one or the other; by chance further classes are their place's number.
const SHAPES = [
  "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z", "M-.9-.9H.9V.9H-.9Z", "M0-1.1L1.1.9H-1.1Z",
  "M0-1.2L1.2 0L0 1.2L-1.2 0Z", "M0 1.1L1.1-.9H-1.1Z", "M-.4-1H.4V-.4H1V.4H.4V1H-.4V.4H-1V-.4H-.4Z",
  "M-.6-1H.6L1.1 0L.6 1H-.6L-1.1 0Z",
];
const PATHS = SHAPES.map((shape) => new Path2D(shape));
const COLOURS = SHAPES.length + 1;
const MANY = 5_000;
const WIDE = 500;
const FADED = 0.1;
const [BY_CLASS, BY_CHANCE] = ["class", "chance"];

const channels = (colour) => colour.trim().slice(1).match(/../g).map((hex) => parseInt(hex, 16));
const variable = (place) => `--class-${1 + (place % COLOURS)}`;

/** The colours of the page as they are now, light or dark. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  const [from, to] = ["--unsure", "--sure"].map((name) => channels(style.getPropertyValue(name)));
  const between = (share) => from.map((start, i) => Math.round(start + share * (to[i] - start)));
  return {
    ink: style.getPropertyValue("--ink"),
    muted: style.getPropertyValue("--muted"),
    at: (share) => `rgb(${between(share).join(" ")})`,
    of: (place) => style.getPropertyValue(variable(place)),
  };
}

/** The class of a point: its label, else what the model takes it for. */
const classOf = ({ label, predicted }, wanted = null) => {
  const members = membersOf(label ?? predicted);
  return members.includes(wanted) ? wanted : members[0] ?? null;
};

/** Draws a filled shape, outlined where the row has a label. */
function drawShape(pen, place, size, outline) {
  pen.save();
  pen.scale(size, size);
  pen.fill(PATHS[place % SHAPES.length]);
  if (outline) {
    pen.strokeStyle = outline;
    pen.lineWidth = 1 / 3;
    pen.stroke(PATHS[place % SHAPES.length]);
  }
  pen.restore();
}

function drawMark(pen, place, size, colour) {
  if (colour) pen.strokeStyle = pen.fillStyle = colour;
  if (place >= SHAPES.length) return pen.fillText(String(place + 1), 0, 0);
  pen.save();
  pen.scale(size, size);
  pen.lineWidth = (colour ? 2.6 : 2) / size;
  pen.stroke(PATHS[place]);
  pen.restore();
}

/** The mark of a class beside its name, as the map draws it. */
function mark(page, label, place, by) {
  const box = { viewBox: "-1.6 -1.6 3.2 3.2", "aria-hidden": "true", class: "mark" };
  const { colour } = page.about(label);
  if (by === BY_CHANCE && place >= SHAPES.length) return tint(el("b", String(place + 1)), colour);
  const node = svg("svg", box, svg("path", { d: SHAPES[place % SHAPES.length] }));
  node.classList.toggle("filled", by === BY_CLASS);
  return tint(node, colour || (by === BY_CLASS && `var(${variable(place)})`));
}

/** What marks and colours mean; a class that is pressed stands out on the map. */
function legend(page, chart) {
  const chip = (label, place) => {
    const rows = chart.points.filter((point) => classOf(point, label) === label).length;
    const press = () => {
      chart.stress(chart.stressed === label ? null : label);
      for (const node of chips) node.setAttribute("aria-pressed", String(node.dataset.label === chart.stressed));
    };
    return button(".chip", {
      click: press, test: "map-class", "data-label": label, title: page.about(label).description || label,
      "aria-pressed": String(chart.stressed === label),
    }, mark(page, label, place, chart.by), el("span", { dir: "auto" }, label), el("span.number", count(rows)));
  };
  const chips = chart.classes.map(chip);
  const isBlind = page.campaign.blind && !page.access.isOwner;
  const guess = isBlind
    ? t.othersNotShown
    : t.mapSizes;
  const isUnknown = chart.points.some((point) => !classOf(point));
  return el("div.legend", { test: "map-legend" },
    chart.by === BY_CHANCE
      && el("div.ramp", el("span", t.aGuess), el("i", { "aria-hidden": "true" }), el("span", t.veryLikely)),
    el("div.chips", { role: "group", "aria-label": t.oneClassAlone }, chips),
    chart.by === BY_CLASS
      ? el("p.muted", guess, isUnknown && ` ${t.greyDots}`, isSeveral() && ` ${t.mapSeveral}`)
      : el("p.muted", t.marksLabelled));
}

/** The switch between the two ways to colour; `change(by)` when it is used. */
function colourSwitch(by, change) {
  const choice = (value, name) => el("label.tick", el("input", {
    type: "radio", name: "map-colour", value, checked: value === by, test: `map-by-${value}`,
    change: () => change(value),
  }), name);
  return el("fieldset.switch", el("legend", t.colourBy), choice(BY_CLASS, t.byClass),
    choice(BY_CHANCE, t.byChance));
}

/** The drawing: a canvas that knows which point lies under the pointer. */
class Chart {
  constructor(page, by) {
    this.page = page;
    this.by = by;
    this.points = [];
    this.classes = [];
    this.stressed = null;
    this.around = new Set();
    this.canvas = el("canvas", { test: "map-canvas", role: "application", tabindex: 0 });
    this.aim = el("span.aim", { hidden: true });
    this.tip = el("div.tip", { hidden: true, test: "map-tip" });
    this.node = el("div.chart", this.canvas, this.aim, this.tip);
    this.chosen = null;
    this.span = 0;
    this.share = 1;
  }

  /** Takes over what the server says of the rows. */
  load({ points, classes }) {
    this.points = points;
    this.classes = classes;
    const chosen = this.chosen && points.find(({ row }) => row === this.chosen.row);
    this.chosen = chosen ?? null;
    this.canvas.setAttribute("aria-label", t.mapLabel(points.length));
    if (this.canvas.clientWidth) this.draw();
  }

  /** Lets one class stand out, or all be equal. */
  stress(label) {
    this.stressed = label;
    this.draw();
  }

  /** Rings rows by their places. */
  ring(rows) {
    if (!rows.length && !this.around.size) return;
    this.around = new Set(rows);
    this.draw();
  }

  #place({ x, y }) {
    return [MARGIN + x * this.span, MARGIN + (1 - y) * this.span];
  }

  draw() {
    const side = this.canvas.clientWidth;
    this.span = side - 2 * MARGIN;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.canvas.height = side * ratio;
    const pen = this.canvas.getContext("2d");
    const colours = palette();
    pen.scale(ratio, ratio);
    pen.strokeStyle = pen.fillStyle = colours.ink;
    pen.font = "bold 11px system-ui";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    this.share = Math.min(1, Math.max(0.75, this.span / WIDE));
    const size = this.share * (this.points.length > MANY ? 1.6 : 3.6);
    const rank = (point) => 2 * (classOf(point, this.stressed) === this.stressed) + (point.label !== null);
    const labelledLast = [...this.points].sort((a, b) => rank(a) - rank(b));
    for (const point of labelledLast) this.#point(pen, point, size, colours);
    this.#aimAt(this.chosen);
  }

  #point(pen, point, size, colours) {
    const [x, y] = this.#place(point);
    pen.save();
    pen.translate(x, y);
    if (this.stressed !== null && classOf(point, this.stressed) !== this.stressed) pen.globalAlpha = FADED;
    if (this.by === BY_CLASS) this.#byClass(pen, point, size, colours);
    else this.#byChance(pen, point, size, colours);
    if (this.around.has(point.row)) this.#circle(pen, size + 4, colours.ink);
    pen.restore();
  }

  #byClass(pen, point, size, colours) {
    const label = classOf(point, this.stressed);
    const place = this.classes.indexOf(label);
    const isLabelled = point.label !== null;
    pen.fillStyle = place < 0 ? colours.muted : this.page.about(label).colour || colours.of(place);
    const small = place < 0 ? 0.6 * size : size;
    drawShape(pen, Math.max(0, place), isLabelled ? 6 * this.share : small, isLabelled && colours.ink);
  }

  #byChance(pen, point, size, colours) {
    pen.fillStyle = point.label === null && point.chance === null
      ? colours.muted : colours.at(this.#sureness(point));
    pen.beginPath();
    pen.arc(0, 0, size, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = colours.ink;
    if (point.label === null) return;
    const place = Math.max(0, this.classes.indexOf(classOf(point, this.stressed)));
    drawMark(pen, place, 6 * this.share, this.page.about(this.classes[place]).colour);
  }

  /** How far a row's chance is above that of a class drawn at random; of a labelled row all the way. */
  #sureness({ label, chance }) {
    const least = 1 / Math.max(2, this.classes.length);
    return label === null ? Math.max(0, (chance - least) / (1 - least)) : 1;
  }

  #circle(pen, radius, colour) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.4;
    pen.beginPath();
    pen.arc(0, 0, radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  /** Rings a point, or none. */
  choose(point) {
    this.chosen = point;
    this.tip.hidden = true;
    this.#aimAt(point);
  }

  #aimAt(point) {
    this.aim.hidden = point === null;
    this.node.classList.toggle("aimed", point !== null);
    const [x, y] = point ? this.#place(point) : [0, 0];
    this.aim.style.left = `${x}px`;
    this.aim.style.top = `${y}px`;
  }

  /** Shows the picture of the row that is ringed, on the side where there is room. */
  picture(item) {
    if (!item?.image || item.row !== this.chosen?.row) return;
    const [x, y] = this.#place(this.chosen);
    const side = this.canvas.clientWidth;
    this.tip.replaceChildren(thumbnail(item, t.pictureOfRow(item.id)));
    this.tip.style.left = x < side / 2 ? `${x + AWAY}px` : `${x - AWAY - TIP}px`;
    this.tip.style.top = `${Math.min(side - TIP - 2, Math.max(2, y - TIP / 2))}px`;
    this.tip.hidden = false;
  }

  /** The row next to the one that is ringed, in a direction; the middle one to begin with. */
  next([right, down]) {
    const from = this.chosen ?? { x: 0.5, y: 0.5 };
    const cost = (point) => {
      const [dx, dy] = [point.x - from.x, from.y - point.y];
      const [ahead, aside] = [dx * right + dy * down, Math.abs(dx * down) + Math.abs(dy * right)];
      if (this.chosen === null) return Math.hypot(dx, dy);
      return point === this.chosen || ahead <= 0 || aside > ahead ? Infinity : ahead + 2 * aside;
    };
    const costs = this.points.map(cost);
    const least = Math.min(...costs);
    return least < Infinity ? this.points[costs.indexOf(least)] : this.chosen;
  }

  /** The point nearest to the pointer, if it is close. */
  under({ offsetX, offsetY }) {
    let best = null;
    let least = REACH ** 2;
    for (const point of this.points) {
      const [x, y] = this.#place(point);
      const distance = (x - offsetX) ** 2 + (y - offsetY) ** 2;
      if (distance < least) [best, least] = [point, distance];
    }
    return best;
  }
}

const nameOf = ({ id }) => t.row(id);

function about({ label, predicted, chance }) {
  if (label !== null) return t.labelledAs(shown(label));
  return predicted === null ? t.notLabelled : t.notLabelledChance(shown(predicted), percent(chance));
}

const HINT = t.mapHint;

/**
 * The panel that says which row is meant; one that is `pinned` has a button to label it and, once
 * there is one, the `offer` of the rows close to it. `seen` is told what the row is.
 */
function infoBox(page, offer, seen) {
  const known = new Map();
  const box = el("div.info", { test: "map-info" });
  let timer = null;
  const rest = () => box.replaceChildren(el("p.muted", HINT));
  const ask = (row) =>
    button(".main", { click: () => page.label(row), test: "map-ask" }, t.labelThisRow);
  const write = (point, item, pinned) => {
    box.replaceChildren(
      el("p", el("strong", { dir: "auto" }, nameOf(point)), ` ${about(point)}`),
      el("p.muted", { dir: "auto" }, item ? words(item) : ""),
      pinned ? el("div.ends", ask(point.row), offer.node) : "");
    if (item) seen(item);
  };
  const fetchItem = async (point, pinned) => {
    const reply = await page.rowOf(point.row).catch(() => null);
    if (!reply) return;
    known.set(point.row, reply.question.item);
    if (box.dataset.row === String(point.row)) write(point, reply.question.item, pinned);
  };
  const show = (point, pinned) => {
    clearTimeout(timer);
    offer.clear();
    box.dataset.row = point?.row ?? "";
    if (!point) return rest();
    write(point, known.get(point.row), pinned);
    if (!known.has(point.row)) timer = setTimeout(() => fetchItem(point, pinned), PAUSE);
    if (pinned) offer.show(point);
  };
  rest();
  return { box, show };
}

/** Finds a row by its id, or offers those whose ids are most like it. */
function goForm(page) {
  const input = el("input", { required: true, autocomplete: "off", test: "go-row" });
  const near = el("div.nearest", { role: "status", test: "go-near" });
  const link = ({ row, id }) =>
    el("li", button(".link", { click: () => page.label(row), dir: "auto" }, id));
  const submit = async (event) => {
    event.preventDefault();
    const id = input.value.trim();
    const reply = await page.attempt(() => get(`find?id=${encodeURIComponent(id)}`));
    if (!reply) return;
    if (reply.row !== null) return page.label(reply.row);
    near.replaceChildren(el("p", t.noRowCalled(id)),
      el("ul.chips", reply.near.map(link)));
  };
  return el("form.inline", { submit }, el("label.field", el("span", t.goToRow), input),
    el("button", { test: "go-submit" }, t.go), near);
}

/** The rows that the model can tell least; `choose` is told which one somebody is at. */
function unsureList(page, points, choose) {
  const open = points.filter(({ label }) => label === null);
  const known = open.filter(({ chance }) => chance !== null);
  const least = known.sort((a, b) => a.chance - b.chance).slice(0, LISTED);
  const line = (point) => el("li",
    button(".link", {
      click: () => page.label(point.row), focus: () => choose(point),
      pointerenter: () => choose(point), test: "map-row",
    }, nameOf(point)),
    el("span.muted", point.predicted !== null && ` ${shown(point.predicted)}? ${percent(point.chance)}`));
  return [el("h2", t.leastSure),
    least.length ? el("ol.columns", least.map(line)) : el("p.muted", t.everyRowLabelled)];
}

const head = () => [el("h1", t.navMap), el("p.muted", t.alikeClose)];

/** The map with all that is said of it. */
class MapView {
  #page;
  #chart;
  #offer;
  #info;
  #pinned = false;
  #done = [];
  #legend = el("div");
  #unsure = el("div.stack.tight");

  constructor(page) {
    this.#page = page;
    const by = page.storage.read("map-colour") === BY_CHANCE ? BY_CHANCE : BY_CLASS;
    this.#chart = new Chart(page, by);
    this.#offer = new CloseOffer(page, (key) => this.#labelled(key), (rows) => this.#chart.ring(rows));
    this.#info = infoBox(page, this.#offer, (item) => this.#chart.picture(item));
    this.#listen();
    this.node = el("section.card", head(), el("div.map",
      el("div.stack.tight", colourSwitch(by, (now) => this.#colour(now)), this.#chart.node),
      el("div.stack", this.#info.box, this.#legend, goForm(page), this.#unsure)));
    this.node.addEventListener("keydown", (event) => {
      const isTyped = event.target.closest("input:not([type=radio])");
      if (event.key === "Backspace" && !event.repeat && !isTyped && this.#done.length) this.#undo();
    });
  }

  load(reply) {
    this.#chart.load(reply);
    this.#legend.replaceChildren(legend(this.#page, this.#chart));
    this.#unsure.replaceChildren(
      ...unsureList(this.#page, reply.points, (point) => this.#choose(point, false)));
  }

  #colour(by) {
    this.#page.storage.write("map-colour", by);
    this.#chart.by = by;
    this.#chart.draw();
    this.#legend.replaceChildren(legend(this.#page, this.#chart));
  }

  /** Rings a row and says which it is; one that is pinned stays, whatever is pointed at. */
  #choose(point, pinned) {
    if (point === this.#chart.chosen && pinned === this.#pinned) return;
    this.#pinned = pinned && point !== null;
    this.#chart.choose(point);
    this.#info.show(point, this.#pinned);
  }

  #listen() {
    const { canvas } = this.#chart;
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse" && !this.#pinned) this.#choose(this.#chart.under(event), false);
    });
    canvas.addEventListener("click", (event) => this.#choose(this.#chart.under(event), true));
    canvas.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#chart.draw()).observe(canvas);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => {
      if (canvas.isConnected) this.#chart.draw();
      else scheme.removeEventListener("change", redraw);
    };
    scheme.addEventListener("change", redraw);
  }

  #key(event) {
    const { chosen } = this.#chart;
    if (event.key === "Enter" && chosen) return this.#page.label(chosen.row);
    if (event.key === "Escape") return this.#choose(null, false);
    if (event.key !== " " && !(event.key in ARROWS)) return;
    event.preventDefault();
    if (event.key === " ") return chosen && this.#offer.open(chosen);
    this.#choose(this.#chart.next(ARROWS[event.key]), true);
    const now = this.#chart.chosen;
    if (now) this.#page.announce(`${nameOf(now)} ${about(now)}`);
  }

  async #reload() {
    const reply = await get("map").catch(() => null); // what became of the rows is said already
    if (!reply || !this.node.isConnected) return;
    const { chosen } = this.#chart;
    this.load(reply);
    this.#info.show(this.#chart.chosen, this.#pinned && chosen !== null);
  }

  /** Shows the rows that were labelled together, with a way back. */
  #labelled(key) {
    this.#done.push(key);
    const undo = button(".link", { click: () => this.#undo(), test: "map-undo" }, t.undo);
    this.#page.statusLine.append(" ", undo);
    this.#chart.canvas.focus({ preventScroll: true });
    this.#reload();
  }

  async #undo() {
    this.#page.tell(await this.#page.takeBack(this.#done.pop()));
    this.#reload();
  }
}

/** The view of the map. */
export async function mapView(page) {
  const reply = await page.attempt(() => get("map"));
  if (!reply) return el("section.card", head());
  if (!reply.points.length)
    return el("section.card", head(), el("p", t.mapComes));
  const view = new MapView(page);
  view.load(reply);
  return view.node;
}
