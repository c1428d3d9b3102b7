// A row of the file as people read it.

import { pictureUrl } from "./api.js";
import { button, el } from "./dom.js";
import { t } from "./texts.js";
import { openReading, openZoom } from "./zoom.js";

const TINY = 100;
const IMPORTANT = t.goesClosely;
const KEPT_PICTURES = 60;
const pictures = new Map();

/** The picture at this address, loaded before if possible; never one that another card shows. */
function pictureAt(image) {
  const kept = pictures.get(image);
  if (kept && !kept.closest(".card, dialog")) return kept;
  const picture = el("img", { src: pictureUrl(image), alt: "" });
  pictures.set(image, picture);
  if (pictures.size > KEPT_PICTURES) pictures.delete(pictures.keys().next().value);
  return picture;
}

/** Fetches a row's picture ahead of time, so that it shows at once, even without the server. */
export function preload({ image }) {
  if (image && !pictures.has(image)) pictureAt(image);
}

/** A promise kept when the picture is there or is known to be missing. */
function arrived(picture) {
  if (picture.complete) return Promise.resolve();
  return new Promise((done) => {
    for (const name of ["load", "error"]) picture.addEventListener(name, done, { once: true });
  });
}

function pictureOf(item, alt) {
  const picture = pictureAt(item.image);
  picture.alt = alt;
  const frame = button(".picture", {
    click: () => openZoom(item), test: "picture", "aria-keyshortcuts": "Z",
    "aria-label": t.lookCloserPicture(item.id), title: t.lookCloserZ,
  }, picture);
  const ready = arrived(picture).then(() => {
    picture.classList.toggle("tiny", picture.naturalWidth < TINY);
    if (picture.naturalWidth) return;
    pictures.delete(item.image);
    frame.disabled = true;
    frame.replaceChildren(el("span.muted", t.pictureMissing));
  });
  return [frame, ready];
}

/** A small picture of a row, or its name where there is none to be seen. */
export function thumbnail({ image, id }, alt = "") {
  const picture = el("img", { src: pictureUrl(`${image}/thumbnail`), alt, loading: "lazy", decoding: "async" });
  const frame = el("span.thumbnail", { test: "thumbnail" }, picture);
  picture.addEventListener("load", () =>
    picture.classList.toggle("tiny", Math.max(picture.naturalWidth, picture.naturalHeight) < TINY));
  picture.addEventListener("error", () => {
    frame.classList.add("missing");
    frame.replaceChildren(el("small", { dir: "auto" }, id));
  });
  return frame;
}

function shownFields(item) {
  return item.fields.filter(({ value }) => item.text === null || value !== item.text);
}

/** The fields in the order of the file; those that go closely with the labels have a mark. */
function fieldTable(fields) {
  const cell = (value) =>
    value === null || value === "" ? el("td.muted", t.empty) : el("td", { dir: "auto" }, value);
  const mark = () => el("span.important", { title: IMPORTANT, test: "important" },
    el("span.unseen", ` (${IMPORTANT})`));
  const line = ({ name, value, important }) => el("tr", el("th", { scope: "row" },
    el("span", { dir: "auto" }, name), important && mark()), cell(value));
  return el("table.fields", el("tbody", fields.map(line)));
}

/** What the mark of a field means, where one has it. */
const markLegend = (fields) => fields.some(({ important }) => important)
  && el("p.legend-line.muted", { "aria-hidden": "true" }, el("span.important"), ` ${IMPORTANT}`);

/** The node of a row, and a promise kept when all of it can be seen. */
export function showItem(item) {
  const fields = shownFields(item);
  const [frame, ready] = item.image ? pictureOf(item, t.pictureOfRow(item.id)) : [null, null];
  const node = el("div.item",
    frame,
    item.text !== null && el("p.text", { dir: "auto" }, item.text),
    fields.length > 0 && fieldTable(fields), markLegend(fields));
  return { node, ready };
}

/** Opens a row as large as the window: its picture, or else its words. */
export function lookCloser(item) {
  if (item.image) openZoom(item);
  else openReading(item.id, showItem(item).node);
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most).trimEnd()}…` : text;
}

/** Fields with those first that say most where there is little room. */
const bestFirst = (fields) => [...fields].sort((a, b) => Boolean(b.important) - Boolean(a.important));

/** One line about a row. */
export function words(item, most = 140) {
  if (item.text !== null) return shortened(item.text, most);
  const fields = bestFirst(item.fields).map(({ name, value }) => `${name}: ${value ?? t.empty}`);
  return shortened(fields.join(", "), most);
}

/** A small card of a row with a heading. */
export function smallCard(item, heading) {
  return el("li.small", { test: "near" },
    el("strong", heading),
    item.image
      ? button(".look", {
        click: () => openZoom(item), "aria-label": t.lookCloserPicture(item.id),
        title: t.lookCloser,
      }, thumbnail(item))
      : el("span", { dir: "auto" }, words(item, 160)),
    el("span.muted", t.row(item.id)));
}
