// Starts the page and moves between its views.

import { Access, entrance, invitationIn } from "./access.js";
import { Refused, connection, get } from "./api.js";
import { LOCKED } from "./banners.js";
import { classesView } from "./classes.js";
import { button, el, openDialog } from "./dom.js";
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

/** What `ask` returns once the server answers; until then the page says that it does not. */
async function answered(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isLocked = connection.state === "locked";
      const words = isLocked ? LOCKED : "The server does not answer. Trying again.";
      byId("view").replaceChildren(el("section.card.welcome",
        { test: isLocked ? "locked" : "offline" },
        el("h1", "Not connected"), el("p", error instanceof Refused ? error.message : words)));
      await pause(RETRY);
    }
  }
}

/** Waits at the entrance until somebody pastes an invitation that lets them in. */
async function letIn(access, reason) {
  const reload = () => location.reload(); // an invitation may be opened in this very tab
  window.addEventListener("hashchange", reload);
  for (;;) {
    const invitation = await new Promise((joined) => {
      const node = entrance(reason, joined);
      byId("view").replaceChildren(node);
      node.querySelector("input").focus();
    });
    try {
      await access.join(invitation);
      return window.removeEventListener("hashchange", reload);
    } catch (error) {
      reason = error instanceof Refused ? error.message : "The server does not answer. Try again.";
    }
  }
}

/** Who this browser is, once it is in. */
async function accessFound() {
  const access = await answered(() => Access.begin());
  let reason = "";
  const isIn = await answered(() => access.enter().catch((error) => {
    if (!(error instanceof Refused)) throw error;
    reason = error.message;
    return false;
  }));
  if (!isIn) await letIn(access, reason);
  return access;
}

/** Lets the person decide about an invitation that is for somebody else. */
function offerSwitch(access) {
  if (!access.other) return;
  const name = access.other.who;
  const whom = name === null ? "an owner" : name;
  const join = () => access.join(access.other).then(() => location.reload())
    .catch((error) => box.querySelector(".problem").replaceChildren(error.message));
  const box = openDialog(`An invitation for ${whom}`,
    el("p", `This browser is in already, as ${access.who ?? "an owner"}. An invitation is best `,
      "opened in another browser. If you use it here, this browser is in as ", whom,
      " from then on, and needs a new address to go back."),
    el("p.problem", { role: "alert" }),
    button(".main", { click: join, test: "switch" }, `Come in as ${whom}`));
}

/** Ends this browser's session. */
async function signOut(page) {
  if (page.outbox.pending().length) await Promise.race([page.outbox.send(), pause(RETRY)]);
  if (page.outbox.pending().length)
    return page.tell("Answers wait to be sent: sign out when the server is back.");
  await page.access.leave();
  location.reload();
  return null;
}

const signOutButton = (page) =>
  button(".quiet", { click: () => signOut(page), test: "sign-out" }, "Sign out of this browser");

/** Tells somebody who was invited by name who they are. */
function account(page) {
  return el("section.card.welcome", { test: "account" }, el("h1", { dir: "auto" }, page.who),
    el("p", `You were invited by this name, as ${page.access.isOwner ? "an owner" : "an annotator"}; `,
      "it is kept beside your answers."),
    el("p.links", el("a", { href: "#label", click: () => route(page) }, "Go on labelling"), signOutButton(page)));
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
      el("datalist", { id: "people" }, known), el("button.main", { test: "name-save" }, "Start")),
    page.session && el("p", signOutButton(page)));
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
  if (page.classes.length < 2 && !page.access.isOwner) {
    return byId("view").replaceChildren(el("section.card.welcome", { test: "no-classes" },
      el("h1", "Nothing to choose from yet"),
      el("p", "An owner of this campaign has to name its classes first. Come back later.")));
  }
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
  if (page.access.who !== null) return byId("view").replaceChildren(account(page));
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
  const isBlind = page.campaign.blind && !isOwner;
  for (const link of byId("nav").children)
    link.hidden = isBlind && ["#people", "#confirm"].includes(link.hash);
}

async function start() {
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
