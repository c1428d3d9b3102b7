// How far the labelling is, and whether it may stop.

import { connection } from "./api.js";
import { ENGLISH, bar, button, chanceBar, count, el, svg } from "./dom.js";
import { curve } from "./curve.js";
import { duration, perAnswer } from "./pace.js";
import { openResults } from "./results.js";
import { t } from "./texts.js";

const ADVICE = {
  "go on": [t.goOn, "M8 5l12 7-12 7z"],
  "may stop": [t.youMayStop, "M7 5h4v14H7zM13 5h4v14h-4z"],
  stop: [t.stop, "M6 6h12v12H6z"],
};

const MEASURED = 20;

function fact(number, words, testid) {
  const figure = el("strong", { test: testid, "data-value": number }, count(number));
  return el("div.fact", figure, el("span", words));
}

/** The advice as icon, word and reason. */
export function adviceBox({ state, reason, gain }) {
  const [word, shape] = ADVICE[state] ?? [state, ADVICE["go on"][1]];
  const box = { viewBox: "0 0 24 24", "aria-hidden": "true" };
  const icon = svg("svg", box, svg("path", { d: shape }));
  return el("div.advice", { test: "advice", "data-state": state }, icon,
    el("div", el("strong", word), gain && el("p", { test: "gain", ...ENGLISH }, gain), el("p.muted", ENGLISH, reason)));
}

function balance(page, counts) {
  const most = Math.max(1, ...counts.map((entry) => entry.count));
  const line = (entry) => el("li",
    el("span.label", { dir: "auto", title: entry.label }, entry.label),
    bar(entry.count / most, page.about(entry.label).colour), el("span.number", count(entry.count)));
  return el("ul.balance", { test: "balance" }, counts.map(line));
}

/** A button that draws more rows to measure the model by, if there may be more. */
function measureButton(page, check) {
  const more = Math.min(MEASURED, check.more);
  if (!more) return null;
  const words = check.size ? t.measureMore(more) : t.measureWith(more);
  return el("p", button(".small-button", {
    click: () => page.measure(more), test: "measure",
    title: t.measureTitle,
  }, words));
}

function curvePart({ curve: points, check }) {
  if (points.length) return curve(points);
  const words = check.size
    ? t.curveStarts(check.answered, check.size)
    : t.curveCan;
  return el("p.muted", { test: "no-curve" }, words);
}

/** How much of the sought class was found, or how to begin. */
function foundPart({ sought, recall }) {
  const head = el("h3", t.finding(el("span", { dir: "auto" }, sought)));
  if (!recall) {
    return [head, el("p.muted", { test: "found" }, t.findingHow)];
  }
  const { found, fruitless } = recall;
  return [head, el("p.certainty", { test: "found", "data-value": recall.value },
    el("span", el("strong", ENGLISH, recall.sentence)), chanceBar(recall)),
  el("p.muted", { test: "found-rows" }, t.foundSoFar(found, fruitless))];
}

/** What is said of rows that are still on their way. */
function arrivingPart({ arrived, embedded, total, trouble }) {
  const more = total - arrived;
  if (trouble) return el("p.problem", { test: "arriving" }, t.couldNotRead(more, el("span", ENGLISH, trouble)));
  return el("div.arriving", { test: "arriving" },
    el("p.muted", t.beingRead(more)),
    bar(embedded / total));
}

/** What is said while the server is away: figures are those of before. */
function awayPart(page) {
  if (connection.state === "connected") return null;
  const waiting = page.outbox.pending().length;
  return el("p", { test: "as-before" }, t.figuresBefore,
    waiting > 0 && ` ${t.waitCounted(waiting)}`);
}

/** How fast this person answers, and what is left at that pace. */
function pacePart(page, { people, left, to_come: toCome }) {
  const pace = people.find(({ who }) => who === page.who)?.pace ?? null;
  const all = pace !== null && left > 0
    && t.yourPace(perAnswer(pace), left, duration(pace * left));
  return [toCome && stopPart(toCome, pace), all && el("p.muted", { test: "pace" }, all)];
}

/** How many more labels, and how long, until one may stop: a wide guess, and said to be one. */
function stopPart({ low, high }, pace) {
  const most = pace === null || pace * high < 60 ? null : duration(pace * high);
  return el("p.muted", { test: "to-come" }, t.toCome(low, high, most));
}

/** The panel of all figures in `progress`. */
export function progressPanel(page, progress) {
  const { answered, copies, rows, left, unsure, bad, check, saving, fitting } = progress;
  return [
    el("header", el("h2", t.progress),
      fitting && connection.state === "connected" && el("span.tag", { test: "fitting" }, t.learning)),
    awayPart(page),
    el("div.facts",
      fact(answered, t.labelsSoFar(answered), "count-answers"),
      fact(left, t.rowsLeft, "count-left"), unsure > 0 && fact(unsure, t.notSureWord, "count-unsure"),
      bad > 0 && fact(bad, t.droppedWord, "count-bad")),
    el("p.muted", { test: "rows" }, copies > 0
      ? t.rowsWithCopies(answered, rows, copies)
      : t.rowsInAll(rows),
      check.size > 0 && ` ${t.checkRowsOf(check.answered, check.size)}`),
    ...pacePart(page, progress),
    progress.arriving && arrivingPart(progress.arriving),
    ...progress.left_out.map((note) => el("p.problem", { test: "left-out", ...ENGLISH }, note)),
    progress.trouble && el("p.problem", { test: "trouble", ...ENGLISH }, progress.trouble),
    ...(progress.sought ? foundPart(progress) : []),
    adviceBox(progress.advice),
    el("h3", t.labelsByClass),
    progress.balance.length ? balance(page, progress.balance) : el("p.muted", t.noLabels),
    el("h3", t.howWell),
    curvePart(progress),
    check.answered > 0 && el("p", button(".small-button", {
      click: () => openResults(page), test: "results",
    }, t.whichMixed)),
    page.access.isOwner && measureButton(page, check),
    saving && el("p.saving", { test: "saving", ...ENGLISH }, saving.sentence),
  ].filter(Boolean);
}
