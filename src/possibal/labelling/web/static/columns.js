// How the file was understood: what each column was taken for, and what else was done.

import { el } from "./dom.js";

const HEADS = ["Column", "Read as", "Note"];

function table(columns) {
  const line = ({ name, kind, note }) => el("tr",
    el("th", { scope: "row", dir: "auto" }, name), el("td", kind), el("td", { dir: "auto" }, note));
  return el("div.scroll", { tabindex: 0, role: "region", "aria-label": "Columns" },
    el("table.list.columns-read",
      el("thead", el("tr", HEADS.map((words) => el("th", { scope: "col" }, words)))),
      el("tbody", columns.map(line))));
}

/** A box that opens to say how the file was read; null if there is nothing to say. */
export function columnsBox({ columns, notes }) {
  if (!columns.length && !notes.length) return null;
  const words = columns.length ? "How the columns were read" : "How the file was read";
  return el("details.card.read", { test: "columns" }, el("summary", words),
    columns.length > 0 && table(columns),
    notes.length > 0 && el("ul.notes", notes.map((note) => el("li", { dir: "auto" }, note))));
}
