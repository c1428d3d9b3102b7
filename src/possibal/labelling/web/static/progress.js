// How far the labelling is, and whether it may stop.

import { bar, button, count, el, plural, svg } from "./dom.js";
import { curve } from "./curve.js";

const ADVICE = {
  "go on": ["Go on", "M8 5l12 7-12 7z"],
  "may stop": ["You may stop", "M7 5h4v14H7zM13 5h4v14h-4z"],
  stop: ["Stop", "M6 6h12v12H6z"],
};

const MEASURED = 20;

function fact(number, words, testid) {
  const figure = el("strong", { test: testid, "data-value": number }, count(number));
  return el("div.fact", figure, el("span", words));
}

/** The advice as icon, word and reason. */
export function adviceBox({ state, reason }) {
  const [word, shape] = ADVICE[state] ?? [state, ADVICE["go on"][1]];
  const box = { viewBox: "0 0 24 24", "aria-hidden": "true" };
  const icon = svg("svg", box, svg("path", { d: shape }));
  return el("div.advice", { test: "advice", "data-state": state }, icon,
    el("div", el("strong", word), el("p", reason)));
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
  const words = `Measure with ${plural(more, check.size ? "more row" : "row")}`;
  return el("p", button(".small-button", {
    click: () => page.measure(more), test: "measure",
    title: "Rows drawn at random, from which the model never learns; they are asked next",
  }, words));
}

function curvePart({ curve: points, check }) {
  if (points.length) return curve(points);
  const words = check.size
    ? `The learning curve starts with the check rows (${check.answered} of ${check.size} answered).`
    : "How often the model is right can be measured by rows that are drawn at random, "
      + "which it never learns from.";
  return el("p.muted", { test: "no-curve" }, words);
}

/** What is said of rows that are still on their way. */
function arrivingPart({ arrived, embedded, total, trouble }) {
  const more = plural(total - arrived, "more row");
  if (trouble) {
    return el("p.problem", { test: "arriving" },
      `${more} could not be read (${trouble}). They are tried again at the next start.`);
  }
  return el("div.arriving", { test: "arriving" },
    el("p.muted", `${more} ${total - arrived === 1 ? "is" : "are"} being read and will join.`),
    bar(embedded / total));
}

/** The panel of all figures in `progress`. */
export function progressPanel(page, progress) {
  const { answered, copies, rows, left, unsure, bad, check, saving, fitting } = progress;
  return [
    el("header", el("h2", "Progress"),
      fitting && el("span.tag", { test: "fitting" }, "Learning…")),
    el("div.facts",
      fact(answered, answered === 1 ? "label so far" : "labels so far", "count-answers"),
      fact(left, "rows left", "count-left"), unsure > 0 && fact(unsure, "not sure", "count-unsure"),
      bad > 0 && fact(bad, "dropped", "count-bad")),
    el("p.muted", { test: "rows" }, copies > 0
      ? `${count(answered)} of ${plural(rows, "row")}, ${count(copies)} of them ${copies > 1 ? "copies" : "a copy"}.`
      : `${plural(rows, "row")} in all.`,
      check.size > 0 && ` Check rows: ${check.answered} of ${check.size}.`),
    progress.arriving && arrivingPart(progress.arriving),
    ...progress.left_out.map((note) => el("p.problem", { test: "left-out" }, note)),
    progress.trouble && el("p.problem", { test: "trouble" }, progress.trouble),
    adviceBox(progress.advice),
    el("h3", "Labels by class"),
    progress.balance.length ? balance(page, progress.balance) : el("p.muted", "No labels yet."),
    el("h3", "How well the model does"),
    curvePart(progress),
    page.access.isOwner && measureButton(page, check),
    saving && el("p.saving", { test: "saving" }, saving.sentence),
  ].filter(Boolean);
}
