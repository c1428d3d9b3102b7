// All rows as points: alike ones lie close together, colours say how certain the model is.

import { get } from "./api.js";
import { tint } from "./classes.js";
import { button, count, el, percent, svg } from "./dom.js";
import { thumbnail, words } from "./item.js";

const MARGIN = 14;
const REACH = 14;
const LISTED = 10;
const PAUSE = 120;
const TIP = 132;
const AWAY = 16;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Outlines on [-1, 1]^2, one per class; further classes are drawn as their place in the list.
const SHAPES = [
  "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z", "M-.9-.9H.9V.9H-.9Z", "M0-1.1L1.1.9H-1.1Z",
  "M0-1.2L1.2 0L0 1.2L-1.2 0Z", "M0 1.1L1.1-.9H-1.1Z", "M-.4-1H.4V-.4H1V.4H.4V1H-.4V.4H-1V-.4H-.4Z",
  "M-.6-1H.6L1.1 0L.6 1H-.6L-1.1 0Z",
];
const PATHS = SHAPES.map((shape) => new Path2D(shape));
const MANY = 5_000;

const channels = (colour) => colour.trim().slice(1).match(/../g).map((hex) => parseInt(hex, 16));

/** The colours of the page as they are now, light or dark. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  const [from, to] = ["--unsure", "--sure"].map((name) => channels(style.getPropertyValue(name)));
  const between = (share) => from.map((start, i) => Math.round(start + share * (to[i] - start)));
  return {
    ink: style.getPropertyValue("--ink"),
    at: (share) => `rgb(${between(share).join(" ")})`,
  };
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

function legend(page, classes) {
  const box = { viewBox: "-1.6 -1.6 3.2 3.2", "aria-hidden": "true", class: "mark" };
  const mark = (place, colour) => tint(place < SHAPES.length
    ? svg("svg", box, svg("path", { d: SHAPES[place] })) : el("b", String(place + 1)), colour);
  const chip = (label, place) => el("li", { title: page.about(label).description || label },
    mark(place, page.about(label).colour), el("span", { dir: "auto" }, label));
  return el("div.legend",
    el("div.ramp", el("span", "unsure"), el("i", { "aria-hidden": "true" }), el("span", "certain")),
    el("ul.chips", classes.map(chip)));
}

/** The drawing: a canvas that knows which point lies under the pointer. */
class Chart {
  constructor(page, { points, classes }) {
    this.page = page;
    this.points = points;
    this.classes = classes;
    this.canvas = el("canvas", {
      test: "map-canvas", role: "application", tabindex: 0,
      "aria-label": `Map of ${count(points.length)} rows. Arrow keys go from row to row, Enter `
        + "labels one.",
    });
    this.aim = el("span.aim", { hidden: true });
    this.tip = el("div.tip", { hidden: true, test: "map-tip" });
    this.node = el("div.chart", this.canvas, this.aim, this.tip);
    this.chosen = null;
    this.span = 0;
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
    const size = this.points.length > MANY ? 1.6 : 3.6;
    const labelledLast = [...this.points].sort((a, b) => (a.label !== null) - (b.label !== null));
    for (const point of labelledLast) this.#point(pen, point, size, colours);
  }

  #point(pen, point, size, colours) {
    const [x, y] = this.#place(point);
    pen.save();
    pen.translate(x, y);
    pen.fillStyle = colours.at(point.necessity);
    pen.beginPath();
    pen.arc(0, 0, size, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = colours.ink;
    if (point.label !== null) {
      const place = Math.max(0, this.classes.indexOf(point.label));
      drawMark(pen, place, 6, this.page.about(point.label).colour);
    }
    pen.restore();
  }

  /** Rings a point, or none. */
  choose(point) {
    this.chosen = point;
    this.aim.hidden = point === null;
    this.node.classList.toggle("aimed", point !== null);
    const [x, y] = point ? this.#place(point) : [0, 0];
    this.aim.style.left = `${x}px`;
    this.aim.style.top = `${y}px`;
    this.tip.hidden = true;
  }

