// Starts the page and moves between its views.

import { Refused, connection, get } from "./api.js";
import { LOCKED } from "./banners.js";
import { classesView } from "./classes.js";
import { el } from "./dom.js";
import { confirmView } from "./grid.js";
import { historyView } from "./history.js";
import { listen, showKeys } from "./keys.js";
import { mapView } from "./map.js";
import { Page } from "./page.js";
import { peopleView } from "./people.js";

const POLL = 10_000;
const RETRY = 2_000;
const VIEWS = {
  confirm: ["Confirm", confirmView],
  map: ["Map", mapView],
  history: ["History", historyView],
  people: ["People", peopleView],
};

const byId = (id) => document.getElementById(id);
const pause = (time) => new Promise((done) => setTimeout(done, time));

/** The campaign, asked for until the server answers. */
async function campaignFound() {
  for (;;) {
    try {
      return await get("campaign");
    } catch (error) {
      const words = connection.state === "locked"
        ? LOCKED
        : "The server does not answer. Trying again.";
      byId("view").replaceChildren(el("section.card.welcome",
        { test: connection.state === "locked" ? "locked" : "offline" },
        el("h1", "Not connected"), el("p", error instanceof Refused ? error.message : words)));
      await pause(RETRY);
    }
  }
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
  const node = el("section.card.welcome", { test: "welcome" }, el("h1", "Who is labelling?"),
    el("p", "Your name is kept beside your answers."),
    el("form.inline", { submit }, el("label.field", el("span", "Your name"), input),
      el("datalist", { id: "people" }, known), el("button.main", { test: "name-save" }, "Start")));
  return [node, input];
}

/** Shows the view that the address names. */
async function route(page) {
  const name = location.hash.slice(1);
  const [title, view] = VIEWS[name] ?? ["Label", null];
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
  if (page.classes.length < 2) {
    const setup = classesView(page, () => showLabel(page));
    byId("view").replaceChildren(setup);
    return setup.querySelector("input").focus();
  }
  page.labelNode.prepend(page.statusLine);
  byId("view").replaceChildren(page.labelNode);
  if (!page.started) page.session.ask();
  page.started = true;
}

function showWelcome(page) {
  const [node, input] = welcome(page, (who) => {
    page.sit(who);
    byId("nav").hidden = byId("tools").hidden = false;
    route(page);
  });
  byId("view").replaceChildren(node);
  input.focus();
}

/** Opens the picture of a node, if it has one. */
function zoomFirst(node) {
  node.querySelector("button.picture")?.click();
  return true;
}

function listenAll(page) {
  const inLabel = () => page.labelNode.isConnected;
  listen((meant, event) => {
    if (!page.session) return false;
    if (meant.act === "keys") return showKeys(page.classes), true;
    if (meant.act === "zoom") return inLabel() && zoomFirst(page.labelNode);
    return inLabel() && page.view.press(meant, event);
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
  window.addEventListener("hashchange", () => route(page));
  window.addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  setInterval(() => document.visibilityState === "visible" && page.refresh(), POLL);
  byId("keys-button").addEventListener("click", () => showKeys(page.classes));
  byId("who-button").addEventListener("click", () => showWelcome(page));
}

async function start() {
  const page = new Page(await campaignFound());
  byId("campaign-name").textContent = page.campaign.name;
  listenAll(page);
  if (page.who) {
    page.sit(page.who);
    byId("nav").hidden = byId("tools").hidden = false;
  }
  if (page.outbox.pending().length) await Promise.race([page.outbox.send(), pause(RETRY)]);
  page.refresh();
  await route(page);
}

start();
