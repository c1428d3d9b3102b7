// Starts the page and moves between its views.

import { invitationIn } from "./access.js";
import { get } from "./api.js";
import { classesView } from "./classes.js";
import { button, el, openDialog } from "./dom.js";
import { HOME, RETRY, accessFound, answered, pause } from "./entering.js";
import { confirmView } from "./grid.js";
import { historyView } from "./history.js";
import { listen, showKeys, wrongKey } from "./keys.js";
import { mapView } from "./map.js";
import { Page } from "./page.js";
import { peopleView } from "./people.js";
import { rowsView } from "./rows.js";
import { t } from "./texts.js";
import { fillPage, languageField, say } from "./translation.js";

const POLL = 10_000;
const VIEWS = {
  confirm: [t.navConfirm, confirmView],
  rows: [t.navRows, rowsView],
  map: [t.navMap, mapView],
  history: [t.navHistory, historyView],
  people: [t.navPeople, peopleView],
};

const byId = (id) => document.getElementById(id);

/** Lets the person decide about an invitation that is for somebody else. */
function offerSwitch(access) {
  if (!access.other) return;
  const name = access.other.who;
  const whom = name === null ? t.anOwner : name;
  const join = () => access.join(access.other).then(() => location.reload())
    .catch((error) => say(box.querySelector(".problem"), error.message));
  const box = openDialog(t.invitationFor(whom),
    el("p", t.browserIsIn(access.who ?? t.anOwner, whom)),
    el("p.problem", { role: "alert" }),
    button(".main", { click: join, test: "switch" }, t.comeInAs(whom)));
}

/** Ends this browser's session. */
async function signOut(page) {
  if (page.outbox.pending().length) await Promise.race([page.outbox.send(), pause(RETRY)]);
  if (page.outbox.pending().length)
    return page.tell(t.answersWait);
  await page.access.leave();
  location.reload();
  return null;
}

const signOutButton = (page) =>
  button(".quiet", { click: () => signOut(page), test: "sign-out" }, t.signOut);

/** Tells somebody who was invited by name who they are. */
function account(page) {
  return el("section.card.welcome", { test: "account" }, el("h1", { dir: "auto" }, page.who),
    el("p", page.access.isOwner ? t.invitedOwner : t.invitedAnnotator),
    el("p.links", el("a", { href: "#label", click: () => route(page) }, t.goOnLabelling), signOutButton(page)), languageField());
}

/** Asks for the person's name. */
function welcome(page, done) {
  const input = el("input", {
    test: "name-input", value: page.who, maxlength: 60, required: true,
    autocomplete: "nickname", list: "people",
  });
  const submit = (event) => {
    event.preventDefault();
    if (input.value.trim()) done(input.value.trim());
  };
  const known = page.people().map((value) => el("option", { value }));
  const node = el("section.card.welcome", { test: "welcome" }, el("h1", t.whoLabels),
    el("p", t.nameKept),
    el("form.inline", { submit }, el("label.field", el("span", t.yourName), input),
      el("datalist", { id: "people" }, known), el("button.main", { test: "name-save" }, t.start)),
    page.session && el("p", signOutButton(page)), languageField());
  return [node, input];
}

/** Shows the view that the address names. */
async function route(page) {
  const name = location.hash.slice(1);
  const [title, view] = VIEWS[name] ?? [t.navLabel, null];
  page.place = title;
  if (!page.session) return showWelcome(page);
  document.title = `${title} · ${page.campaign.name}`;
  for (const link of byId("nav").children) {
    if (link.hash === `#${view ? name : "label"}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!view) return showLabel(page);
  page.tell("");
  const node = await view(page);
  if (page.place !== title) return;
  byId("view").replaceChildren(page.statusLine, node);
  byId("view").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function showLabel(page) {
  if (page.classes.length < 2 && !page.access.isOwner) {
    return byId("view").replaceChildren(el("section.card.welcome", { test: "no-classes" },
      el("h1", t.nothingToChoose),
      el("p", t.ownerNamesFirst)));
  }
  if (page.classes.length < 2) {
    const setup = classesView(page, () => showLabel(page));
    byId("view").replaceChildren(setup);
    page.attempt(() => get("progress")).then((progress) => progress && !progress.left
      && setup.querySelector("h1").after(el("p", { test: "all-labelled" },
        t.allLabelled(page.classes[0]))));
    return setup.querySelector("input").focus();
  }
  page.labelNode.prepend(page.statusLine);
  byId("view").replaceChildren(page.labelNode);
  if (!page.started) page.session.ask();
  page.started = true;
}

function showWelcome(page) {
  if (page.access.who !== null) return byId("view").replaceChildren(account(page));
  const [node, input] = welcome(page, (who) => {
    page.sit(who);
    byId("nav").hidden = byId("tools").hidden = false;
    route(page);
  });
  byId("view").replaceChildren(node);
  input.focus();
}

function listenAll(page) {
  const inLabel = () => page.labelNode.isConnected;
  listen((meant, event) => {
    if (!page.session) return false;
    if (meant.act === "keys") return showKeys(page.classes), true;
    if (!inLabel()) return false;
    if (page.view.press(meant, event)) return true;
    page.tell(wrongKey(meant, page.classes));
    return false;
  });
  const wake = () => {
    if (document.visibilityState !== "visible") return;
    page.refresh();
    if (page.outbox.pending().length) page.outbox.send();
  };
  document.querySelector(".skip-link").addEventListener("click", (event) => {
    event.preventDefault();
    byId("view").focus();
  });
  window.addEventListener("hashchange", () =>
    (invitationIn(location.hash) ? location.reload() : route(page)));
  window.addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  setInterval(() => document.visibilityState === "visible" && page.refresh(), POLL);
  byId("keys-button").addEventListener("click", () => showKeys(page.classes));
  byId("download-button").addEventListener("click", () => page.download());
  byId("who-button").addEventListener("click", () => showWelcome(page));
}

/** Shows what is for this person's role. */
function showForRole(page) {
  const { isOwner } = page.access;
  byId("download-button").hidden = !isOwner;
  byId("home-link").hidden = HOME === null || !isOwner;
  const isBlind = page.campaign.blind && !isOwner;
  for (const link of byId("nav").children)
    link.hidden = isBlind && ["#people", "#confirm"].includes(link.hash);
}

async function start() {
  fillPage();
  const access = await accessFound();
  const page = new Page(await answered(() => get("campaign")), access);
  byId("campaign-name").textContent = page.campaign.name;
  showForRole(page);
  listenAll(page);
  if (page.who) {
    page.sit(page.who);
    byId("nav").hidden = byId("tools").hidden = false;
  }
  if (page.outbox.pending().length) await Promise.race([page.outbox.send(), pause(RETRY)]);
  page.refresh();
  await route(page);
  offerSwitch(access);
}

start();
