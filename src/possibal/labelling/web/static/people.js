// Who labelled, how far people agree, and where they do not.

import { get } from "./api.js";
import { classButtons } from "./classes.js";
import { count, el, plural } from "./dom.js";
import { invitationsPart } from "./invitations.js";
import { showItem } from "./item.js";

const LEVELS = [
  [0.8, "they nearly always agree"],
  [0.6, "they agree well"],
  [0.4, "they agree fairly; talking about what the classes mean may help"],
  [0, "they agree little more than by chance; write down what each class means"],
  [-Infinity, "they agree less than by chance; they may mean different things by the classes"],
];

const meaning = (value) =>
  (value === null ? "too few rows in common" : LEVELS.find(([least]) => value >= least)[1]);
const number = (value) => (value === null ? "–" : value.toFixed(2));

function table(name, head, lines) {
  const line = (cells) => el("tr", cells.map((cell) => el("td", { dir: "auto" }, cell)));
  return el("div.scroll", { tabindex: 0, role: "region", "aria-label": name }, el("table.list",
    el("thead", el("tr", head.map((words) => el("th", { scope: "col" }, words)))),
    el("tbody", lines.map(line))));
}

function agreementPart({ pairs, alpha, rows }) {
  if (!pairs.length)
    return el("p.muted", "It is measured once two people have answered the same rows.");
  const line = ({ one, other, rows: shared, kappa }) =>
    [`${one} and ${other}`, number(kappa), meaning(kappa), count(shared)];
  const overall = `All together, over ${plural(rows, "row")}: ${number(alpha)}, ${meaning(alpha)} `
    + "(Krippendorff's alpha).";
  return [
    el("p", "1 means that they always say the same, 0 that they agree no more than by chance ",
      "(Cohen's kappa)."),
    table("Agreement of pairs", ["Pair", "Agreement", "In words", "Rows"], pairs.map(line)),
    el("p", { test: "alpha" }, overall),
  ];
}

function conflictCard(page, { item, opinions, settled }, done) {
  const settle = async (label) => {
    await page.give("settle", label, { item });
    done();
  };
  const opinion = ({ who, label }) => el("li", el("strong", { dir: "auto" }, who), ": ", label);
  return el("li.card.conflict", { test: "conflict" },
    el("h3", "Row ", el("span", { dir: "auto" }, item.id),
      settled !== null && el("span.tag", `Settled: ${settled}`)),
    showItem(item).node,
    el("ul.opinions", opinions.map(opinion)),
    page.access.isOwner && el("p.muted", "What is right?"),
    page.access.isOwner && el("div.classes", classButtons(page, settle, false)));
}

/** The view of the people and of the rows on which they differ. */
export async function peopleView(page) {
  const conflicts = el("ul.plain", { test: "conflicts" });
  const load = async () => {
    const reply = await page.attempt(() => get("conflicts"));
    const cards = (reply?.rows ?? []).map((conflict) => conflictCard(page, conflict, load));
    conflicts.replaceChildren(...(cards.length ? cards : [el("li.muted", "Nobody disagrees.")]));
  };
  const [agreement, progress] = await Promise.all([
    page.attempt(() => get("agreement")), page.attempt(() => get("progress")), load(),
  ]);
  const counts = (progress?.people ?? []).map(({ who, answers }) => [who, count(answers)]);
  return el("div.stack",
    el("section.card", { test: "people" }, el("h1", "People"),
      counts.length
        ? table("Answers per person", ["Person", "Answers"], counts)
        : el("p.muted", "Nobody has answered yet.")),
    page.access.isOwner && (await invitationsPart(page)),
    el("section.card", { test: "agreement" }, el("h2", "Agreement"),
      agreement && agreementPart(agreement)),
    el("section.card", el("h2", "Rows on which people differ"), conflicts));
}
