// What was answered so far, and changing it.

import { get } from "./api.js";
import { classButtons } from "./classes.js";
import { button, el, openDialog, plural, select } from "./dom.js";
import { copiesOf, saidOf } from "./session.js";
import { showItem, thumbnail, words } from "./item.js";

const PAGE = 50;
const TYPING = 250;
const SHORT = 120;
const KINDS = {
  label: "Label", skip: "Skipped", unsure: "Not sure", bad: "Bad item", edit: "Changed",
  settle: "Settled", import: "From a file",
};
const COLUMNS = ["Row", "Answer", "Person", "When", "What it is"];

function when(at) {
  const time = new Date(typeof at === "number" && at < 1e11 ? 1000 * at : at);
  if (Number.isNaN(time.getTime())) return String(at);
  return time.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}

function answerWords({ kind, label, others, copies, copied }) {
  const name = KINDS[kind] ?? kind;
  if (copied) return `${label ?? name}, as a copy`;
  const words = kind === "label" ? label : label === null ? name : `${name}: ${label}`;
  const rows = others === copies ? copiesOf(copies) : plural(others, "other row");
  return others ? `${words}, and ${rows}` : words;
}

/** A dialog with the row and buttons to answer it anew. */
async function change(page, row, done) {
  const { question } = await page.rowOf(row);
  const give = async (kind, label) => {
    box.close();
    await page.give(kind, label, question);
    done();
  };
  const { item, mine } = question;
  const said = mine ? `You said: ${saidOf(mine.kind, mine.label)}.` : "You did not answer it yet.";
  const box = openDialog(`Row ${item.id}`, showItem(item).node,
    el("p.muted", said, " Choose your answer:"),
    el("div.classes", classButtons(page, (label) => give("edit", label), false)),
    el("div.others",
      ["unsure", "bad"].map((kind) =>
        button(".other", { click: () => give(kind, null), test: `edit-${kind}` }, KINDS[kind]))));
}

/** A dialog with all rows of an answer about several, each with the label that it has now. */
async function showRows(page, entry, done) {
  const { rows, left } = await get(`events/${entry.key}`);
  const open = ({ row }) => {
    box.close();
    page.attempt(() => change(page, row, done));
  };
  const one = ({ item, label }) => el("li", button(".tile", {
    click: () => open(item), test: "event-row", "aria-label": `Open row ${item.id}`,
  }, item.image ? thumbnail(item) : el("span.card-words", { dir: "auto" }, words(item, SHORT)),
  el("span.caption", el("span.tile-name", { dir: "auto" }, item.id),
    el("span.how", { dir: "auto" }, label ?? "no label"))));
  const kind = rows.some(({ item }) => item.image) ? "" : ".worded";
  const box = openDialog(`${answerWords({ ...entry, others: 0 })}: ${plural(entry.others + 1, "row")}`,
    el("p.muted", "Open one to change what it is."),
    el(`ul.tiles${kind}`, rows.map(one)), left > 0 && el("p.muted", `And ${plural(left, "more row")}.`));
}

/** The view of all answers. */
export async function historyView(page) {
  const wanted = { who: "", kind: "", label: "", text: "" };
  const body = el("tbody");
  const more = button("", { click: () => load(), test: "history-more" }, "Show more");
  const empty = el("p.muted", { hidden: true }, "Nothing fits.");
  let before = "";
  let request = 0;

  const line = (entry) => el("tr", {
    class: entry.holds ? null : "undone", test: "history-row", "data-key": entry.key,
  },
  el("td", el("div.named", entry.image && thumbnail(entry), entry.row !== null && button(".link", {
    click: () => page.attempt(() => change(page, entry.row, reload)), test: "history-open",
    "aria-label": `Open row ${entry.id}`,
  }, entry.id))),
  el("td", entry.holds
    ? [answerWords(entry), !entry.counts && el("span.tag", { test: "replaced" }, "replaced since")]
    : [el("s", answerWords(entry)), el("span.tag", "undone")],
  entry.others > 0 && button(".link", {
    click: () => page.attempt(() => showRows(page, entry, reload)), test: "history-rows",
    "aria-label": `Show the ${plural(entry.others + 1, "row")} of this answer`,
  }, "Show them")),
  el("td", { dir: "auto" }, entry.who),
  el("td", el("time", when(entry.at))),
  el("td.preview", { dir: "auto" }, entry.preview === entry.id ? null : entry.preview));

  const load = async () => {
    const asked = ++request;
    const query = new URLSearchParams({ ...wanted, before, limit: PAGE });
    for (const [name, value] of [...query]) if (value === "") query.delete(name);
    const reply = await page.attempt(() => get(`history?${query}`));
    if (!reply || asked !== request) return;
    if (before === "") body.replaceChildren();
    body.append(...reply.entries.map(line));
    before = reply.entries.at(-1)?.number ?? before;
    more.hidden = !reply.more;
    empty.hidden = body.children.length > 0;
  };
  const reload = () => {
    before = "";
    return load();
  };
  const choose = (name) => (value) => {
    wanted[name] = value;
    reload();
  };

  let typing = null;
  const search = el("input", {
    type: "search", test: "filter-text",
    input: () => {
      clearTimeout(typing);
      typing = setTimeout(() => choose("text")(search.value), TYPING);
    },
  });
  const among = (all, values) => [["", all], ...values.map((value) => [value, value])];
  const filters = el("div.filters",
    (page.access.isOwner || !page.campaign.blind)
      && select("Person", "filter-who", among("Everybody", page.people()), choose("who")),
    select("Kind", "filter-kind", [["", "All kinds"], ...Object.entries(KINDS)], choose("kind")),
    select("Class", "filter-label", among("All classes", page.classes), choose("label")),
    el("label.field", el("span", "Search"), search));
  const head = COLUMNS.map((name) => el("th", { scope: "col" }, name));
  await reload();
  return el("section.card", el("h1", "History"), filters,
    el("div.scroll", { tabindex: 0, role: "region", "aria-label": "Answers" },
      el("table.list", el("thead", el("tr", head)), body)), empty, more);
}
