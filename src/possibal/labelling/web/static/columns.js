// How the file was understood: what each column was taken for, and what else was done.

import { ENGLISH, el } from "./dom.js";
import { t } from "./texts.js";

const HEADS = [t.column, t.readAs, t.note];

function table(columns) {
  const line = ({ name, kind, note }) => el("tr",
    el("th", { scope: "row", dir: "auto" }, name), el("td", ENGLISH, kind), el("td", { dir: "auto", ...ENGLISH }, note));
  return el("div.scroll", { tabindex: 0, role: "region", "aria-label": t.columns },
    el("table.list.columns-read",
      el("thead", el("tr", HEADS.map((words) => el("th", { scope: "col" }, words)))),
      el("tbody", columns.map(line))));
}

/** A box that opens to say how the file was read; null if there is nothing to say. */
export function columnsBox({ columns, notes }) {
  if (!columns.length && !notes.length) return null;
  const words = columns.length ? t.howColumnsRead : t.howFileRead;
  return el("details.card.read", { test: "columns" }, el("summary", words),
    columns.length > 0 && table(columns),
    notes.length > 0 && el("ul.notes", notes.map((note) => el("li", { dir: "auto", ...ENGLISH }, note))));
}
