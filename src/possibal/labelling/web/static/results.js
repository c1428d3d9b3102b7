// What was reached, on the check rows: which classes are taken for which, and how surely that is known.

import { get } from "./api.js";
import { ENGLISH, count, decimal, el, openDialog, percent } from "./dom.js";
import { isSeveral } from "./labels.js";
import { t } from "./texts.js";

const share = ({ value, low, high, rows }) => (rows
  ? t.shareOf(percent(value), t.range(percent(low), percent(high)), rows) : t.noRowsYet);

/** For each class how much of it is found, and how often it is named rightly. */
function classTable(classes) {
  const line = ({ label, recall, precision, f1 }) => el("tr", { test: "result-class" },
    el("th", { scope: "row", dir: "auto" }, label), el("td", share(recall)), el("td", share(precision)),
    isSeveral() && el("td.number", f1 === null ? "–" : decimal(f1, 2)));
  return el("div.scroll", { tabindex: 0, role: "region", "aria-label": t.classByClass },
    el("table.list", el("thead", el("tr", el("th", { scope: "col" }, t.classWord),
      el("th", { scope: "col" }, t.recall),
      el("th", { scope: "col" }, t.precision), isSeveral() && el("th", { scope: "col" }, "F1"))),
    el("tbody", classes.map(line))));
}

/** Rows of each class by what they are taken for; the right ones stand on the diagonal. */
function matrix(classes) {
  const most = Math.max(1, ...classes.flatMap(({ counts }) => counts));
  const cell = (number, is) => {
    const node = el(`td.number${is ? ".right" : ""}`, number ? count(number) : "·");
    node.style.setProperty("--share", number / most);
    return node;
  };
  const line = ({ label, counts }, row) => el("tr", el("th", { scope: "row", dir: "auto" }, label),
    counts.map((number, column) => cell(number, row === column)));
  return el("div.scroll", { tabindex: 0, role: "region", "aria-label": t.mixedUp },
    el("table.list.matrix", { test: "matrix" },
      el("caption", t.matrixCaption),
      el("thead", el("tr", el("td"), classes.map(({ label }) => el("th", { scope: "col", dir: "auto" }, label)))),
      el("tbody", classes.map(line))));
}

/** The window with all that the check rows tell. */
export async function openResults(page) {
  const reply = await page.attempt(() => get("results"));
  if (!reply) return;
  const { accuracy, decisions, classes, saving, check } = reply;
  openDialog(t.howWell,
    el("p", { test: "results-accuracy" }, (isSeveral() ? t.resultsWhole : t.resultsRight)(share(accuracy))),
    el("p.muted", t.checkAnswered(check.answered, check.size)),
    decisions && el("p", { test: "results-decisions" }, t.resultsDecisions(share(decisions))),
    classTable(classes), !isSeveral() && [el("h3", t.mixedUp), matrix(classes)],
    saving && el("p.saving", ENGLISH, saving.sentence));
}