  /** Shows the picture of the row that is ringed, on the side where there is room. */
  picture(item) {
    if (!item?.image || item.row !== this.chosen?.row) return;
    const [x, y] = this.#place(this.chosen);
    const side = this.canvas.clientWidth;
    this.tip.replaceChildren(thumbnail(item, `Picture of row ${item.id}`));
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

const nameOf = ({ id }) => `Row ${id}`;

function about(point) {
  const said = point.label === null ? "not labelled" : `labelled ${point.label}`;
  return `${said}, certainty ${percent(point.necessity)}`;
}

const HINT = "Point at a row to see which it is; click it to label it.";

/**
 * The panel that says which row is meant; `pinned` adds a button to label it, and `seen` is told
 * what the row is.
 */
function infoBox(page, seen) {
  const known = new Map();
  const box = el("div.info", { test: "map-info" });
  let timer = null;
  const rest = () => box.replaceChildren(el("p.muted", HINT));
  const ask = (row) =>
    button(".main", { click: () => page.label(row), test: "map-ask" }, "Label this row");
  const write = (point, item, pinned) => {
    box.replaceChildren(
      el("p", el("strong", { dir: "auto" }, nameOf(point)), ` ${about(point)}`),
      el("p.muted", { dir: "auto" }, item ? words(item) : ""),
      pinned ? ask(point.row) : "");
    seen(item);
  };
  const fetchItem = async (point, pinned) => {
    const reply = await page.rowOf(point.row).catch(() => null);
    if (!reply) return;
    known.set(point.row, reply.question.item);
    if (box.dataset.row === String(point.row)) write(point, reply.question.item, pinned);
  };
  const show = (point, pinned) => {
    clearTimeout(timer);
    box.dataset.row = point?.row ?? "";
    if (!point) return rest();
    write(point, known.get(point.row), pinned);
    if (!known.has(point.row)) timer = setTimeout(() => fetchItem(point, pinned), PAUSE);
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
    near.replaceChildren(el("p", `No row is called “${id}”. The nearest are:`),
      el("ul.chips", reply.near.map(link)));
  };
  return el("form.inline", { submit }, el("label.field", el("span", "Go to the row called"), input),
    el("button", { test: "go-submit" }, "Go"), near);
}

/** The least certain rows; `choose` is told which one somebody is at. */
function unsureList(page, points, choose) {
  const open = points.filter(({ label }) => label === null);
  const least = open.sort((a, b) => a.necessity - b.necessity).slice(0, LISTED);
  const line = (point) => el("li",
    button(".link", {
      click: () => page.label(point.row), focus: () => choose(point, false),
      pointerenter: () => choose(point, false), test: "map-row",
    }, nameOf(point)),
    el("span.muted", ` ${percent(point.necessity)}`));
  return [el("h2", "Rows the model is least certain of"),
    least.length ? el("ol.columns", least.map(line)) : el("p.muted", "Every row has a label.")];
}

/** The view of the map. */
export async function mapView(page) {
  const reply = await page.attempt(() => get("map"));
  const head = [el("h1", "Map"), el("p.muted", "Rows that are alike lie close together.")];
  if (!reply) return el("section.card", head);
  if (!reply.points.length)
    return el("section.card", head, el("p", "The map comes once the model has some labels."));
  const chart = new Chart(page, reply);
  const { box, show } = infoBox(page, (item) => chart.picture(item));
  const choose = (point, pinned) => {
    if (point === chart.chosen && !pinned) return;
    chart.choose(point);
    show(point, pinned);
  };
  chart.canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") choose(chart.under(event), false);
  });
  chart.canvas.addEventListener("click", (event) => {
    const point = chart.under(event);
    // A finger cannot point without tapping, so its first tap only shows the row.
    if (event.pointerType !== "mouse") choose(point, point !== null);
    else if (point) page.label(point.row);
  });
  chart.canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && chart.chosen) return page.label(chart.chosen.row);
    if (!(event.key in ARROWS)) return;
    event.preventDefault();
    choose(chart.next(ARROWS[event.key]), true);
    if (chart.chosen) page.announce(`${nameOf(chart.chosen)} ${about(chart.chosen)}`);
  });
  new ResizeObserver(() => chart.draw()).observe(chart.canvas);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => {
    if (chart.canvas.isConnected) chart.draw();
    else scheme.removeEventListener("change", redraw);
  };
  scheme.addEventListener("change", redraw);
  return el("section.card", head, el("div.map", el("div", chart.node, legend(page, reply.classes)),
    el("div.stack", box, goForm(page), unsureList(page, reply.points, choose))));
}
