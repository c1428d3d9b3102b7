// Who labelled, how far people agree, and where they do not.

import { get } from "./api.js";
import { LabelPicker } from "./classes.js";
import { commentList } from "./comments.js";
import { count, decimal, el } from "./dom.js";
import { shown } from "./labels.js";
import { perAnswer } from "./pace.js";
import { invitationsPart } from "./invitations.js";
import { showItem } from "./item.js";
import { t } from "./texts.js";

const LEVELS = [
  [0.8, t.agreeNearly],
  [0.6, t.agreeWell],
  [0.4, t.agreeFairly],
  [0, t.agreeLittle],
  [-Infinity, t.agreeLess],
];

const AWAY = t.awayShown;

/** Rows that people must have in common before it is said how far they agree. */
const ENOUGH = 10;

/** Agreement as a number and in words, over so many rows. */
function judged(value, rows) {
  if (rows < ENOUGH) return ["–", t.judgedFrom(ENOUGH)];
  if (value === null) return ["–", t.oneClassNamed];
  return [decimal(value, 2), LEVELS.find(([least]) => value >= least)[1]];
}

function table(name, head, lines) {
  const line = (cells) => el("tr", cells.map((cell) => el("td", { dir: "auto" }, cell)));
  return el("div.scroll", { tabindex: 0, role: "region", "aria-label": name }, el("table.list",
    el("thead", el("tr", head.map((words) => el("th", { scope: "col" }, words)))),
    el("tbody", lines.map(line))));
}

function agreementPart({ pairs, alpha, rows }) {
  if (!pairs.length)
    return el("p.muted", t.measuredOnce);
  const line = ({ one, other, rows: shared, kappa }) =>
    [t.pairOf(one, other), ...judged(kappa, shared), count(shared)];
  const overall = t.overall(rows, judged(alpha, rows).join(", "));
  return [
    el("p", t.agreementScale),
    table(t.agreementOfPairs, [t.pair, t.agreement, t.inWords, t.navRows], pairs.map(line)),
    el("p", { test: "alpha" }, overall),
  ];
}

function conflictCard(page, { item, opinions, comments, settled }, done) {
  const settle = async (label) => {
    await page.give("settle", label, { item });
    done();
  };
  const opinion = ({ who, label }) => el("li", el("strong", { dir: "auto" }, who), ": ", shown(label));
  return el("li.card.conflict", { test: "conflict" },
    el("h3", t.rowWord, " ", el("span", { dir: "auto" }, item.id),
      settled !== null && el("span.tag", t.settledAs(shown(settled)))),
    showItem(item).node,
    el("ul.opinions", opinions.map(opinion)), commentList(comments),
    page.access.isOwner && el("p.muted", t.whatIsRight),
    page.access.isOwner && el("div.classes", new LabelPicker(page, settle, false, settled).nodes));
}

/** The view of the people and of the rows on which they differ. */
export async function peopleView(page) {
  const conflicts = el("ul.plain", { test: "conflicts" });
  const load = async () => {
    page.refresh(); // the count of what waits to be settled
    const reply = await page.attempt(() => get("conflicts"));
    const cards = (reply?.rows ?? []).map((conflict) => conflictCard(page, conflict, load));
    const none = el("li.muted", reply ? t.nobodyDisagrees : AWAY);
    conflicts.replaceChildren(...(cards.length ? cards : [none]));
  };
  const [agreement, progress] = await Promise.all([
    page.attempt(() => get("agreement")), page.attempt(() => get("progress")), load(),
  ]);
  const counts = (progress?.people ?? []).map(({ who, answers, pace }) =>
    [who, count(answers), pace === null ? "–" : perAnswer(pace)]);
  return el("div.stack",
    el("section.card", { test: "people" }, el("h1", t.navPeople),
      counts.length
        ? table(t.answersPerPerson, [t.person, t.answers, t.pace], counts)
        : el("p.muted", progress ? t.nobodyAnswered : AWAY)),
    page.access.isOwner && (await invitationsPart(page)),
    el("section.card", { test: "agreement" }, el("h2", t.agreement),
      agreement ? agreementPart(agreement) : el("p.muted", AWAY)),
    el("section.card", el("h2", t.rowsDiffer), conflicts));
}
