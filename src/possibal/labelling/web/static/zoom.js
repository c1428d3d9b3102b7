// A picture as large as the window: wheel, pinch and keys zoom, dragging and arrows move it.

import { pictureUrl } from "./api.js";
import { button, decimal, el } from "./dom.js";
import { t } from "./texts.js";

const STEP = 1.4;
const SHIFT = 80;
const LEAST_MOST = 8;
const POINT = 8;
const WHEEL = 0.002;
const PINCH = 0.01;
const TINY = 100;
const FIRST_WORDS = 1.5;
const MOST_WORDS = 4;
const MOVES = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** A picture that can be zoomed and moved within a stage; scale 1 shows all of it. */
class Stage {
  #picture;
  #said;
  #scale = 1;
  #x = 0;
  #y = 0;
  #held = new Map();

  constructor(picture, said) {
    this.#picture = picture;
    this.#said = said;
    this.node = el("div.stage", { test: "zoom-stage" }, picture);
    this.node.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.node.addEventListener("pointerdown", (event) => this.#hold(event));
    this.node.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"])
      this.node.addEventListener(name, (event) => this.#release(event));
    this.node.addEventListener("dblclick", (event) => {
      if (this.#scale > 1) this.fit();
      else this.zoom(STEP ** 3, this.#from(event));
    });
  }

  /** Zooms so that what lies at a place, counted from the middle, stays there. */
  zoom(factor, [x, y] = [0, 0]) {
    const scale = Math.min(this.#most(), Math.max(1, this.#scale * factor));
    const change = scale / this.#scale;
    this.#scale = scale;
    this.#put(x - (x - this.#x) * change, y - (y - this.#y) * change);
  }

  shift(x, y) {
    this.#put(this.#x + x, this.#y + y);
  }

  fit() {
    this.#scale = 1;
    this.#put(0, 0);
  }

  /** Each point of a large picture may become some points of the screen. */
  #most() {
    const { naturalWidth, naturalHeight } = this.#picture;
    const { clientWidth, clientHeight } = this.node;
    const whole = Math.max(naturalWidth / clientWidth, naturalHeight / clientHeight);
    return Math.max(LEAST_MOST, POINT * whole);
  }

  #put(x, y) {
    const room = (this.#scale - 1) / 2;
    const within = (value, side) => Math.min(room * side, Math.max(-room * side, value));
    this.#x = within(x, this.node.clientWidth);
    this.#y = within(y, this.node.clientHeight);
    this.#picture.style.transform = `translate(${this.#x}px, ${this.#y}px) scale(${this.#scale})`;
    this.node.classList.toggle("zoomed", this.#scale > 1);
    this.#said.textContent = `${decimal(this.#scale, 1)} ×`;
  }

  #from({ clientX, clientY }) {
    const box = this.node.getBoundingClientRect();
    return [clientX - box.left - box.width / 2, clientY - box.top - box.height / 2];
  }

  #wheel(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? PINCH : WHEEL)), this.#from(event));
  }

  #hold(event) {
    event.preventDefault();
    this.node.setPointerCapture(event.pointerId);
    this.#held.set(event.pointerId, this.#from(event));
    this.node.classList.add("held");
  }

  #release(event) {
    this.#held.delete(event.pointerId);
    this.node.classList.toggle("held", this.#held.size > 0);
  }

  /** One finger or the mouse moves the picture, two fingers also zoom it. */
  #move(event) {
    if (!this.#held.has(event.pointerId)) return;
    const [[x, y], wide] = this.#hands();
    this.#held.set(event.pointerId, this.#from(event));
    const [[newX, newY], newWide] = this.#hands();
    this.shift(newX - x, newY - y);
    if (wide > 0 && newWide > 0) this.zoom(newWide / wide, [newX, newY]);
  }

  /** The middle of the first two pointers that are down, and how far they are apart. */
  #hands() {
    const [one, other = one] = this.#held.values();
    const middle = [(one[0] + other[0]) / 2, (one[1] + other[1]) / 2];
    return [middle, Math.hypot(one[0] - other[0], one[1] - other[1])];
  }
}

/** Acts on a key; whether it means something here. */
function press(stage, box, { key }) {
  if (key in MOVES && stage.shift) stage.shift(...MOVES[key].map((way) => way * SHIFT));
  else if (key === "+" || key === "=") stage.zoom(STEP);
  else if (key === "-" || key === "_") stage.zoom(1 / STEP);
  else if (key === "0") stage.fit();
  else if (key.toLowerCase() === "z") box.close();
  else return false;
  return true;
}

/** Opens a row without a picture in a window of its own, its words as large as one likes. */
export function openReading(id, node) {
  let scale = FIRST_WORDS;
  const said = el("output", { test: "zoom-scale" });
  const page = el("div.reading", { tabindex: 0, role: "region", "aria-label": t.theRow, test: "reading" }, node);
  const size = (wanted) => {
    scale = Math.min(MOST_WORDS, Math.max(1, wanted));
    page.style.fontSize = `${scale}rem`;
    said.textContent = `${decimal(scale, 1)} ×`;
  };
  const stage = { zoom: (factor) => size(scale * factor), fit: () => size(FIRST_WORDS) };
  size(scale);
  return openWindow(id, stage, page, said,
    t.readHint);
}

/** Opens a row's picture in a window of its own; Escape closes it, and focus goes back. */
export function openZoom({ image, id }) {
  const picture = el("img", { src: pictureUrl(image), alt: t.pictureOfRow(id), draggable: "false" });
  const fine = () => picture.classList.toggle("tiny", picture.naturalWidth < TINY);
  picture.addEventListener("load", fine);
  const said = el("output", { test: "zoom-scale" }, `${decimal(1, 1)} ×`);
  const stage = new Stage(picture, said);
  return openWindow(id, stage, stage.node, said,
    t.zoomHint);
}

/** A window as large as the page with what is to be seen closely, and what makes it larger. */
function openWindow(id, stage, node, said, hint) {
  const tool = (words, test, name, click) =>
    button(".quiet", { click, test, "aria-label": name, title: name }, words);
  const close = button(".quiet", { click: () => box.close(), test: "zoom-close" }, t.close);
  const box = el("dialog.zoom", { "aria-labelledby": "zoom-title", test: "zoom" },
    el("header", el("h2", { id: "zoom-title", dir: "auto" }, t.row(id)),
      el("div.zoom-tools",
        tool("−", "zoom-out", t.smaller, () => stage.zoom(1 / STEP)), said,
        tool("+", "zoom-in", t.larger, () => stage.zoom(STEP)),
        tool(...(stage.shift ? [t.fit, "zoom-fit", t.fitWindow] : [t.reset, "zoom-fit", t.asAtFirst]),
          () => stage.fit()), close)),
    node, el("p.muted.hint", hint));
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (!press(stage, box, event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  box.addEventListener("close", () => box.remove()); // the browser gives focus back by itself, sooner
  document.body.append(box);
  box.showModal();
  (stage.shift ? close : node).focus();
  return box;
}
