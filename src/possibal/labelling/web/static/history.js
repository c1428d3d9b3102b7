// What was answered so far, and changing it.

import { get } from "./api.js";
import { LabelPicker } from "./classes.js";
import { CommentBox } from "./comments.js";
import { button, el, keycap, openDialog, select } from "./dom.js";
import { locale } from "./language.js";
import { shown } from "./labels.js";
import { meaningOf, wrongKey } from "./keys.js";
import { saidOf } from "./session.js";
import { lookCloser, showItem, thumbnail, words } from "./item.js";
import { t } from "./texts.js";

const PAGE = 50;
const TYPING = 250;
const SHORT = 120;
const KINDS = {
  label: t.labelNoun, skip: t.skipped, unsure: t.notSure, bad: t.badItem, edit: t.changed,
  settle: t.settled, import: t.fromFile, comment: t.comment,
};
/** What a row may be besides a class, and the keys for it. */
const OTHERS = { unsure: "U", bad: "B" };
const COLUMNS = [t.rowWord, t.answer, t.person, t.when, t.whatItIs];

function when(at) {
  const time = new Date(typeof at === "number" && at < 1e11 ? 1000 * at : at);
  if (Number.isNaN(time.getTime())) return String(at);
  return time.toLocaleString(locale, { dateStyle: "short", timeStyle: "short" });
}

function answerWords({ kind, label, others, copies, copied, comment }) {
  const name = KINDS[kind] ?? kind;
  if (kind === "comment") return comment ? t.named(name, comment) : t.commentTaken;
  if (copied) return t.asCopy(shown(label) ?? name);
  const words = kind === "label" ? shown(label) : label === null ? name : t.named(name, shown(label));
  const rows = others === copies ? t.andCopies(copies) : t.andOtherRows(others);
  return others ? `${words}, ${rows}` : words;
}

/** A dialog with the row and buttons to answer it anew. */
export async function change(page, row, done) {
  const { question } = await page.rowOf(row);
  const give = async (kind, label) => {
    box.close();
    await page.give(kind, label, question);
    done();
  };
  const { item, mine } = question;
  const said = mine ? `${t.youSaid(saidOf(mine.kind, mine.label))}.` : t.notAnsweredYet;
  const hint = el("p.muted", { role: "status", test: "edit-hint" });
  const comments = new CommentBox(page);
  const picker = new LabelPicker(page, (label) => give("edit", label), true, mine?.label);
  const box = openDialog(t.row(item.id), showItem(item).node, comments.node,
    el("p.muted", said, " ", t.chooseAnswer),
    el("div.classes", picker.nodes),
    el("div.others", Object.entries(OTHERS).map(([kind, key]) => button(".other", {
      click: () => give(kind, null), test: `edit-${kind}`, "aria-keyshortcuts": key,
    }, keycap(key), KINDS[kind]))), hint);
  comments.show(question);
  box.addEventListener("close", () => comments.flush());
  box.addEventListener("keydown", (event) => {
    const meant = meaningOf(event);
    if (!meant) return;
    if (meant.act in OTHERS) give(meant.act, null);
    else if (meant.act === "confirm") picker.confirm(event);
    else if (meant.place in page.classes) picker.press(page.classes[meant.place], event);
    else if (meant.act === "comment") comments.open();
    else if (meant.act === "zoom") lookCloser(item);
    else hint.textContent = wrongKey(meant, page.classes);
    event.preventDefault();
  });
}

/** A dialog with all rows of an answer about several, each with the label that it has now. */
async function showRows(page, entry, done) {
  const { rows, left } = await get(`events/${entry.key}`);
  const open = ({ row }) => {
    box.close();
    page.attempt(() => change(page, row, done));
  };
  const one = ({ item, label }) => el("li", button(".tile", {
    click: () => open(item), test: "event-row", "aria-label": t.openRow(item.id),
  }, item.image ? thumbnail(item) : el("span.card-words", { dir: "auto" }, words(item, SHORT)),
  el("span.caption", el("span.tile-name", { dir: "auto" }, item.id),
    el("span.how", { dir: "auto" }, shown(label) ?? t.noLabel))));
  const kind = rows.some(({ item }) => item.image) ? "" : ".worded";
  const box = openDialog(t.named(answerWords({ ...entry, others: 0 }), t.rows(entry.others + 1)),
    el("p.muted", t.openOne),
    el(`ul.tiles${kind}`, rows.map(one)), left > 0 && el("p.muted", t.andMoreRows(left)));
}

/** The view of all answers. */
export async function historyView(page) {
  const wanted = { who: "", kind: "", label: "", text: "" };
  const body = el("tbody");
  const more = button("", { click: () => load(), test: "history-more" }, t.showMore);
  const empty = el("p.muted", { hidden: true }, t.nothingFits);
  let before = "";
  let request = 0;

  const line = (entry) => el("tr", {
    class: entry.holds ? null : "undone", test: "history-row", "data-key": entry.key,
  },
  el("td", el("div.named", entry.image && thumbnail(entry), entry.row !== null && button(".link", {
    click: () => page.attempt(() => change(page, entry.row, reload)), test: "history-open",
    "aria-label": t.openRow(entry.id),
  }, entry.id))),
  el("td", entry.holds
    ? [answerWords(entry), !entry.counts && el("span.tag", { test: "replaced" }, t.replacedSince)]
    : [el("s", answerWords(entry)), el("span.tag", t.undone)],
  entry.others > 0 && button(".link", {
    click: () => page.attempt(() => showRows(page, entry, reload)), test: "history-rows",
    "aria-label": t.showRowsOf(entry.others + 1),
  }, t.showThem)),
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
      && select(t.person, "filter-who", among(t.everybody, page.people()), choose("who")),
    select(t.kind, "filter-kind", [["", t.allKinds], ...Object.entries(KINDS)], choose("kind")),
    select(t.classWord, "filter-label", among(t.allClasses, page.classes), choose("label")),
    el("label.field", el("span", t.search), search));
  const head = COLUMNS.map((name) => el("th", { scope: "col" }, name));
  await reload();
  return el("section.card", el("h1", t.navHistory), filters,
    el("div.scroll", { tabindex: 0, role: "region", "aria-label": t.answers },
      el("table.list", el("thead", el("tr", head)), body)), empty, more);
}
