// A row of the file as people read it.

import { pictureUrl } from "./api.js";
import { button, el } from "./dom.js";
import { openZoom } from "./zoom.js";

const TINY = 100;
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
    "aria-label": `${alt}: look closer`, title: "Look closer (Z)",
  }, picture);
  const ready = arrived(picture).then(() => {
    picture.classList.toggle("tiny", picture.naturalWidth < TINY);
    if (picture.naturalWidth) return;
    pictures.delete(item.image);
    frame.disabled = true;
    frame.replaceChildren(el("span.muted", "The picture of this row could not be loaded."));
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

function fieldTable(fields) {
  const cell = (value) =>
    value === null || value === "" ? el("td.muted", "empty") : el("td", { dir: "auto" }, value);
  const line = ({ name, value }) => el("tr", el("th", { scope: "row" }, name), cell(value));
  return el("table.fields", el("tbody", fields.map(line)));
}

/** The node of a row, and a promise kept when all of it can be seen. */
export function showItem(item) {
  const fields = shownFields(item);
  const [frame, ready] = item.image ? pictureOf(item, `Picture of row ${item.id}`) : [null, null];
  const node = el("div.item",
    frame,
    item.text !== null && el("p.text", { dir: "auto" }, item.text),
    fields.length > 0 && fieldTable(fields));
  return { node, ready };
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most).trimEnd()}…` : text;
}

/** One line about a row. */
export function words(item, most = 140) {
  if (item.text !== null) return shortened(item.text, most);
  const fields = item.fields.map(({ name, value }) => `${name}: ${value ?? "empty"}`);
  return shortened(fields.join(", "), most);
}

/** A small card of a row with a heading. */
export function smallCard(item, heading) {
  return el("li.small", { test: "near" },
    el("strong", heading),
    item.image
      ? button(".look", {
        click: () => openZoom(item), "aria-label": `Picture of row ${item.id}: look closer`,
        title: "Look closer",
      }, thumbnail(item))
      : el("span", { dir: "auto" }, words(item, 160)),
    el("span.muted", `Row ${item.id}`));
}
